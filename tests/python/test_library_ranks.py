# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that differ in what may differ, and ranks that have no library at all."""

import os
import re
import signal
import subprocess
import time

import pytest
from library_runs import AS_ROOT, cached, each_build, family_of, good, messages, run

pytestmark = each_build

PATIENCE = 600  # seconds until a message must have come, to jobs that go behind all others


@pytest.mark.parametrize("impl", ["", "*=shm", "*=os"])
@pytest.mark.parametrize("loud", [0, 1])
def test_the_log_level_may_differ(build, impl, loud):
    rank_env = {loud: {"CRESTA_LOG": "info"}, 1 - loud: {"CRESTA_LOG": "off"}}
    done = run(build, "script", "allreduce=8", env={"CRESTA_IMPL": impl}, rank_env=rank_env)
    good(done)
    if impl and loud == 0:
        assert messages(done), done.stderr


DEVICE = """
int MPIX_Query_cuda_support(void) { return 1; }
int cuInit(unsigned flags) { return (int)flags; }
"""


@pytest.mark.parametrize("on, loaded", [("auto", True), ("auto", False), ("no", True)])
def test_device_memory_is_a_fact_of_all_ranks(build, tmp_path, on, loaded):
    """A GPU's library, made up here, in one rank: no rank touches buffers by itself."""
    source, library = tmp_path / "device.c", tmp_path / "libdevice.so"
    source.write_text(DEVICE)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    env = {"CRESTA_IMPL": "*=shm", "CRESTA_DEVICE_MEMORY": on}
    done = run(build, "script", "allreduce=8", "bcast=100000", env=env,
               rank_env={1: {"LD_PRELOAD": str(library)}} if loaded else None)
    good(done)
    assert ("nonblock runs instead" in done.stderr) == (on == "auto" and loaded), done.stderr


HASTE = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now)
{
    const int rc = (int)syscall(SYS_clock_gettime, clock, now);
    if (rc == 0 && clock == CLOCK_MONOTONIC) {
        now->tv_nsec *= 10;
        now->tv_sec = 10 * now->tv_sec + now->tv_nsec / 1000000000;
        now->tv_nsec %= 1000000000;
    }
    return rc;
}
"""


@pytest.fixture(scope="module")
def haste(tmp_path_factory):
    """A library whose seconds pass ten times as fast: what takes patience is soon there."""
    folder = tmp_path_factory.mktemp("haste")
    (folder / "haste.c").write_text(HASTE)
    library = folder / "libhaste.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, folder / "haste.c"], check=True)
    return library


def launch(build, with_library, haste):
    """The words that start the program preloaded on some of two ranks. They hold the cores while
    they wait: others go before."""
    library = f"{build / 'lib' / 'libcrestacoll-preload.so'}:{haste}"
    words = ["nice", "-n", "19", cached(build, "MPIEXEC_EXECUTABLE")]
    openmpi = family_of(build) == "openmpi"
    words += ["--oversubscribe"] if openmpi else []
    for rank in range(2):
        words += [":"] if rank else []
        words += ["-n", "1"]
        if rank == with_library:
            words += ["-x", f"LD_PRELOAD={library}"] if openmpi else ["-env", "LD_PRELOAD", library]
        words += [build / "tests" / "bin" / "conformance_plain", "mpi", "--sparse", "9999"]
    return [str(word) for word in words]


def text_of(job, told, end):
    """What a job has said once it says something, or ends, or takes too long; ends it."""
    while "crestacoll:" not in told.read_text() and time.monotonic() < end and job.poll() is None:
        time.sleep(0.2)
    job.send_signal(signal.SIGTERM)
    job.wait(PATIENCE)
    return told.read_text()


def test_a_rank_without_the_library_is_told_of(build, tmp_path, haste):
    """The others can only wait; but not without a word."""
    env = {"PATH": "/usr/bin:/bin", "ASAN_OPTIONS": os.environ["ASAN_OPTIONS"], **AS_ROOT}
    jobs = []
    for rank in range(2):
        told = tmp_path / f"stderr-{rank}"
        with told.open("w") as out:
            jobs.append((told, subprocess.Popen(
                launch(build, rank, haste), env=env,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out,
                start_new_session=True)))
    end = time.monotonic() + PATIENCE
    for rank, (told, job) in enumerate(jobs):
        text = text_of(job, told, end)
        with_it, without = re.findall(r"rank (\d) \(process [^)]*\) (with(?:out)? it)", text)
        if with_it[1] == "without it":
            with_it, without = without, with_it
        assert with_it == (str(rank), "with it") and without == (str(1 - rank), "without it"), text
