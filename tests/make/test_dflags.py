# SPDX-License-Identifier: BSD-3-Clause
"""The flags of the original library (D4.5.3, section 4.1), and its targets of make."""
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
])
def test_translates(text, spec):
    done = dflags(text)
    assert (done.returncode, done.stdout.strip()) == (0, spec), done.stderr


@pytest.mark.parametrize("text", [
    "-D_NONBLOCK_ALLTOALLX", "-D_ALL_PERSIST", "-D_NOSUCH_BCAST", "-DNDEBUG", "-O3", "alltoall",
    "-D_CAF_ALLTOALL", "-D_OS_BCAST", "-D_STATIC_COARRAYS", "-D_STATIC_OS_WIN",
    "-DTMP_COARRAY_SIZE=1000", "-DTMP_OS_WIN_SIZE=1000", "-D_PROTECTED_BUFFERS",
    "-D_NONBLOCK_BCAST -D_MPI_BCAST",
])
def test_refuses_and_lists_the_known(text):
    done = dflags(text)
    assert done.returncode == 1
    assert text.split()[-1] in done.stderr
    assert "NONBLOCK" in done.stderr and "ALLTOALL" in done.stderr and "-D_ALL_" in done.stderr
    assert done.stdout == ""


def test_make_refuses_before_it_builds():
    done = subprocess.run(["make", "DFLAGS_LIB=-D_CAF_ALLTOALL"], cwd=ROOT,
                          capture_output=True, text=True)
    assert done.returncode != 0
    assert "-D_CAF_ALLTOALL" in done.stderr and "NONBLOCK" in done.stderr
    assert "Building" not in done.stdout


def test_make_ovl_says_when():
    done = subprocess.run(["make", "ovl"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0 and "split-phase" in done.stderr


def test_make_help_lists_every_target():
    lines = (ROOT / "Makefile").read_text().split("\n")
    phony = next(line for line in lines if line.startswith(".PHONY")).split()[1:]
    told = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True).stdout
    for target in set(phony) - {"all"}:
        assert f"make {target} " in told
