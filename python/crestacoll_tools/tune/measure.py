# SPDX-License-Identifier: BSD-3-Clause
"""The jobs of a tuning. crestacoll-bench runs all implementations in one job, in turns, so each
round holds a sample of every one within a short time; it also compares their results with those of
the MPI. The statistics are those of the races inside of programs (racestats).
"""

import time

from crestacoll_tools.bench import benchjob

SHORT_US, LONG_US = 50, 2000  # a sample lasts at least so long: to select, to prove
MOST = 400  # rounds
LAUNCH = 1.0  # seconds that a job takes besides, at first
KILL = 60.0  # seconds after which a job that should have ended does not end by itself


class Jobs:
    """Starts jobs, and learns how much longer they take than they measure."""

    def __init__(self, build, launcher):
        self.build, self.launcher, self.launch_s = build, launcher, LAUNCH
        self.header = None
        self.line_us = {}  # {bytes: [before, after]} of the last job: exchanges of a cache line

    def race(
        self,
        point,
        sizes,
        implementations,
        seconds,
        batch_us,
        tick=lambda: None,
        variables=None,
        data="hot",
    ):
        """{bytes: [{implementation: us}, one for each round]}, and notes about what was left out.
        `seconds` are for all of the job. An implementation with a wrong result does not come
        back; `mpi` is the first. `data`: as crestacoll-bench names buffers. `variables` are for the
        environment of the job.
        """
        plan = benchjob.Plan(
            [point["collective"]],
            implementations,
            sizes,
            point["ranks"],
            samples=MOST,
            budget=max(0.2, seconds - self.launch_s),
            buffers=data,
            options=["--batch-us", str(batch_us), "--rounds", "1"],
        )
        words = benchjob.words(self.build, plan, self.launcher)
        found, took = timed(
            lambda: benchjob.run_command(self.build, words, tick, seconds + KILL, variables)
        )
        self.launch_s = min(max(0.2, took - found.end["seconds"]), seconds / 2)
        self.header = found.header
        self.line_us = {r["bytes"]: r["line_us"] for r in found.records if "line_us" in r}
        wrong = {(r["bytes"], r["implementation"]) for r in found.wrong}
        notes = [f"{n['about']}: {n['text']}" for n in found.notes]
        return {r["bytes"]: rounds_of(r, wrong) for r in found.rounds}, notes


def timed(work):
    """What `work` returns, and the seconds that it took."""
    begin = time.monotonic()
    return work(), time.monotonic() - begin


def rounds_of(line, wrong):
    series = {i: us for i, us in line["us"].items() if (line["bytes"], i) not in wrong}
    return [dict(zip(series, values)) for values in zip(*series.values())]
