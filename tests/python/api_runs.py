# SPDX-License-Identifier: BSD-3-Clause
"""Runs Python programs that use mpi4py under the MPI of a build; what test_api_*.py share."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from crestacoll_tools.builds import builds

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
TIMEOUT = 300  # of a hang


def needs_api(build):
    """Skips where there is no mpi4py, or no extension in the build."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("no mpi4py: run 'make setup'")
    if not (build.folder / "lib" / "python" / "_native.abi3.so").exists():
        pytest.skip(f"{build.folder} has no crestacoll._native: no headers of Python")


def environment(build, folder, **variables):
    """For ranks: the wheel of mpi4py asks for the MPI by a soname that Debian's MPICH lacks."""
    library = Path(build.mpi_library)
    if "mpich" in library.name:
        link = folder / "libmpi.so.12"
        if not link.exists():
            link.symlink_to(library)
        library = link
        variables["LD_LIBRARY_PATH"] = str(folder)
    variables |= {"MPI4PY_LIBMPI": str(library), "PYTHONPATH": str(ROOT / "python")}
    return builds.clean_environment(**variables)


def launch(build, folder, *words, ranks=2, before=(), **variables):
    """Runs python WORDS on some ranks; `before` goes before the launcher."""
    needs_api(build)
    openmpi = build.family == "openmpi"
    over = ["--oversubscribe"] if openmpi else []
    for library in (build.folder / "lib").glob("libgives_way.so"):  # as in cmake/CrestaMpi.cmake
        over += ["-x", f"LD_PRELOAD={library}"] if openmpi else ["-genv", "LD_PRELOAD", library]
    command = [*before, build.launcher, *over, "-n", str(ranks), sys.executable, *words]
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment(build, folder, **variables),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def good(done):
    """The run ended well; says why if not."""
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done
