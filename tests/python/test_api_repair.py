# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll.repair: where the MPI cannot go on after a failure it says so. How it goes on is
tried in C: test_library_failures.py."""

from api_runs import good, launch

PROGRAM = """
import crestacoll
from mpi4py import MPI

comm = MPI.COMM_WORLD.Dup()
try:
    crestacoll.repair(comm)
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_UNSUPPORTED_OPERATION, error
    print("refused")
comm.Free()
"""


def test_without_ulfm(build, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = good(launch(build, tmp_path, "program.py"))
    assert done.stdout.count("refused") == 2, done.stdout
    assert done.stderr.count("CRESTA_Comm_repair: ") == 1, done.stderr
