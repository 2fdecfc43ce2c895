# SPDX-License-Identifier: BSD-3-Clause
"""Measures every series on every MPI, several times, one job after the other. What a job found is
kept, so that a run that was broken off goes on where it stopped.
"""

import hashlib
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path

from crestacoll_tools.base import outputs
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.bench import benchjob
from crestacoll_tools.builds.builds import Build
from crestacoll_tools.peers.mpis import Setting, peer_of
from crestacoll_tools.peers.series import IMPLEMENTATIONS, Series

LAUNCH = 1.5  # seconds of a job besides measuring
LEAST = 2.0  # seconds that a job gets even if the time is up


@dataclass(frozen=True)
class Job:
    """`setting`: of the MPI, which is measured alone; None: its default, and crestacoll on it."""

    launch: int
    series: Series
    build: Build
    folder: Path
    setting: Setting | None = None

    @property
    def mpi(self):
        return self.setting.name if self.setting else self.build.name

    @property
    def path(self):
        name = f"{self.series.name}.{self.mpi}.json"
        return self.folder / f"launch-{self.launch}" / name

    @property
    def seconds(self):
        return self.series.seconds * len(self.implementations) / 2

    @property
    def implementations(self):
        return ["mpi"] if self.setting else IMPLEMENTATIONS

    @property
    def variables(self):
        return dict(self.setting.variables) if self.setting else {}

    def plan(self, budget):
        whole, peer = self.series.plan(budget, self.implementations), peer_of(self.build.name)
        return replace(whole, sizes=[n for n in whole.sizes if peer.measures(whole.ranks, n)])

    @property
    def key(self):
        """What a kept result must have been measured with: another build or another plan is
        another measurement. The time that it may take is none of this."""
        plan = vars(self.plan(0)) | {"programs": digest(self.build)} | self.variables
        return json.loads(json.dumps(plan))

    def kept(self):
        try:
            return json.loads(self.path.read_text(encoding="utf-8"))["key"] == self.key
        except (OSError, ValueError, KeyError):
            return False


def digest(build):
    made = hashlib.sha256()
    for path in build.program("crestacoll-bench"), build.folder / "lib" / "libcrestacoll.so":
        if path.exists():
            made.update(path.read_bytes())
    return made.hexdigest()


def all_jobs(builds, series, launches, folder, settings=()):
    """The MPIs take turns within a series, so that a change of the machine meets all of them. What
    is launched more than once in a round is so at its end again.
    """
    return [
        Job(launch + again * launches, one, build, folder, setting=setting)
        for launch in range(1, launches + 1)
        for again in range(max(s.times for s in series))
        for one in series
        if again < one.times
        for build in builds
        for setting in (None, *(s for s in settings if one.plain and s.peer == build.name))
    ]


def share(job, left, jobs_left):
    """Seconds of the time left for a job: what it takes about, in proportion."""
    total = sum(j.seconds for j in jobs_left)
    return max(left * job.seconds / total - LAUNCH, LEAST)


def run(jobs, time_left, tell, speeds):
    """Runs those whose results are not kept, and tells how each went. What fails is left out: the
    next run tries it again.
    """
    end = time.monotonic() + time_left
    for i, job in enumerate(jobs):
        if job.kept():
            continue
        left = [j for j in jobs[i:] if not j.kept()]
        said = run_one(job, share(job, end - time.monotonic(), left), speeds)
        tell(job, said, i + 1, len(jobs))


def run_one(job, budget, speeds):
    """Keeps what a job finds; in words how it went."""
    start, before = time.monotonic(), speeds.now()
    try:
        more = {"limit": 2 * budget + 60, "variables": job.variables}
        result = benchjob.run(job.build, job.plan(budget), **more)
    except Problem as e:
        return f"FAILED: {e.message}"
    keep(job, result, before if speeds.now() == before else None)
    return f"{counted(len(result.records), 'record')} in {time.monotonic() - start:.1f} s"


def keep(job, result, speed):
    """Under another name first: a file that is there is whole. `speed`: of the machine during all
    of the job; None if it changed.
    """
    data = {
        "key": job.key,
        "speed": speed,
        "launch": job.launch,
        "mpi": job.mpi,
        "header": result.header,
        "notes": result.notes,
        "records": result.records,
    }
    write(job.path, data)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    outputs.write_text(path, json.dumps(data, indent=1))


def results(jobs, speed, speeds):
    """What is kept of these jobs, with the records that were measured at a speed."""
    found = []
    for data in kept(jobs):
        records = [r for r in data["records"] if speed_of(r, data, speeds) == speed]
        if records:
            found.append({**data, "records": records})
    return found


def kept(jobs):
    return [json.loads(job.path.read_text(encoding="utf-8")) for job in jobs if job.kept()]


def missing(jobs, count):
    """Series with fewer launches than asked for, and how many they have on the MPI with fewest."""
    done = {}
    for job in jobs:
        if job.setting is None:
            of = done.setdefault(job.series, {})
            of[job.build.name] = of.get(job.build.name, 0) + job.kept()
    few = {series: min(of.values()) for series, of in done.items()}
    return ", ".join(f"{s.title} {n}" for s, n in few.items() if n < count)


def speed_of(record, data, speeds):
    """None if it changed meanwhile. Records know it better than the job, where ranks could tell."""
    if "line_us" not in record:
        return data["speed"]
    numbers = {speeds.number_of(us) for us in record["line_us"]}
    return numbers.pop() if len(numbers) == 1 else None
