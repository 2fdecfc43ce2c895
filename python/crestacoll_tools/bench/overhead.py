# SPDX-License-Identifier: BSD-3-Clause
"""What an interposed call that ends at the MPI costs more than the plain call."""

import json
import math
import os
import re
import shutil
import subprocess
import tempfile

from crestacoll_tools.base.ui import TEXT, Problem
from crestacoll_tools.bench.benchjob import launch_words
from crestacoll_tools.builds.builds import clean_environment

# name, what it is, environment, target in ns (single, multiple)
SCENARIOS = [
    ("idle", "preloaded, nothing configured", {}, (40, 60)),
    (
        "rules",
        "rules for other collectives: this one ends at mpi",
        {"CRESTA_IMPL": "alltoall=nonblock"},
        (40, 60),
    ),
    (
        "sizes",
        "rules for other sizes of this one",
        {"CRESTA_IMPL": "allreduce[1M-inf]=nonblock"},
        (40, 60),
    ),
    (
        "recording",
        "every call counted and timed, no barriers",
        {"CRESTA_PROFILE": None, "CRESTA_PROFILE_WAIT": "0"},
        (60, 60),
    ),
]


def environment(build, variables, folder):
    values = {
        k: os.path.join(folder, "profile.json") if v is None else v for k, v in variables.items()
    }
    return clean_environment(LD_PRELOAD=str(build.preload), **values)


def measure(build, variables, thread, batches=301):
    """One run of crestacoll-overhead: medians of interleaved batches, ns."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *build.words("crestacoll-overhead"),
            "--thread",
            thread,
            "--batches",
            str(batches),
        ]
        done = subprocess.run(
            command,
            env=environment(build, variables, folder),
            capture_output=True,
            **TEXT,
            timeout=120,
            check=False,
        )
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError) as e:
        raise Problem(f"{command[0]} failed:\n{done.stdout}{done.stderr}") from e


def in_job(build, rules, ranks, *words):
    """What one run of crestacoll-overhead on some ranks says."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*launch_words(build, ranks), *build.words("crestacoll-overhead"), *map(str, words)],
            env=environment(build, {"CRESTA_IMPL": rules}, folder),
            capture_output=True,
            **TEXT,
            timeout=600,
            check=False,
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        raise Problem(f"crestacoll-overhead failed:\n{done.stdout}{done.stderr}")
    return {"mpi": build.name, "rules": rules} | json.loads(lines[-1])


# (limit of the ratio of a step, limit of the memory in KiB more)
LIMITS = {"dup": 2.0, "split": 2.0}
LIMIT_KIB = 24


def communicators(build, rules, ranks, turns):
    """What making, using and freeing communicators costs, by the MPI alone and by crestacoll in
    turns.
    """
    found = in_job(build, rules, ranks, "--communicators", turns)
    for step in found["steps"]:
        limit = LIMITS.get(step["step"])
        step["limit"], step["met"] = limit, limit is None or step["ratio"]["median"] <= limit
    kib = found["kib"]
    kib["limit"], kib["met"] = LIMIT_KIB, kib["interposed"] - kib["plain"] <= LIMIT_KIB
    return found


LIMIT_PROFILE = 1.03  # of the ratio


def profile(build, rules, ranks, turns):
    """What a profile costs calls that follow each other, switched on and off in turn."""
    found = in_job(build, rules, ranks, "--profile", turns, "--calls", 10000)
    return found | profile_verdict(found["on_by_off"], 2 * turns, ranks)


def profile_verdict(ratio, pairs, ranks):
    """`margin`: half of the 95 % interval of the median of so many ratios, from their scatter;
    `met`: None if the target lies in that interval.
    """
    if ranks == 1:
        return {"limit": None, "margin": None, "met": True}
    margin = 0.96 * (ratio["p90"] - ratio["p10"]) / math.sqrt(pairs)
    over = ratio["median"] - LIMIT_PROFILE
    met = None if abs(over) < margin else over < 0
    return {"limit": LIMIT_PROFILE, "margin": round(margin, 4), "met": met}


def instructions(build, variables, thread, calls=1000):
    """Instructions of one plain and one interposed call, counted by callgrind; None without
    valgrind.
    """
    if shutil.which("valgrind") is None:
        return None
    counts = {}
    for path in ("plain", "interposed"):
        with tempfile.TemporaryDirectory() as folder:
            result = os.path.join(folder, "callgrind.out")
            command = [
                "valgrind",
                "--tool=callgrind",
                f"--toggle-collect=overhead_{path}",
                f"--callgrind-out-file={result}",
                *build.words("crestacoll-overhead"),
                "--thread",
                thread,
                "--batches",
                "1",
                "--calls",
                str(calls),
            ]
            done = subprocess.run(
                command,
                env=environment(build, variables, folder),
                capture_output=True,
                **TEXT,
                timeout=300,
                check=False,
            )
            counts[path] = total_of(result, done)
    return {path: round(n / calls, 1) for path, n in counts.items()}


def total_of(result, done):
    try:
        with open(result, encoding="utf-8") as f:
            return int(re.search(r"^(?:totals|summary): (\d+)", f.read(), re.MULTILINE)[1])
    except (OSError, TypeError) as e:
        raise Problem(f"callgrind failed:\n{done.stderr[-2000:]}") from e
