# SPDX-License-Identifier: BSD-3-Clause
"""On how many nodes a job is, as the library finds them: the profile of a short one says it."""

import os
import tempfile
from pathlib import Path

from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.bench import benchjob
from crestacoll_tools.launch import launcher
from crestacoll_tools.profile import profiles

LIMIT = 60.0  # seconds, after which the job is ended
PLAN = benchjob.Plan(["barrier"], ["mpi"], [8], 1, samples=1, budget=1.0)


def of_job(build, ranks):
    """{"ranks", "nodes", "ranks_min", "ranks_max"} of a job of so many ranks; {"why"} if this is
    not known, with "failed" if a job that CRESTA_NODES says nothing of did not come to its end.
    """
    with tempfile.TemporaryDirectory(prefix="crestacoll-nodes-") as folder:
        path = Path(folder) / "p.json"
        settings = {"CRESTA_PROFILE": str(path)}
        settings |= {n: os.environ[n] for n in ("CRESTA_NODES",) if n in os.environ}
        words, own = with_settings(build, ranks, settings)
        try:
            benchjob.run_command(build, words, limit=LIMIT, variables=own)
            return found_in(profiles.load(path))
        except Problem as e:
            nobody = {} if "CRESTA_NODES" in settings else {"failed": counted(ranks, "rank")}
            return {"why": str(e.message)} | nobody


def with_settings(build, ranks, settings):
    """(words of the job, what its launcher takes from its own environment)"""
    launch = benchjob.launch_words(build, ranks)
    command = launcher.parse([*launch, *benchjob.program_words(build, PLAN)])
    kind = launcher.kind_of(command.launcher, build.family)
    return launcher.inject(command, kind, settings)


def found_in(data):
    """The communicator of all ranks; with one rank there is none in a profile."""
    if data["ranks"] == 1:
        return {"ranks": 1, "nodes": 1, "ranks_min": 1, "ranks_max": 1}
    found = [c["nodes"] for c in data["communicators"] or [] if c["processes"] == data["ranks"]]
    if not found or found[0] is None:
        return {"why": "the node of a rank is unknown"}
    nodes = dict(found[0])
    return {"ranks": data["ranks"], "nodes": nodes.pop("count")} | nodes


def sentence(job):
    """'8 ranks on 2 nodes, 4 on each', '2 ranks on one node'."""
    if "why" in job:
        return f"not known: {job['why']}"
    ranks, nodes, least, most = (job[n] for n in ("ranks", "nodes", "ranks_min", "ranks_max"))
    each = f"{least}" if least == most else f"{least} to {most}"
    on = "one node" if nodes == 1 else f"{counted(nodes, 'node')}, {each} on each"
    return f"{counted(ranks, 'rank')} on {on}"
