# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments under the default error handler: the message names the program's call."""

import pytest
from library_runs import each_build, messages, run

pytestmark = each_build


@pytest.mark.parametrize("call, name", [("bcast", "MPI_Bcast"), ("allgather", "MPI_Allgather")])
def test_an_error_names_the_collective_of_the_program(build, call, name):
    """A count below 0, in a call that comes after good ones."""
    good = [f"{call}=8"] * 3
    done = run(build, "script", *good, f"{call}=-1", env={"CRESTA_IMPL": "*=shm"})
    assert done.returncode != 0
    said = [line for line in messages(done) if line.startswith("crestacoll: error in ")]
    assert said and all(f"error in {name} on rank " in line for line in said), done.stderr
    assert "MPI_Comm_call_errhandler" not in done.stderr
