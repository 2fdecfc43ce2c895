# SPDX-License-Identifier: BSD-3-Clause
"""Functions of the MPI that a program looks up in the handle of its library (dlopen, dlsym)."""

import json
import subprocess

import pytest
from crestacoll_tools.builds.builds import Build
from library_runs import each_build, good, profiled, run


def mpi_of(build):
    path = Build(build.name, build).mpi_library
    if path is None:
        pytest.skip("no shared library of this MPI")
    return path


def preloaded(build, *more):
    return ":".join([str(build / "lib" / "libcrestacoll-preload.so"), mpi_of(build), *more])


def opened(build, tmp_path, *more):
    """{implementation: calls} of allreduce."""
    env = {"CRESTA_IMPL": "*=p2p", "LD_PRELOAD": preloaded(build, *more)}
    records = profiled(build, tmp_path, "opened", mpi_of(build), env=env)
    return {r["implementation"].split(":")[0]: r["calls"] for r in records}


@each_build
def test_looked_up(build, tmp_path):
    assert opened(build, tmp_path) == {"p2p": 100}


@each_build
def test_every_call_is_counted(build, tmp_path):
    """By the library that a profile preloads ahead of this one."""
    calls = str(build / "lib" / "libcrestacoll-calls.so")
    file = tmp_path / "p.json"
    env = {"CRESTA_PROFILE": str(file), "LD_PRELOAD": f"{calls}:{preloaded(build)}"}
    good(run(build, "opened", mpi_of(build), env=env))
    counted = {c["call"]: c["calls"] for c in json.loads(file.read_text())["calls"]["list"]}
    assert counted == {"MPI_Init": 2, "MPI_Allreduce": 200, "MPI_Finalize": 2}


@each_build
def test_beside_another_allocator(build, tmp_path):
    """It calls dlsym before anything else runs."""
    said = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False)
    found = [line.split()[-1] for line in said.stdout.splitlines() if "libjemalloc.so.2" in line]
    if not found:
        pytest.skip("no libjemalloc2")
    assert opened(build, tmp_path, found[0]) == {"p2p": 100}


@each_build
def test_a_tool_that_the_program_opens(build):
    """What is the tool's stays the tool's."""
    env = {"LD_PRELOAD": preloaded(build), "CRESTA_IMPL": "*=p2p"}
    done = good(run(build, "opened", str(build / "lib" / "libtextbook.so"), env=env, ranks=1))
    assert "right" in done.stdout
