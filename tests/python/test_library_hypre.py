# SPDX-License-Identifier: BSD-3-Clause
"""Programs in plain MPI under the preload library, whose answers stay what they are: hypre's
algebraic multigrid, with a rank that has no rows, and ghost values exchanged as DOLFINx does it,
with unlike counts and a rank without neighbours.

The first needs hypre for the MPI of a build: `apt-get install libhypre-dev` has it for Open MPI."""

import functools
import subprocess
from pathlib import Path

import pytest
from library_runs import ROOT, cached, each_build, family_of, good, kept_folder, run

pytestmark = each_build

HYPRE = Path("/usr/include/hypre/HYPRE.h")
RULES = [f"*={model},neighbor_*={model}" for model in ("shm", "p2p", "hier")] + ["neighbor_*=auto"]


@functools.cache
def program_of(build, name):
    """The program, compiled; why there is none."""
    words = []
    if name == "poisson":
        if not HYPRE.exists():
            return None, "hypre is not installed (libhypre-dev)"
        words = [f"-I{HYPRE.parent}", "-lHYPRE", "-lm"]
    program = kept_folder("hypre") / name
    compiler = cached(build, "MPI_C_COMPILER")
    command = [compiler, ROOT / f"tests/hypre/{name}.c", "-o", program, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (program, "") if done.returncode == 0 else (None, done.stderr)


@functools.cache
def plain(build, name, ranks):
    return good(run(build, program_of(build, name)[0], ranks=ranks)).stdout


def same(build, name, ranks, rules):
    env = {"CRESTA_IMPL": rules, "CRESTA_FALLBACK": "silent", "CRESTA_NODES": "2x2"}
    done = good(run(build, program_of(build, name)[0], ranks=ranks, env=env, preload=True))
    assert done.stdout == plain(build, name, ranks)
    return done.stdout


@pytest.mark.parametrize("rules", RULES)
def test_hypre_gives_the_same_answers(build, rules):
    if family_of(build) != "openmpi":
        pytest.skip("hypre of Debian is for Open MPI")
    program, why = program_of(build, "poisson")
    if program is None:
        pytest.skip(why)
    assert "iterations" in same(build, "poisson", 3, rules)


@pytest.mark.parametrize("rules", RULES)
def test_ghost_values_are_the_same(build, rules):
    program, why = program_of(build, "halo")
    assert program is not None, why
    assert "sum: " in same(build, "halo", 4, rules)
