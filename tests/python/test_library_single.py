# SPDX-License-Identifier: BSD-3-Clause
"""shm?copy=single: what happens where the kernel does not read all of another rank's memory.

tests/mpi/reads.c is such a kernel; so is tests/mpi/refuse.h.
"""

import re

import pytest
from library_runs import each_build, good, messages, run
from test_library_shared import LOOK_NOWHERE, SKIPPED

pytestmark = each_build


def memory(build, reads, ranks, impl="shm?copy=single"):
    """Runs `memory` with reads that do not bring all; how many these were."""
    library = build / "lib" / "libreads.so"
    if not library.exists():
        pytest.skip("a build with sanitizers has no such kernel")
    env = {"READS": reads, "LD_PRELOAD": str(library), **LOOK_NOWHERE}
    done = good(run(build, "memory", impl, ranks=ranks, env=env))
    if "runs instead" in done.stderr:
        pytest.skip("this system forbids all such reads")
    return done, sum(int(n) for n in re.findall(r"reads: (\d+) of", done.stderr))


@pytest.mark.parametrize("impl", ["shm?copy=single", "shm:linear?copy=single"])
def test_reads_that_end_early_go_on(build, impl):
    done, partial = memory(build, "partial", 2, impl)
    assert partial > 0 and not messages(done), done.stderr


def test_what_cannot_be_read_is_copied_and_told_once_for_a_communicator(build):
    done, failed = memory(build, "fail=9", ranks=3)
    assert failed > 0, done.stderr
    told = messages(done)
    assert told and all("cannot read the memory of rank" in line for line in told), done.stderr
    assert len(told) <= 3, done.stderr  # the world, and its two halves


def test_messages_that_cannot_be_read_go_through_streams(build):
    done, failed = memory(build, "fail=9", 3, "shm:linear?copy=single")
    told = messages(done)
    assert failed > 0 and 0 < len(told) <= 3, done.stderr  # at most once for a process
    assert all("copied twice from now on" in line for line in told), done.stderr


def begun(build, reads, **env):
    library = build / "lib" / "libreads.so"
    if not library.exists():
        pytest.skip("a build with sanitizers has no such kernel")
    env |= {"READS": reads, "LD_PRELOAD": str(library), **LOOK_NOWHERE}
    return run(build, "async", "shm?copy=single", "0", "memory", ranks=3, env=env)


def test_begins_go_through_streams_where_nobody_can_read(build):
    refused = begun(build, "fail=1", CRESTA_FALLBACK="silent", CRESTA_LOG="info")
    said = "copy=slots runs instead of shm?copy=single: the kernel does not let the ranks read"
    assert said in good(refused).stderr
    assert begun(build, "fail=1", CRESTA_FALLBACK="error").returncode != 0


def test_begins_whose_messages_cannot_be_read_go_on_through_streams(build):
    done = good(begun(build, "fail=40", CRESTA_FALLBACK="silent"))
    told = [line for line in messages(done) if "cannot read the memory of rank" in line]
    assert 0 < len(told) <= 2 * 3, done.stderr  # blocking calls say it, too


@pytest.mark.parametrize("policy", ["warn", "silent", "error"])
@pytest.mark.parametrize("when", ["before", "0"])
def test_a_refusal_for_one_is_one_for_all(build, when, policy):
    env = {"CRESTA_FALLBACK": policy, **LOOK_NOWHERE}
    done = run(build, "limits", "refused", "copy", when, ranks=3, env=env)
    if done.returncode == SKIPPED:
        pytest.skip("this kernel does not refuse that")
    assert (done.returncode != 0) == (policy == "error"), done.stderr
    assert len(messages(done)) == (policy != "silent"), done.stderr
    assert policy == "silent" or "read each other's memory" in done.stderr
    assert policy != "warn" or "shm?copy=slots runs instead" in done.stderr


def test_a_late_refusal_changes_no_result(build):
    done = run(build, "limits", "refused", "copy", "late", ranks=3, env=LOOK_NOWHERE)
    if done.returncode == SKIPPED:
        pytest.skip("this kernel does not refuse that")
    told = messages(good(done))
    assert len(told) == 2 and "slots there from now on" in done.stderr, done.stderr
