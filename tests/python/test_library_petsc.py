# SPDX-License-Identifier: BSD-3-Clause
"""A program of PETSc under the preload library: its answers stay what they are in plain MPI, also
with hypre's preconditioner, under rules that name neighbourhood collectives.

It needs PETSc for the MPI of a build: `apt-get install petsc-dev` has it for Open MPI."""

import functools
import os
import shutil
import subprocess

import pytest
from library_runs import ROOT, cached, each_build, family_of, good, kept_folder, run

pytestmark = each_build

RULES = ["neighbor_*=p2p", "neighbor_*=shm", "neighbor_*=auto", "neighbor_*=hier"]
OPTIONS = {
    "neighbours": ["-sf_type", "neighbor"],
    "messages": ["-sf_type", "basic", "-pc_type", "sor"],
    "hypre": ["-sf_type", "neighbor", "-pc_type", "hypre"],
}


def flags():
    """What pkg-config says of PETSc; None: it is not here."""
    if shutil.which("pkg-config") is None:
        return None
    done = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "PETSc"], capture_output=True, text=True, check=False
    )
    return done.stdout.split() if done.returncode == 0 else None


@functools.cache
def program_of(build):
    """The program, compiled; why there is none."""
    found = flags()
    if found is None:
        return None, "PETSc is not installed (petsc-dev)"
    compiler = cached(build, "MPI_C_COMPILER")
    program = kept_folder("petsc") / "poisson"
    words = [compiler, ROOT / "tests/petsc/poisson.c", "-o", program, *found, "-lm"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (program, "") if done.returncode == 0 else (None, done.stderr)


@functools.cache
def plain(build, kind):
    program, _ = program_of(build)
    return good(run(build, program, *OPTIONS[kind], ranks=3, env=environment())).stdout


def environment():
    """Where a PETSc that is not installed in the system has its libraries."""
    path = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": path} if path else {}


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("rules", RULES)
def test_petsc_gives_the_same_answers(build, kind, rules):
    if family_of(build) != "openmpi":
        pytest.skip("PETSc of Debian is for Open MPI")
    program, why = program_of(build)
    if program is None:
        pytest.skip(why)
    env = {"CRESTA_IMPL": rules, "CRESTA_FALLBACK": "silent", **environment()}
    done = good(run(build, program, *OPTIONS[kind], ranks=3, env=env, preload=True))
    assert "iterations" in done.stdout
    assert done.stdout == plain(build, kind)
