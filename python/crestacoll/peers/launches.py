# SPDX-License-Identifier: BSD-3-Clause
"""Measures every series on every MPI, several times, one job after the other. What a job found is
kept, so that a run that was broken off goes on where it stopped.
"""

import hashlib
import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from crestacoll import benchjob
from crestacoll.builds import Build, clean_environment
from crestacoll.peers.series import Series, seconds
from crestacoll.ui import Problem

LAUNCH = 1.5  # seconds of a job besides measuring
LEAST = 2.0  # seconds that a job gets even if the time is up
FLOOR_SAMPLES = 1000


@dataclass(frozen=True)
class Job:
    launch: int
    series: Series
    build: Build
    folder: Path

    @property
    def path(self):
        return self.folder / f"launch-{self.launch}" / f"{self.series.name}.{self.build.name}.json"

    @property
    def seconds(self):
        return seconds(self.series, self.build.name)

    @property
    def key(self):
        """What a kept result must have been measured with: another build or another plan is
        another measurement. The time that it may take is none of this."""
        plan = vars(self.series.plan(0)) | {"programs": digest(self.build)}
        return json.loads(json.dumps(plan))

    def kept(self):
        try:
            return json.loads(self.path.read_text())["key"] == self.key
        except (OSError, ValueError, KeyError):
            return False


def digest(build):
    made = hashlib.sha256()
    for path in build.program("crestacoll-bench"), build.folder / "lib" / "libcrestacoll.so":
        if path.exists():
            made.update(path.read_bytes())
    return made.hexdigest()


def all_jobs(builds, series, launches, folder):
    """The MPIs take turns within a series, so that a change of the machine meets all of them."""
    return [
        Job(launch, one, build, folder)
        for launch in range(1, launches + 1)
        for one in series
        for build in builds
    ]


def share(job, left, jobs_left):
    """Seconds of the time left for a job: what it takes about, in proportion."""
    total = sum(j.seconds for j in jobs_left)
    return max(left * job.seconds / total - LAUNCH, LEAST)


def run(jobs, time_left, tell):
    """Runs those whose results are not kept, and tells how each went. What fails is left out: the
    next run tries it again.
    """
    end = time.monotonic() + time_left
    to_do = [job for job in jobs if not job.kept()]
    for i, job in enumerate(to_do):
        budget = share(job, end - time.monotonic(), to_do[i:])
        start = time.monotonic()
        try:
            result = benchjob.run(job.build, job.series.plan(budget), limit=2 * budget + 60)
        except Problem as e:
            tell(job, f"FAILED: {e.message}", i + 1, len(to_do))
            continue
        keep(job, result)
        points = f"{len(result.records)} records in {time.monotonic() - start:.1f} s"
        tell(job, points, i + 1, len(to_do))


def keep(job, result):
    """Under another name first: a file that is there is whole."""
    data = {
        "key": job.key,
        "launch": job.launch,
        "mpi": job.build.name,
        "header": result.header,
        "notes": result.notes,
        "records": result.records,
    }
    write(job.path, data)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(data, indent=1))
    unfinished.replace(path)


def results(jobs):
    """What is kept of these jobs."""
    return [json.loads(job.path.read_text()) for job in jobs if job.kept()]


def measure_floor(build, launch, folder):
    """crestacoll-floor, kept likewise."""
    path = folder / f"launch-{launch}" / "floor.json"
    if path.exists():
        return
    program = build.program("crestacoll-floor")
    done = subprocess.run(
        [program, str(FLOOR_SAMPLES)],
        capture_output=True,
        text=True,
        env=clean_environment(),
        check=False,
    )
    if done.returncode:
        raise Problem(f"{program} failed: exit code {done.returncode}")
    write(path, read_floor(done.stdout))


def read_floor(text):
    lines = [json.loads(line) for line in text.splitlines()]
    return [line for line in lines if line["type"] == "record"]


def floors(launches, folder):
    paths = [folder / f"launch-{k}" / "floor.json" for k in range(1, launches + 1)]
    return [json.loads(path.read_text()) for path in paths if path.exists()]
