# SPDX-License-Identifier: BSD-3-Clause
"""A build and jobs for tests of `crestacoll tune`, with times by a formula."""

import random

from crestacoll_tools.explore.progress import Lines
from crestacoll_tools.tune import rules, search, state as states

LIBRARY = "Some MPI 1.0"


class FakeBuild:
    """Three models, of which one has algorithms."""

    implementations = ["mpi", "nonblock", "p2p"]
    description = {
        "models": [
            {"name": "mpi", "algorithms": {}},
            {"name": "nonblock", "algorithms": {}},
            {"name": "p2p", "algorithms": {"bcast": [{"name": "tree"}, {"name": "chain"}]}},
        ]
    }


class FakeJobs:
    """Times by a formula, with noise; remembers what was asked."""

    launch_s = 0.0
    hosts = staticmethod(lambda ranks: 1)

    def __init__(self, time_of, noise=0.02, rounds=60):
        self.time_of, self.noise, self.rounds = time_of, noise, rounds
        self.asked, self.header, self.random = [], None, random.Random(5)
        self.line_us = {}

    def race(self, point, sizes, arms, seconds, batch_us, tick=lambda: None, data="hot"):
        self.data = data
        self.asked.append((point["collective"], point["ranks"], tuple(sizes), tuple(arms)))
        self.header = {"mpi_library": LIBRARY, "hosts": self.hosts(point["ranks"])}
        return {b: [self.one(point, b, arms) for _ in range(self.rounds)] for b in sizes}, []

    def one(self, point, size, arms):
        scatter = {a: self.random.gauss(1, self.noise) for a in arms}
        return {a: self.time_of(point, size, a) * scatter[a] for a in arms}


def new_state(tmp_path, collectives=("bcast",), ranks=(2,), sizes=(8, 64, 512)):
    options = {"collectives": list(collectives), "ranks": list(ranks), "sizes": list(sizes)}
    return states.new(tmp_path / "t", options | {"mpi": "fake", "launcher": None})


def tune(state, jobs, budget=1000.0):
    search.Search(FakeBuild, state, jobs, budget, Lines()).work()
    return rules.rules(state)
