# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a program and a launcher belong to."""

from pathlib import Path

import pytest

from crestacoll import family
from crestacoll.cli import run
from crestacoll.ui import Problem


@pytest.mark.parametrize(
    "soname, expected",
    [
        ("libmpi.so.40", "openmpi"),
        ("libmpich.so.12", "mpich"),
        ("libmpi.so.12", "mpich"),
        ("libmpi_gnu_123.so.12", "mpich"),
        ("libmpi_abi.so.1", "mpich"),
        ("libmpi_mpifh.so.40", None),
        ("libm.so.6", None),
    ],
)
def test_sonames(soname, expected, tmp_path):
    library = tmp_path / "lib"
    library.write_bytes(b"\x7fELF something")
    assert family.family_of_libraries({"libc.so.6": "/x", soname: str(library)}) == expected


def test_intel_is_told_by_its_text(tmp_path):
    library = tmp_path / "libmpi.so.12"
    library.write_bytes(b"\x7fELF .. Intel(R) MPI Library 2021.19 ..")
    assert family.family_of_libraries({"libmpi.so.12": str(library)}) == "intelmpi"


@pytest.mark.parametrize(
    "text, expected",
    [("Intel(R) MPI Library", "intelmpi"), ("\0ompi_mpi_init\0", "openmpi"), ("MPID_", "mpich")],
)
def test_who_has_the_interface_of_the_standard(text, expected, tmp_path):
    library = tmp_path / "libmpi_abi.so.0"
    library.write_bytes(b"\x7fELF" + text.encode())
    assert family.family_of_libraries({"libmpi_abi.so.0": str(library)}) == expected
    assert family.family_of_libraries({"libmpi_abi.so.0": "not found"}) is None


@pytest.mark.parametrize(
    "text, expected",
    [
        ("mpirun (Open MPI) 4.1.4", "openmpi"),
        ("mpirun.openmpi (OpenRTE) 4.1.4", "openmpi"),
        ("HYDRA build details:\n    Version: 4.0.2", "mpich"),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.19", "intelmpi"),
        ("something else", None),
    ],
)
def test_versions_of_launchers(text, expected):
    assert family.family_of_version(text) == expected


def test_programs_of_the_builds(build):
    assert family.family_of_program(str(build.program("crestacoll-bench"))) == build.family
    assert family.family_of_launcher(build.launcher) == build.family


def test_scripts_have_no_family(tmp_path):
    script = tmp_path / "x.py"
    script.write_text("print()\n")
    assert family.family_of_program(str(script)) is None


def test_program_and_launcher_must_agree():
    with pytest.raises(Problem, match="uses MPICH, but mpirun belongs to Open MPI"):
        run.agree({"mpich": "./app"}, "mpirun", "openmpi")
    with pytest.raises(Problem, match="different MPIs"):
        run.agree({"mpich": "./a", "openmpi": "./b"}, "mpirun", "openmpi")
    assert run.agree({"intelmpi": "./app"}, "mpiexec", "mpich") == "intelmpi"
    assert run.agree({}, "mpirun", "openmpi") == "openmpi"
    assert run.agree({"mpich": "./app"}, "srun", None) == "mpich"


def test_an_interpreter_gets_the_mpi_too(build):
    """mpi4py loads libmpi late and for itself alone, where the preload library cannot see it."""
    job = run.Job(["sh", "-c", "true"], build.name)
    ours, mpi = job.preloaded().split(":")
    assert ours == str(build.preload) and family.family_of_libraries({Path(mpi).name: mpi})
