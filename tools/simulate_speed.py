#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""simulate_speed.py - how fast crestacoll simulates: messages in a second of a processor, memory.

    .venv/bin/python tools/simulate_speed.py [WORD ...]     the table of docs/lab/simulator.md

With words, only lines that have all of them. A line is one job of crestacoll-simulate; seconds are
those of the processor, of user and system together, not of a clock on the wall.
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.builds import builds  # noqa: E402
from crestacoll_tools.cli.simulate import arms_of  # noqa: E402
from crestacoll_tools.simulate import jobs, machines  # noqa: E402

MACHINE = ROOT / "docs" / "lab" / "simulator-machine.json"
PER_NODE, BYTES, SKEW = 32, 8, jobs.Skew("exponential", 1e-5)
MANY, LARGE = 4096, 1 << 20
WAYS = [("no queues", False, jobs.Skew()), ("queues", True, jobs.Skew()),
        ("queues, skew", True, SKEW)]
RING = "p2p:ring"  # p messages of each of p ranks
HEAD = "| collective | ranks | way | messages | seconds | messages/s | memory |"


def points(build):
    """(collective, ranks, implementation, way)"""
    for way in WAYS:
        yield "alltoall", MANY, "p2p:pairwise", way
    for arm in arms_of(build, "allreduce", "all"):
        for way in WAYS:
            if arm != RING:
                yield "allreduce", LARGE, arm, way


def job_of(machine, collective, ranks, arm, way):
    _, queues, skew = way
    call = jobs.Call(collective, BYTES, arm, ranks)
    return jobs.text(machine, ranks, jobs.nodes_words(ranks, PER_NODE), [call], skew, queues)


def measured(program, job):
    """(its answer, seconds of a processor, bytes of memory at most)"""
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(job.encode())
        process.stdin.close()
        text = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{program} failed: {process.returncode}")
    return jobs.json.loads(text), used.ru_utime + used.ru_stime, used.ru_maxrss << 10


def main(words):
    build = builds.need_builds()[0]
    machine = machines.load(MACHINE)
    print(f"{HEAD}\n|---|--:|---|--:|--:|--:|--:|", flush=True)
    for collective, ranks, arm, way in points(build):
        title = f"{collective} `{arm}` | {ranks} | {way[0]}"
        if not all(word in title for word in words):
            continue
        answer, seconds, memory = measured(build.program("crestacoll-simulate"),
                                           job_of(machine, collective, ranks, arm, way))
        messages = answer["messages"]
        print(f"| {title} | {messages / 1e6:.1f}M | {seconds:.1f} |"
              f" {messages / seconds / 1e6:.2f}M | {memory / (1 << 30):.2f} GiB |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
