# SPDX-License-Identifier: BSD-3-Clause
"""CRESTA_REPRODUCIBLE: what runs, what is shown, and what cannot be kept."""

import pytest
from library_runs import each_build, good, implementations, messages, profiled, run

pytestmark = each_build
ON = {"CRESTA_REPRODUCIBLE": "1"}


@pytest.mark.parametrize(
    "rule, exact, plain",
    [
        ("", "shm:exact", "mpi"),
        ("allreduce=p2p:ring", "p2p:exact", "p2p:ring"),
        ("allreduce[0-64]=shm,allreduce=nonblock", "shm:exact", "nonblock"),
    ],
)
def test_what_runs_is_in_the_profile(build, tmp_path, rule, exact, plain):
    """Integers run as the rules say."""
    env = {**ON, "CRESTA_IMPL": rule}
    records = profiled(build, tmp_path, "script", "sum=8192", "isum=65536", env=env)
    assert list(implementations(records, "allreduce").values()) == [exact, plain]


def test_it_is_told(build):
    done = good(run(build, "script", "sum=8", env={**ON, "CRESTA_LOG": "info"}))
    assert "shm:exact for 8 bytes (CRESTA_REPRODUCIBLE=1; for others no rule)" in done.stderr


def test_without_shared_memory_messages_run_the_same(build, tmp_path):
    env = {**ON, "CRESTA_SHM_MEMORY": "4K"}
    records = profiled(build, tmp_path, "script", "sum=65536", env=env)
    assert list(implementations(records, "allreduce").values()) == ["shm:exact"]


@pytest.mark.parametrize("step", ["sum=64", "startsum=64"])
def test_memory_of_a_device(build, step):
    """Nothing of ours may touch it: an error, never other bits, whatever CRESTA_FALLBACK says."""
    env = {**ON, "CRESTA_DEVICE_MEMORY": "yes", "CRESTA_FALLBACK": "silent"}
    done = run(build, "script", "isum=64", step, env=env)
    assert done.returncode != 0, done.stderr
    (message,) = messages(done)
    assert "GPU's memory" in message and message.endswith("(CRESTA_REPRODUCIBLE=1)"), message


def test_ranks_that_differ(build):
    done = run(build, "script", "sum=8", ranks=3, rank_env={1: ON})
    assert done.returncode != 0
    (message,) = messages(done)
    assert "must be the same on all ranks, but 1 of 3 differ" in message, message


@pytest.mark.parametrize("policy, code, said", [("warn", 0, 1), ("silent", 0, 0), ("error", 1, 1)])
def test_persistent_sums_are_the_mpis(build, policy, code, said):
    env = {**ON, "CRESTA_FALLBACK": policy}
    done = run(build, "script", "keptsum=64", "keptsum=64", env=env)
    assert (done.returncode != 0) == bool(code), done.stderr
    assert len(messages(done)) == said, done.stderr
    assert said == 0 or "persistent reductions are the MPI's own" in done.stderr
