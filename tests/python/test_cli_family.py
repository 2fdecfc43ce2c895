# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a program and a launcher belong to."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.builds import family, installed, scripts
from crestacoll_tools.cli import run


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


def soname_of(build):
    """The soname of the machine's MPI."""
    if build.mpi_library is None:
        pytest.skip("no shared library of this MPI")
    return next(s for s in installed.SONAMES[build.family] if s in build.mpi_library)


def environment_with(folder, library, answer):
    """The folders of an environment with an MPI and a Python that says that it loads `answer`."""
    for name in ("bin", "lib"):
        (folder / name).mkdir()
    shutil.copy(library, folder / "lib")
    python = folder / "bin" / "python3"
    python.write_text(f"#!/bin/sh\necho {answer}\n")
    python.chmod(0o755)
    return python, folder / "lib" / Path(library).name


def test_an_environment_has_an_mpi_of_its_own(build, tmp_path):
    """The machine's is not loaded beside it."""
    name = soname_of(build)
    (tmp_path / "there").mkdir()
    copy = tmp_path / name
    shutil.copy(build.mpi_library, copy)
    where = tmp_path / "there"
    python, own = environment_with(where, copy, where / "lib" / name)
    job = run.Job([str(python), "x.py"], None)
    assert job.family == build.family
    assert job.preloaded().split(":") == [str(build.preload), str(own)]
    script = tmp_path / "script"
    script.write_text(f"#!{python}\n")
    script.chmod(0o755)
    assert run.Job([str(script)], None).preloaded() == job.preloaded()
    python.write_text("#!/bin/sh\necho /elsewhere\n")  # it is there, and not what is loaded
    assert str(own) not in run.Job([str(python), "x.py"], build.family).preloaded()


def test_an_mpi_that_the_library_does_not_fit(build, tmp_path):
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    name = soname_of(build)
    words = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", tmp_path / name]
    text = "int PMPI_Init(int *c, char ***v) { return 0; }"
    subprocess.run(words, input=text, text=True, check=True)
    (tmp_path / "there").mkdir()
    python, own = environment_with(
        tmp_path / "there", tmp_path / name, tmp_path / "there" / "lib" / name
    )
    job = run.Job([str(python), "x.py"], None)
    with pytest.raises(Problem, match=f"loads the MPI {own}, which .* does not fit"):
        job.preloaded()


@pytest.mark.parametrize("soname", ["libasan.so.8", "libtsan.so.2", "libclang_rt.asan-x86_64.so"])
def test_names_of_runtimes(soname):
    assert scripts.RUNTIME.search(soname) and not scripts.RUNTIME.search("libm.so.6")


def test_the_runtime_of_a_sanitizer_is_first(build, crestacoll, tmp_path):
    """It ends the program otherwise."""
    compiler = build.cache.get("MPI_C_COMPILER", "mpicc")
    text = """
        #include <mpi.h>
        int main(void)
        {
            int one = 1, sum;
            MPI_Init(0, 0);
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            return MPI_Finalize() != 0 || sum != 1;
        }"""
    words = [compiler, "-fsanitize=address", "-x", "c", "-", "-o", tmp_path / "app"]
    if subprocess.run(words, input=text, text=True, check=False).returncode != 0:
        pytest.skip("no AddressSanitizer")
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    done = crestacoll(
        "run", "--json", "s.json", "--", build.launcher, "-n", "1", tmp_path / "app", preload=False,
        **environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "s.json").read_text())["loaded"].startswith("crestacoll")
