# SPDX-License-Identifier: BSD-3-Clause
"""MPI-IO under the front library of the wheel."""

import json

import pytest
from wheel_made import ROOT, crestacoll, launcher, mpi  # noqa: F401

pytestmark = pytest.mark.release


def test_run_io(mpi, tmp_path):  # noqa: F811
    """Also from Fortran, whose calls go to the MPI by names that it has not in C."""
    for name in ("io_calls", "fortran_f08_io", "fortran_mpif_io"):
        program = ROOT / "build" / mpi / "tests" / "bin" / name
        words = ["--io", tmp_path / "io.json", "--", launcher(mpi), "-n", "2", program]
        if program.exists():
            done = crestacoll("run", *words, tmp_path / name)
            assert done.returncode == 0, done.stderr
            data = json.loads((tmp_path / "io.json").read_text())
            assert [f["name"] for f in data["files"]] == [str(tmp_path / name)]
            assert [(p["ranks"], p["calls"]) for p in data["other_calls"]] == [(2, 2)] * 4
