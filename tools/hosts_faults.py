#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hosts_faults.py - when a job over hosts ends after a fault, with hier and with the plain MPI.

    .venv/bin/python tools/hosts_faults.py [MPI ...]        the table of docs/lab/hosts.md

The hosts are network name spaces of this machine, as for `crestacoll bench --hosts`: it takes root.
Four ranks on two hosts call collectives one after the other. Then a rank of the second host is
killed, or the interface of the second host goes down. A job that has not ended LIMIT seconds later
is told to end, by a SIGTERM to its launcher. What is left are ranks on either host after that.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.bench import benchjob  # noqa: E402
from crestacoll_tools.builds import builds
from crestacoll_tools.launch import nethosts

HOSTS, RANKS, LIMIT, AFTER = 2, 4, 30, 15  # seconds; after SIGTERM
COLLECTIVES, SIZES = ["allreduce", "alltoall", "bcast"], [8, 16384, 262144]
PROGRAM = "crestacoll-bench"
HEAD = "| MPI | fault | collectives of | ended after | exit code | ranks left |"


def ranks_of(hosts, number):
    """The ranks that run on a host."""
    words = ["ip", "netns", "pids", f"{hosts.prefix}{number}"]
    pids = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    return [int(pid) for pid in pids if name_of(pid) == PROGRAM]


def name_of(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def kill_rank(hosts):
    os.kill(ranks_of(hosts, HOSTS - 1)[-1], signal.SIGKILL)


def interface_down(hosts):
    space = f"{hosts.prefix}{HOSTS - 1}"
    words = ["ip", "netns", "exec", space, "ip", "link", "set", nethosts.DEVICE, "down"]
    subprocess.run(words, check=True)


FAULTS = {"a rank is killed": kill_rank, "an interface goes down": interface_down}


def words_of(build, hosts, implementation):
    plan = benchjob.Plan(COLLECTIVES, [implementation], SIZES, RANKS, samples=10**6, budget=600.0)
    return [*hosts.launch_words(build, RANKS), *benchjob.program_words(build, plan)]


def wait_for_ranks(hosts, job):
    """Until all ranks are there, and for some calls of theirs."""
    for _ in range(300):
        if all(len(ranks_of(hosts, i)) == RANKS // HOSTS for i in range(HOSTS)):
            time.sleep(3)
            return
        if job.poll() is not None:
            break
        time.sleep(0.1)
    raise SystemExit(f"the job did not begin: {job.communicate()[0]}")


def end_of(job, seconds):
    try:
        return job.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def left(hosts):
    """Ranks that are there for another second."""
    time.sleep(1)
    return sum(len(ranks_of(hosts, i)) for i in range(HOSTS))


def trial(build, fault, implementation):
    """The words of a line."""
    with nethosts.hosts(HOSTS, "1gbit") as hosts, open(os.devnull, "w") as nowhere:
        job = subprocess.Popen(words_of(build, hosts, implementation), stdout=nowhere,
                               stderr=nowhere, env=builds.clean_environment(),
                               start_new_session=True)
        try:
            wait_for_ranks(hosts, job)
            FAULTS[fault](hosts)
            begun = time.monotonic()
            code = end_of(job, LIMIT)
            took = f"{time.monotonic() - begun:.1f} s"
            if code is None:
                job.terminate()
                code = end_of(job, AFTER)
                took = f"{took}: SIGTERM, then {time.monotonic() - begun - LIMIT:.1f} s"
            return f"{took} | {'still there' if code is None else code} | {left(hosts)}"
        finally:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)


def main(names):
    print(f"{HEAD}\n|---|---|---|---|--:|--:|", flush=True)
    for build in builds.choose_builds(",".join(names) or "all"):
        library = build.description["mpi"]["library"].split(",")[0]
        for fault in FAULTS:
            for implementation in ("mpi", "hier"):
                found = trial(build, fault, implementation)
                print(f"| {library} | {fault} | `{implementation}` | {found} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
