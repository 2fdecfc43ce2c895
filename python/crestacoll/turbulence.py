# SPDX-License-Identifier: BSD-3-Clause
"""One run of the turbulence code, plain or under an implementation, and what it printed."""

import re
import subprocess
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from crestacoll import benchjob, launcher, profile
from crestacoll.builds import clean_environment
from crestacoll.ui import TEXT, Problem

PLAIN = "plain MPI"
PROGRAM, LINKED = "turbulence", "turbulence_cresta"
OVERLAPS = {"overlap": {}, "overlap, progress thread": {"CRESTA_ASYNC": "thread"}}


@dataclass
class Variant:
    """The program under one MPI with one choice; its runs."""

    build: object
    name: str
    spec: str | None  # None: nothing preloaded
    wall_s: list = field(default_factory=list)
    timers: list = field(default_factory=list)  # per run {(collective, communicator): seconds}
    calls: dict = field(default_factory=dict)
    checksums: list = field(default_factory=list)
    failed: list = field(default_factory=list)  # checks of the program that did not hold
    profile: dict | None = None
    broken: str = ""  # why it does not run at all
    overlap: dict | None = None  # the environment of the linked program with --overlap

    def words(self, arguments):
        """The program with its arguments."""
        program = PROGRAM if self.overlap is None else LINKED
        more = [] if self.overlap is None else ["--overlap"]
        return [str(self.build.program(program)), *arguments, *more]


def variants(build, specs=()):
    """Plain MPI, every implementation that works here, whole specs that the user wants to see, and
    the program that transposes one field while it transforms another.
    """
    rules = [(name, f"*={name}") for name in build.implementations] + [(s, s) for s in specs]
    overlaps = OVERLAPS if build.program(LINKED).exists() else {}
    return [
        Variant(build, PLAIN, None),
        *(Variant(build, name, spec) for name, spec in rules),
        *(Variant(build, name, None, overlap=env) for name, env in overlaps.items()),
    ]


def run(variant, program, ranks, first=False):
    """One run; adds what it found to the variant. The first one warms up and is recorded, but not
    timed: recording and its barriers cost.
    """
    profiled = first and variant.spec is not None
    with tempfile.TemporaryDirectory() as folder:
        loaded, recorded = Path(folder) / "loaded", Path(folder) / "profile.json"
        settings = dict(variant.overlap or {})
        if variant.spec is not None:
            settings = {
                "LD_PRELOAD": str(variant.build.preload),
                "CRESTA_IMPL": variant.spec,
                "CRESTA_LOADED": str(loaded),
            }
        if profiled:
            settings["CRESTA_PROFILE"] = str(recorded)
        command = launcher.parse([*benchjob.launch_words(variant.build, ranks), *program])
        words, _ = launcher.inject(
            command, launcher.kind_of(command.launcher, variant.build.family), settings
        )
        text, seconds = output_of(words, variant)
        if variant.spec is not None and not loaded.exists():
            raise Problem(
                f"{variant.build.name}, {variant.name}: the program ended, but crestacoll was not"
                " in it"
            )
        if profiled:
            variant.profile = profile.load(recorded)
    take(variant, parse(text), seconds, timed=not first)


def output_of(words, variant):
    start = time.monotonic()
    try:
        done = subprocess.run(
            words, env=clean_environment(), capture_output=True, **TEXT, timeout=300, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        raise Problem(f"{variant.build.name}, {variant.name}: {e}") from e
    if done.returncode != 0 and "checksum:" not in done.stdout:
        raise Problem(
            f"{variant.build.name}, {variant.name}: exit code {done.returncode}\n"
            f"{(done.stderr or done.stdout).strip()[-2000:]}"
        )
    return done.stdout, time.monotonic() - start


def parse(text):
    """Lines 'checksum: HEX', 'wall: S s', 'time_alltoall_row: S s in N calls', 'check_x:
    ok|FAILED (...)'. An alltoall in two calls has time_begin_row and time_end_row.
    """
    checksum = re.search(r"^\s*checksum:\s*(\S+)", text, re.MULTILINE)
    wall = re.search(r"^\s*wall:\s*([\d.eE+-]+)", text, re.MULTILINE)
    timers = re.findall(
        r"^\s*time_([a-z_]+)_([a-z0-9]+):\s*([\d.eE+-]+) s in (\d+) calls", text, re.MULTILINE
    )
    failed = re.findall(r"^\s*check_(\w+):\s*(?!ok)\S+", text, re.MULTILINE)
    spent, calls = defaultdict(float), {}
    for name, who, seconds, count in timers:
        key = ("alltoall" if name in ("begin", "end") else name, who)
        spent[key] += float(seconds)
        calls[key] = int(count)
    return {
        "checksum": checksum and checksum[1],
        "wall": wall and float(wall[1]),
        "failed": failed,
        "timers": dict(spent),
        "calls": calls,
    }


def take(variant, found, seconds, timed):
    if found["checksum"] is None:
        raise Problem(f"{variant.build.name}, {variant.name}: the program printed no checksum")
    variant.checksums.append(found["checksum"])
    variant.failed += found["failed"]
    variant.calls = found["calls"]
    if timed:
        variant.wall_s.append(found["wall"] or seconds)
        variant.timers.append(found["timers"])
