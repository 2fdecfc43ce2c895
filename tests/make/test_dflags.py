# SPDX-License-Identifier: BSD-3-Clause
"""The flags of the original library (D4.5.3, section 4.1), and its targets of make."""
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def dflags(text, *options):
    command = [sys.executable, str(ROOT / "tools/dflags.py"), *options, "--", text]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("text, spec", [
    ("", ""),
    ("-D_NONBLOCK_ALLTOALL", "alltoall=nonblock"),
    ("-D_NONBLOCK_ALLTOALL -D_ALL_NONBLOCK", "alltoall=nonblock,*=nonblock"),
    ("-D_ALL_NONBLOCK -D_MPI_BCAST", "bcast=mpi,*=nonblock"),
    ("-D_NONBLOCK_REDUCE -D_NONBLOCK_REDUCE", "reduce=nonblock"),
    ("-D_PERSIST_REDUCE_SCATTER  -D_NONBLOCK_REDUCE_SCATTER_BLOCK",
     "reduce_scatter=persist,reduce_scatter_block=nonblock"),
    ("-D_P2P_ALLTOALL -D_ALL_NONBLOCK", "alltoall=p2p,*=nonblock"),
    ("-D_PROTECTED_BUFFER -D_P2P_ALLTOALL", "alltoall=p2p"),
    ("-D_PROTECTED_BUFFER", ""),
    ("-D_OS_BCAST -D_NONBLOCK_ALLGATHERV -D_STATIC_OS_WIN -DTMP_OS_WIN_SIZE=9",
      "bcast=os,allgatherv=nonblock"),
])
def test_translates(text, spec):
    done = dflags(text)
    assert (done.returncode, done.stdout.strip()) == (0, spec), done.stderr


@pytest.mark.parametrize("text", [
    "-D_NONBLOCK_ALLTOALLX", "-D_ALL_PERSIST", "-D_NOSUCH_BCAST", "-DNDEBUG", "-O3", "alltoall",
    "-D_UPC_ALLTOALL", "-D_PROTECTED_BUFFERS", "-D_NONBLOCK_BCAST -D_MPI_BCAST",
    "-D_STATIC_OS_WIN=1", "-DTMP_OS_WIN_SIZE", "-DTMP_OS_WIN_SIZE=", "-DTMP_OS_WIN_SIZE=0",
    "-DTMP_OS_WIN_SIZE=-1", "-DTMP_OS_WIN_SIZE=1K", "-DTMP_OS_WIN_SIZE=99999999999999999",
    "-DTMP_OS_WIN_SIZE=1 -DTMP_OS_WIN_SIZE=2", "-DTMP_SIZE=1",
])
def test_refuses_and_lists_the_known(text):
    done = dflags(text)
    assert done.returncode == 1
    assert text.split()[-1] in done.stderr
    assert "NONBLOCK" in done.stderr and "ALLTOALL" in done.stderr and "-D_ALL_" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("text, defined", [
    ("", ""),
    ("-D_ALL_NONBLOCK", ""),
    ("-D_STATIC_OS_WIN", "CCO_DEFAULT_OS_WINDOW=static"),
    ("-D_STATIC_OS_WIN -DTMP_OS_WIN_SIZE=1000", "CCO_DEFAULT_OS_WINDOW=static:16000"),
    ("-DTMP_OS_WIN_SIZE=1000 -D_OS_BCAST -D_STATIC_OS_WIN", "CCO_DEFAULT_OS_WINDOW=static:16000"),
    ("-DTMP_OS_WIN_SIZE=1 -DTMP_OS_WIN_SIZE=1", "CCO_DEFAULT_OS_WINDOW=static:16"),
])
def test_static_memory_is_defined(text, defined):
    done = dflags(text, "--definitions")
    assert (done.returncode, done.stdout.strip()) == (0, defined), done.stderr


@pytest.fixture
def tables():
    """tools/dflags.py as a module: what it does with models of other builds."""
    spec = importlib.util.spec_from_file_location("dflags", ROOT / "tools/dflags.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("model, flags", [
    ("caf", "-D_CAF_ALLTOALL -D_STATIC_COARRAYS -DTMP_COARRAY_SIZE=100"),
    ("os", "-D_OS_ALLTOALL -D_STATIC_OS_WIN -DTMP_OS_WIN_SIZE=100"),
])
def test_static_memory_belongs_to_a_model(tables, model, flags):
    """With it, all three flags of the document mean something; without it, none."""
    assert tables.translate(flags, ["mpi", model], ["alltoall"]) == f"alltoall={model}"
    assert list(tables.definitions(flags, [model]).values()) == ["static:1600"]
    for flag in flags.split():
        with pytest.raises(tables.Unknown, match="this build has no"):
            tables.translate(flag, ["mpi"], ["alltoall"])


def test_the_example_of_the_document(tables):
    flags = "-D_CAF_ALLTOALL -D_OS_BCAST -D_NONBLOCK_ALLGATHERV"
    spec = tables.translate(flags, ["mpi", "nonblock", "os", "caf"], tables.collectives())
    assert spec == "alltoall=caf,bcast=os,allgatherv=nonblock"


def test_make_refuses_before_it_builds():
    done = subprocess.run(["make", "DFLAGS_LIB=-D_UPC_ALLTOALL"], cwd=ROOT,
                          capture_output=True, text=True)
    assert done.returncode != 0
    assert "-D_UPC_ALLTOALL" in done.stderr and "NONBLOCK" in done.stderr
    assert "Building" not in done.stdout



def test_make_help_lists_every_target():
    lines = (ROOT / "Makefile").read_text().split("\n")
    phony = [name for line in lines if line.startswith(".PHONY") for name in line.split()[1:]]
    told = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True).stdout
    for target in set(phony) - {"all"}:
        assert f"make {target} " in told
