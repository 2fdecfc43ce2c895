# SPDX-License-Identifier: BSD-3-Clause
"""The cases of `crestacoll demo`: the turbulence code on grids so small that collectives take a
third of a step or more, under several MPIs, on one host and on two.
"""

import contextlib
import datetime
import os
from dataclasses import dataclass

from crestacoll import __version__
from crestacoll_tools.base.text import counted
from crestacoll_tools.bench import benchjob
from crestacoll_tools.builds import builds, machine
from crestacoll_tools.explore import words
from crestacoll_tools.launch import nethosts

SAME = builds.ROOT / "examples" / "turbulence" / "same.py"
RATE = "1gbit"


@dataclass(frozen=True)
class Case:
    """The program in one place. `steps` are so many that a run takes some seconds. `weight` says
    how much of the time it gets.
    """

    name: str
    mpi: str
    ranks: int
    steps: int
    procs: str
    hosts: int = 1
    weight: int = 1

    @property
    def title(self):
        family = builds.FAMILY_NAMES[self.mpi]
        if self.hosts > 1:
            where = f"{counted(self.ranks, 'rank')} on {counted(self.hosts, 'host')} at 1 Gbit/s"
            return f"{family}, {where}, transposes begun early"
        cores = len(os.sched_getaffinity(0))
        few = f" on {cores} core{'s' * (cores > 1)}" if cores < self.ranks else ""
        return f"{family}, {counted(self.ranks, 'rank')}{few}"

    @property
    def program(self):
        """The linked one has begins."""
        return "turbulence" if self.hosts == 1 else "turbulence_cresta"

    def arguments(self):
        sizes = ["--grid", "16", "--steps", str(self.steps), "--procs", self.procs]
        return sizes + (["--overlap"] if self.hosts > 1 else [])

    def build(self):
        return next((b for b in builds.all_builds() if b.name == self.mpi), None)

    def why_not(self):
        """Why it cannot run here; None if nothing is known against it."""
        build = self.build()
        if build is None:
            return f"{builds.FAMILY_NAMES[self.mpi]} is not installed, or nothing is built for it"
        if not build.program(self.program).exists():
            return f"{self.program} is not built: it needs gfortran and FFTW"
        return nethosts.why_not() if self.hosts > 1 else None

    @contextlib.contextmanager
    def launch(self):
        """The words of the command, as long as the context lasts."""
        build = self.build()
        program = [str(build.program(self.program)), *self.arguments()]
        if self.hosts == 1:
            yield [*benchjob.launch_words(build, self.ranks), *program]
            return
        with nethosts.hosts(self.hosts, RATE) as made:
            yield [*made.launch_words(build, self.ranks), *program]

    @contextlib.contextmanager
    def environment(self):
        """That of our own jobs, for all that runs meanwhile. Over hosts a thread moves the data."""
        before = dict(os.environ)
        more = {"CRESTA_ASYNC": "thread"} if self.hosts > 1 else {}
        mine = builds.clean_environment(**more)
        try:
            os.environ.clear()
            os.environ.update(mine)
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


CASES = (
    Case("openmpi", "openmpi", ranks=2, steps=4000, procs="1x2"),
    Case("mpich", "mpich", ranks=2, steps=4000, procs="1x2"),
    Case("hosts", "openmpi", ranks=4, steps=600, procs="2x2", hosts=2),
    Case("crowded", "mpich", ranks=4, steps=100, procs="2x2", weight=2),
)


def about(case, skipped="", problem="", found=None, report=None):
    """What came out of a case, as data."""
    return {
        "name": case.name,
        "title": case.title,
        "mpi": case.mpi,
        "ranks": case.ranks,
        "hosts": case.hosts,
        "program": [case.program, *case.arguments()],
        "skipped": skipped,
        "problem": problem,
        "report": report and str(report),
        "result": found,
    }


def sentence(told):
    """The result of a case in one sentence."""
    if told["skipped"]:
        return f"Not run: {told['skipped']}."
    if told["problem"]:
        return f"Failed: {told['problem'].splitlines()[0]}"
    return words.headline(told["result"])


def ended_well(told):
    """Gain or not: it ran, and its answers stayed the same where they were compared."""
    found = told["result"]
    if told["skipped"]:
        return True
    return found is not None and found["complete"] and not found["rejected"]


def inside(told):
    """The part of a run that collectives take; None if that is not known, as for begun ones."""
    time = told["result"] and told["result"]["time"]
    return 1 - time["outside"] if time and told["hosts"] == 1 else None


def is_shared(cases):
    """Did other programs run meanwhile?"""
    return any(t["result"] and machine.is_shared(t["result"]["others"]) for t in cases)


def document(cases, seconds):
    return {
        "schema": "crestacoll-demo-2",
        "crestacoll": __version__,
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "seconds": round(seconds, 1),
        "shared": is_shared(cases),
        "ended_well": all(map(ended_well, cases)),
        "cases": cases,
    }
