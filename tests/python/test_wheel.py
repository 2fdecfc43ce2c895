# SPDX-License-Identifier: BSD-3-Clause
"""The wheel, of the builds of this checkout: installed into a fresh environment, it runs without
the checkout, on every MPI of the machine.
"""

import functools
import importlib.util
import json
import re
import shutil
import sys
import tempfile

import pytest
from wheel_made import (
    INTERFACES,
    ROOT,
    WORK,
    built,
    compiled,
    crestacoll,
    empty_environment,
    environment,
    first,
    launcher,
    mpi,
    must,
    packages_of,
    wheel,
)

__all__ = ["mpi"]

pytestmark = pytest.mark.release

# An MPI of Open MPI's soname that has next to nothing.
STRANGE = """
#include <string.h>
int PMPI_Init(int *c, char ***v) { return 0; }
int MPI_Init(int *c, char ***v) { return 0; }
int MPI_Finalize(void) { return 0; }
int MPI_Barrier(void *comm) { return 7; }
int PMPI_Get_library_version(char *s, int *n)
{
    strcpy(s, "Strange MPI 9.9\\nof nobody");
    *n = (int)strlen(s);
    return 0;
}
"""
# Under the front library it finds CRESTA_x: that of MPI_x does what this MPI does, another one
# fails.
USES_STRANGE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int MPI_Init(int *c, char ***v);
int MPI_Finalize(void);
int main(void)
{
    int rc = MPI_Init(0, 0);
    int (*barrier)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "CRESTA_Barrier");
    int (*prepare)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, "CRESTA_Comm_prepare");
    int (*fits)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "cresta_front_fits");
    puts("it ran");
    if (fits != NULL)
        rc += fits() != 0 || barrier(NULL) != 7 || prepare(NULL) == 0;
    return rc + MPI_Finalize();
}
"""


def files_in(folder):
    """Without what Python keeps of what it has read."""
    return {p for p in folder.rglob("*") if "__pycache__" not in p.parts}


def test_needs_no_mpi_and_no_fortran():
    """What the loader looks for in a file of the wheel is of the C library, but for MPI_x."""
    folder = packages_of(environment()) / "crestacoll" / "lib"
    files = [p for p in folder.rglob("*") if p.is_file()]
    assert len(files) > 10
    for path in files:
        said = must(["readelf", "-d", path]).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*?)\]", said))
        assert all(re.match(r"(libc|libm|libdl|libpthread|ld-linux)[.-]", n) for n in needed), (
            path,
            needed,
        )
        assert "RPATH" not in said and "RUNPATH" not in said, path


def test_has_the_files_that_are_no_programs():
    have = packages_of(environment()) / "crestacoll_tools"
    source = ROOT / "python" / "crestacoll_tools"
    for kind in ("*.json", "*.j2"):
        wanted = {p.relative_to(source) for p in source.rglob(kind)}
        assert wanted and wanted == {p.relative_to(have) for p in have.rglob(kind)}


def test_info_finds_the_mpis():
    done = crestacoll("info", "--no-run", "--json", "-")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert str(ROOT / "python") not in data["root"]
    assert {b["name"] for b in data["builds"]} >= set(built())


def test_module_is_the_command_line():
    where = environment()
    done = must([where / "bin" / "python", "-m", "crestacoll", "--version"], cwd="/")
    assert "crestacoll" in done.stdout


def test_run_profile(mpi, tmp_path):
    program, _ = compiled(mpi)
    words = ["run", "--profile", tmp_path / "p.json", "--", launcher(mpi), "-n", "2", program]
    done = crestacoll(*words)
    assert done.returncode == 0 and "sum 1 of 2" in done.stdout, done.stderr
    data = json.loads((tmp_path / "p.json").read_text())
    assert data["ranks"] == 2
    assert any(r["collective"] == "allreduce" for r in data["records"])


def test_mpi_that_is_loaded_late(mpi, tmp_path):
    """As an interpreter does it: for itself alone, when the program runs already."""
    _, library = compiled(mpi)
    text = f"import ctypes; ctypes.CDLL({str(library)!r}, ctypes.DEFAULT_MODE).calls()"
    words = ["--profile", tmp_path / "p.json", "--", launcher(mpi), "-n", "2", sys.executable]
    done = crestacoll("run", *words, "-c", text)
    assert done.returncode == 0 and "sum 1 of 2" in done.stdout, done.stderr
    data = json.loads((tmp_path / "p.json").read_text())
    assert any(r["collective"] == "allreduce" for r in data["records"])


LARGE = """
#include <stddef.h>
#include <mpi.h>
int main(void)
{
    int one = 1, sum = 0;
    MPI_Init(NULL, NULL);
    MPI_Allreduce_c(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum != 2;
}
"""


def test_functions_that_not_every_mpi_has(tmp_path):
    """mpi4py calls nothing else on MPICH: `run` takes the front library that has them."""
    compiler = shutil.which("mpicc.mpich")
    if "mpich" not in built() or compiler is None:
        pytest.skip("no build for MPICH, or no mpicc.mpich")
    (tmp_path / "large.c").write_text(LARGE)
    must([compiler, "large.c", "-o", "large"], cwd=tmp_path)
    words = ["run", "--profile", tmp_path / "p.json", "--", launcher("mpich"), "-n", "2"]
    done = crestacoll(*words, tmp_path / "large")
    assert done.returncode == 0, done.stderr
    records = json.loads((tmp_path / "p.json").read_text())["records"]
    assert [r["calls"] for r in records if r["collective"] == "allreduce"] == [1]


def test_bench(mpi):
    words = ["--impl", "mpi,shm", "--sizes", "8", "--samples", "2", "--mpi", mpi, "--json=-"]
    done = crestacoll("bench", "allreduce", "-n", "2", *words)
    assert done.returncode == 0, done.stderr
    assert '"shm"' in done.stdout


def test_check(mpi):
    words = ["bcast", "--impl", "shm", "--mpi", mpi, "--seconds", "0.1"]
    done = crestacoll("check", *words)
    assert done.returncode == 0, done.stdout + done.stderr


def make_strange(compiler, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mpi.c").write_text(STRANGE)
    (folder / "uses.c").write_text(USES_STRANGE)
    soname = "libmpi.so.40"
    must([compiler, "-shared", "-fPIC", f"-Wl,-soname,{soname}", "mpi.c", "-o", soname], cwd=folder)
    must([compiler, "uses.c", soname, f"-Wl,-rpath,{folder}", "-ldl", "-o", "uses"], cwd=folder)


@functools.cache
def strange():
    """A program with an MPI that nothing in the wheel fits."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = WORK / "strange"
    with first("strange") as wanted:
        if wanted:
            make_strange(compiler, folder)
    return folder / "uses"


def said_once(text):
    lines = [line for line in text.splitlines() if line.startswith("crestacoll:")]
    assert len(lines) == 1, text
    for part in ("libmpi.so.40", "Strange MPI 9.9", *(INTERFACES[n] for n in built())):
        assert part in lines[0]


def test_run_of_an_mpi_that_fits_nothing():
    environment()
    done = crestacoll("run", "--", strange())
    assert done.returncode == 0 and done.stdout == "it ran\n"
    said_once(done.stderr)


def test_what_was_asked_of_such_a_run(tmp_path):
    words = ["--profile", tmp_path / "p.json", "--json", tmp_path / "r.json", "--", strange()]
    done = crestacoll("run", *words)
    assert done.returncode == 0 and "p.json was not written" in done.stderr
    result = json.loads((tmp_path / "r.json").read_text())
    assert (result["exit_code"], result["loaded"], result["profile"]) == (0, None, None)
    assert not (tmp_path / "p.json").exists()


def test_mpi_that_is_not_on_this_host(tmp_path):
    """As on a login node: nothing is known against it."""
    folder, soname = strange().parent, "libmpi_abi.so.1"
    compiler, program = shutil.which("cc") or "gcc", tmp_path / "uses"
    must([compiler, "-shared", "-fPIC", f"-Wl,-soname,{soname}", "mpi.c", "-o", tmp_path / soname],
         cwd=folder)
    must([compiler, "uses.c", tmp_path / soname, "-ldl", "-o", program], cwd=folder)
    (tmp_path / soname).unlink()
    done = crestacoll("run", "--dry-run", "--", program)
    assert done.returncode == 0 and "LD_PRELOAD=" in done.stdout and not done.stderr, done.stderr


def test_preloaded_into_an_mpi_that_fits_nothing():
    library = packages_of(environment()) / "crestacoll" / "lib" / "libcrestacoll-preload.so"
    done = must([strange()], variables={"LD_PRELOAD": str(library)})
    assert done.stdout == "it ran\n"
    said_once(done.stderr)
    other = must([strange()], variables={"LD_PRELOAD": str(library), "PMI_RANK": "1"})
    assert other.stdout == "it ran\n" and other.stderr == ""


def test_preloaded_into_a_program_without_mpi():
    library = packages_of(environment()) / "crestacoll" / "lib" / "libcrestacoll-preload.so"
    done = must(["sh", "-c", "echo fine"], variables={"LD_PRELOAD": str(library)})
    assert (done.stdout, done.stderr) == ("fine\n", "")


def test_off(mpi):
    """CRESTA_OFF=1: the front library loads no other one, for an MPI that is hidden either."""
    _, late = compiled(mpi)
    library = packages_of(environment()) / "crestacoll" / "lib" / "libcrestacoll-preload.so"
    text = f"import ctypes; ctypes.CDLL({str(late)!r}, ctypes.DEFAULT_MODE).calls()\n"
    text += "print('loaded', sum('libcrestacoll' in m for m in open('/proc/self/maps')) > 0,"
    text += f" {INTERFACES[mpi] + '/libcrestacoll'!r} in open('/proc/self/maps').read())"
    for off, more in (("0", True), ("1", False)):
        variables = {"LD_PRELOAD": str(library), "CRESTA_OFF": off}
        done = must([sys.executable, "-c", text], variables=variables)
        assert f"sum 0 of 1\nloaded True {more}" in done.stdout, done.stdout


def test_uninstall_leaves_nothing():
    """In an environment of its own: the other tests need theirs."""
    made, where = wheel(), WORK / "left"
    pip = empty_environment(where)
    before = files_in(where)
    # Nobody runs it: what pip would compile, it would remove again.
    must([*pip, "install", "--no-compile", "--no-deps", "--no-index", made])
    assert files_in(where) - before
    must([*pip, "uninstall", "-y", "crestacoll"])
    assert files_in(where) == before


ADDS = """
import sys
import crestacoll
if sys.argv[1] == "preload":
    crestacoll.preload()
from mpi4py import MPI
import numpy
crestacoll.set_impl(MPI.COMM_WORLD, "*=shm")
one, sum = numpy.ones(3), numpy.zeros(3)
crestacoll.Allreduce(MPI.COMM_WORLD, one, sum)
assert (sum == MPI.COMM_WORLD.size).all(), sum
MPI.COMM_WORLD.Allreduce(one, sum)
MPI.COMM_WORLD.Bcast(sum)
assert (sum == MPI.COMM_WORLD.size).all(), sum
print("fine", crestacoll.__file__)
"""


@pytest.mark.parametrize("how", ["link", "preload", "run"])
def test_beside_mpi4py(how):
    """The wheel finds the library for mpi4py's MPI, before or after that is loaded; and mpi4py does
    not find functions in it that its MPI lacks.
    """
    if "openmpi" not in built() or importlib.util.find_spec("mpi4py") is None:
        pytest.skip("no build for Open MPI, or no mpi4py")
    start = [environment() / "bin" / "crestacoll", "run", "--"] if how == "run" else []
    words = [*start, launcher("openmpi"), "--oversubscribe", "-n", "2"]
    done = must([*words, environment() / "bin" / "python", "-c", ADDS, how],
                variables={"MPI4PY_MPIABI": "openmpi"}, cwd=tempfile.gettempdir())
    assert done.stdout.count("fine") == 2, done.stdout + done.stderr
    assert done.stdout.count(f"{packages_of(environment())}/crestacoll/") == 2, done.stdout
