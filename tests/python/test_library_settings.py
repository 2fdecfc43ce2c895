# SPDX-License-Identifier: BSD-3-Clause
"""What must be the same on all ranks, and the message for a rank that differs."""

import pytest
from library_runs import each_build, good, messages, run

pytestmark = [each_build, pytest.mark.by_turns]


@pytest.mark.parametrize("ranks, other", [(2, 1), (4, 2)])
def test_right_everywhere_but_different(build, ranks, other):
    done = run(
        build,
        "script",
        "allreduce=8",
        ranks=ranks,
        env={"CRESTA_IMPL": "*=mpi"},
        rank_env={other: {"CRESTA_IMPL": "*=nonblock"}},
    )
    assert done.returncode != 0
    assert len(messages(done)) == 1, done.stderr
    assert f"rank {other}" in done.stderr, done.stderr


@pytest.mark.parametrize(
    "name, value, here, there",
    [
        ("IMPL", "*=nonblock", "*=nonblock", ""),
        ("FALLBACK", "silent", "silent", "warn"),
        ("PROFILE_WAIT", "5", "5", "1"),
        ("SHM_MEMORY", "1M", "1048576", "134217728"),
        ("ASYNC", "off", "off", "auto"),
        ("PROTECTED_BUFFER", "1", "1", "0"),
        ("OS_WINDOW", "dynamic", "dynamic:1048576", "static:1048576 (not set)"),
        ("CAF_BUFFER", "static:1K", "static:1024", "static:16777216 (not set)"),
        ("DEBUG", "check,delay=3", "check+delay=3", ""),
    ],
)
def test_only_what_differs_is_shown(build, name, value, here, there):
    done = run(build, "script", "allreduce=8", rank_env={1: {f"CRESTA_{name}": value}})
    assert done.returncode != 0
    assert f"    rank 1: CRESTA_{name}={here}\n" in done.stderr, done.stderr
    assert f"    rank 0: CRESTA_{name}={there}\n" in done.stderr, done.stderr
    assert "1 of 2 differ" in done.stderr and len(messages(done)) == 1, done.stderr


def test_only_set_on_one_rank(build):
    done = run(build, "script", "allreduce=8", rank_env={1: {"CRESTA_IMPL": "*=nonblock"}})
    assert done.returncode != 0
    assert len(messages(done)) == 1 and "rank 1" in done.stderr, done.stderr


def test_the_log_may_differ(build):
    done = good(
        run(
            build,
            "script",
            "allreduce=8",
            env={"CRESTA_IMPL": "*=nonblock"},
            rank_env={1: {"CRESTA_LOG": "info"}},
        )
    )
    assert "checks passed" in done.stdout
