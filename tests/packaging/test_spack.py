# SPDX-License-Identifier: BSD-3-Clause
"""The recipe for Spack, with a stand-in of its API: directives, phases, arguments of cmake."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import spack_standin

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = ROOT / "packaging/spack/spack_repo/crestacoll"
RECIPE = REPOSITORY / "packages/crestacoll/package.py"


def recipe():
    return spack_standin.load(RECIPE)


def package(prefix, fortran=True, coarrays=False, cli=True, mpi="openmpi"):
    compilers = {"mpicc": f"/usr/bin/mpicc.{mpi}", "mpifc": f"/usr/bin/mpif90.{mpi}"}
    python = SimpleNamespace(command=spack_standin.Executable(sys.executable))
    needed = {"mpi": SimpleNamespace(name=mpi, **compilers), "python": python,
              "opencoarrays": SimpleNamespace(libs=["/lib/libcaf.so"])}
    variants = {"fortran": fortran, "coarrays": coarrays, "cli": cli}
    return recipe()[0](spack_standin.Spec(variants, needed), str(prefix))


def test_the_repository_is_one_of_spack_1():
    text = (REPOSITORY / "repo.yaml").read_text()
    assert f"namespace: {REPOSITORY.name}" in text and re.search(r"api: v2\.\d+", text)
    assert REPOSITORY.parent.name == "spack_repo"
    assert recipe()[0].__name__ == "Crestacoll" and recipe()[0].__doc__


def test_directives():
    found = recipe()[1]
    named = {(name, words[0]): options for name, words, options in found}
    assert {words[0] for name, words, _ in found if name == "version"} == {"0.1.0", "main"}
    assert {words[0] for name, words, _ in found if name == "variant"} == {"fortran", "coarrays",
                                                                          "cli"}
    assert named["depends_on", "mpi@3:"] == {"within": ()}
    assert named["depends_on", "cmake@3.22:"]["type"] == "build"
    assert named["depends_on", "opencoarrays"]["when"] == "+coarrays"


def test_the_command_line_needs_what_it_imports():
    """The packages of requirements.txt that python/ imports, by their names in Spack; but
    for mpi4py, beside which a program imports crestacoll: it has one of its own."""
    source = "\n".join(p.read_text() for p in (ROOT / "python").rglob("*.py"))
    named = re.findall(r"^(\w+)==", (ROOT / "requirements.txt").read_text(), re.M)
    imported = {n for n in named if re.search(rf"^ *(import|from) {n}\b", source, re.M)}
    asked = {words[0] for name, words, options in recipe()[1]
             if name == "depends_on" and options["within"] == ("+cli",)}
    assert asked == {"python@3.10:"} | {f"py-{name}" for name in imported - {"mpi4py"}}


def test_arguments_of_cmake(tmp_path):
    args = package(tmp_path).cmake_args()
    assert args == [
        "-DMPI_C_COMPILER:STRING=/usr/bin/mpicc.openmpi", "-DCRESTA_FORTRAN:BOOL=ON",
        "-DCRESTA_TESTS:BOOL=OFF", "-DMPI_Fortran_COMPILER:STRING=/usr/bin/mpif90.openmpi",
        "-DCRESTA_CAF_LIBRARY:BOOL=OFF"]
    assert "-DCRESTA_CAF_LIBRARY:STRING=/lib/libcaf.so" in package(
        tmp_path, coarrays=True).cmake_args()
    assert not [a for a in package(tmp_path, fortran=False).cmake_args() if "Fortran" in a]


@pytest.mark.release
def test_cmake_takes_the_arguments(tmp_path):
    """For the first MPI that is there: cmake looks at compilers for some seconds."""
    found = [m for m in ("openmpi", "mpich") if os.path.exists(f"/usr/bin/mpicc.{m}")]
    if not found:
        pytest.skip("no mpicc.openmpi, no mpicc.mpich")
    made = package(tmp_path / "prefix", mpi=found[0])
    # Where this system has its own libraries, CMake would put ours in another folder than lib.
    done = subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path / "build", *made.cmake_args(),
                           "-DCMAKE_INSTALL_PREFIX=/usr"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    cache = (tmp_path / "build/CMakeCache.txt").read_text()
    assert f"MPI_C_COMPILER:FILEPATH={made.spec['mpi'].mpicc}" in cache.replace(":STRING=",
                                                                               ":FILEPATH=")
    assert "\nCMAKE_INSTALL_LIBDIR:PATH=lib\n" in cache
    assert not re.search(r"^CRESTA_CAF_LIBRARY:\w+=.*caf", cache, re.M)
    assert "Manually-specified variables were not used" not in done.stderr


def test_the_command_line_is_installed(tmp_path, monkeypatch):
    """After the phase install: it finds the libraries of the prefix, which is the build."""
    build = ROOT / "build/openmpi"
    if not (build / "bin/crestacoll-describe").exists():
        pytest.skip("build/openmpi is not built")
    prefix = tmp_path / "prefix"
    for name in ("bin/crestacoll-describe", "lib/libcrestacoll-preload.so"):
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(build / name, prefix / name)
    monkeypatch.chdir(ROOT)
    made = package(prefix)
    assert made.install_command_line.after == "install"
    made.install_command_line()
    done = subprocess.run([prefix / "bin/crestacoll", "info", "--no-run"], capture_output=True,
                          text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^build openmpi:.* MPI 3\.1,", done.stdout, re.M), done.stdout
    assert (prefix / "share/man/man1/crestacoll-run.1").exists()
    environment = spack_standin.Environment()
    made.setup_run_environment(environment)
    assert Path(environment["CRESTACOLL_PRELOAD"]).exists()
    assert Path(environment["PYTHONPATH"], "crestacoll", "__init__.py").exists()
    shutil.rmtree(prefix)
    package(prefix, cli=False).install_command_line()
    assert not prefix.exists()
