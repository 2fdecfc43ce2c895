# SPDX-License-Identifier: BSD-3-Clause
"""Runs test programs of the build folders under mpiexec; what test_library_*.py share."""

import atexit
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILDS = pathlib.Path(os.environ.get("CRESTA_BUILDS", ROOT / "build"))
# Until a run counts as hanging: with other load, and in builds with sanitizers (CRESTA_SANITIZE),
# runs take many times as long.
TIMEOUT = float(os.environ.get("CRESTA_RUN_TIMEOUT", "300"))
# For builds with sanitizers, as in cmake/CrestaMpi.cmake.
os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# Those of whole communicators.
COLLECTIVES = [
    line.split(":")[0].strip()
    for line in (ROOT / "api" / "collectives.def").read_text().splitlines()
    if re.match(r"(?!neighbor_)[a-z_]+ *:", line)
]


def kept_folder(name):
    """A folder for what the tests of this process share, until it ends."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"crestacoll-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def family_of(build):
    """openmpi or mpich, from the launcher that CMake found."""
    return "openmpi" if "openmpi" in cached(build, "MPI_C_COMPILER") else "mpich"


def cached(build, name):
    """A variable of the build folder's CMake cache."""
    found = re.search(
        rf"^{name}:[A-Z]+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE
    )
    return found.group(1) if found else ""


@functools.cache
def description_of(build):
    """What the library of a build says of itself."""
    command = [build / "bin" / "crestacoll-describe"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def library_of(build):
    """What the MPI of a build says of itself."""
    return description_of(build)["mpi"]["library"]


def models_of(build):
    """The names of the models that work in a build."""
    return [model["name"] for model in description_of(build)["models"] if model["works"]]


def builds():
    """Build folders that hold the test programs."""
    return sorted(
        path for path in BUILDS.glob("*") if (path / "tests" / "bin" / "script").exists()
    )


each_build = pytest.mark.parametrize("build", builds(), ids=lambda path: path.name)


def gives_way(build):
    """Words for the launcher of a build, after which ranks that wait give their cores away."""
    words = []
    for library in (build / "lib").glob("libgives_way.so"):
        openmpi = family_of(build) == "openmpi"
        words += ["-x", f"LD_PRELOAD={library}"] if openmpi else ["-genv", "LD_PRELOAD", library]
    return words


def run(
    build, program, *arguments, ranks=2, env=None, rank_env=None, rank_folder=None, preload=False
):
    """Run a program of build/tests/bin on some ranks.

    env goes to all ranks; rank_env={R: {...}} to world rank R besides; rank_folder={R: folder} is
    where world rank R starts. Returns the CompletedProcess; a hang is a failure.
    """
    openmpi = family_of(build) == "openmpi"
    command = [cached(build, "MPIEXEC_EXECUTABLE"), *(["--oversubscribe"] if openmpi else [])]
    env = dict(env or {})
    ours = build / "lib" / "libcrestacoll-preload.so" if preload else env.get("LD_PRELOAD")
    # As in cmake/CrestaMpi.cmake.
    loaded = [*([ours] if ours else []), *(build / "lib").glob("libgives_way.so")]
    if loaded:
        env["LD_PRELOAD"] = ":".join(map(str, loaded))
    for rank in range(ranks):
        own = {**env, **(rank_env or {}).get(rank, {})}
        command += [":"] if rank else []
        command += ["-n", "1"]
        if rank in (rank_folder or {}):
            command += ["-wdir", str(rank_folder[rank])]
        for name, value in own.items():
            command += ["-x", f"{name}={value}"] if openmpi else ["-env", name, value]
        command += [str(build / "tests" / "bin" / program), *arguments]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CRESTA_")}
    return subprocess.run(
        command,
        env={**clean, **AS_ROOT},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def good(done):
    """The run ended well; says why if not."""
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def profiled(build, tmp_path, program, *arguments, env=None, **more):
    """Run with CRESTA_PROFILE and return the records."""
    path = tmp_path / "profile.json"
    good(run(build, program, *arguments, env={"CRESTA_PROFILE": str(path), **(env or {})}, **more))
    return json.loads(path.read_text())["records"]


def implementations(records, collective, communicator=None, mode="blocking"):
    """{smallest bytes of the size class: implementation} of the records of a collective."""
    return {
        record["bytes_min"]: record["implementation"]
        for record in records
        if record["collective"] == collective
        and record["mode"] == mode
        and communicator in (None, record["communicator"])
    }


def messages(done):
    """What crestacoll itself said: its lines on stderr."""
    return [line for line in done.stderr.splitlines() if "crestacoll:" in line]
