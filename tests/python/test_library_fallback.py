# SPDX-License-Identifier: BSD-3-Clause
"""The ladder: what happens when an implementation cannot do a collective here."""

import pytest
from library_runs import each_build, library_of, messages, run

pytestmark = each_build


@pytest.mark.parametrize("policy, code, said", [("warn", 0, 1), ("silent", 0, 0), ("error", 1, 1)])
def test_an_algorithm_that_wants_another_number_of_ranks(build, policy, code, said):
    """Swing wants a power of two: the preset of p2p runs."""
    env = {"CRESTA_IMPL": "allreduce=p2p:swing", "CRESTA_FALLBACK": policy}
    done = run(build, "script", "allreduce=8", "allreduce=8", ranks=3, env=env)
    assert (done.returncode != 0) == bool(code), done.stderr
    assert len(messages(done)) == said, done.stderr
    assert said == 0 or ": needs a power of two of processes" in done.stderr
    assert policy != "warn" or "p2p runs instead" in done.stderr


@pytest.mark.parametrize("model", ["p2p", "shm"])
@pytest.mark.parametrize(
    "policy, after",
    [
        ("warn", "; recursive_doubling runs instead"),
        ("silent", ""),
        ("error", " (CRESTA_FALLBACK=error)"),
    ],
)
def test_an_algorithm_that_wants_another_operation(build, model, policy, after):
    """A ring takes operands in another order: seen at the call, told once, with its cause."""
    env = {"CRESTA_IMPL": f"allreduce={model}:ring", "CRESTA_FALLBACK": policy}
    done = run(build, "script", "allreduce=8", "ordered=8", "ordered=8", env=env)
    assert (done.returncode != 0) == (policy == "error"), done.stderr
    where, what = "allreduce on communicator 'MPI_COMM_WORLD'", "needs a commutative operation"
    told = [f"crestacoll: {where}: {model}:ring: {what}{after}"] if after else []
    assert messages(done) == told, done.stderr


@pytest.mark.parametrize("policy, code, said", [("warn", 0, 1), ("silent", 0, 0), ("error", 1, 1)])
def test_fallback(build, policy, code, said):
    """MPICH 4.0's persistent allgather is wrong (docs/mpi-defects.md), so that nonblock runs."""
    if "MPICH Version: 4.0" not in " ".join(library_of(build).split()):
        pytest.skip("this MPI's persistent allgather is right")
    env = {"CRESTA_IMPL": "*=persist", "CRESTA_FALLBACK": policy}
    done = run(build, "script", "allgather=8", "allgather=8", env=env)
    assert (done.returncode != 0) == bool(code), done.stderr
    assert len(messages(done)) == said, done.stderr
    assert said == 0 or "MPI_Allgather_init" in done.stderr


@pytest.mark.parametrize("rule", ["allreduce=shm", "allreduce=shm?copy=slots"])
def test_shared_memory_reduces_derived_types_itself(build, rule):
    env = {"CRESTA_IMPL": rule, "CRESTA_FALLBACK": "error"}
    done = run(build, "script", "allreduce=8", "derived=8", "derived=100000", env=env)
    assert done.returncode == 0 and messages(done) == [], done.stderr
