# SPDX-License-Identifier: BSD-3-Clause
"""The wheel, of the builds of this checkout, in a fresh environment: what test_wheel*.py share. All
processes of a run of pytest have the same one.
"""

import contextlib
import fcntl
import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import uuid
from pathlib import Path

import pytest
from crestacoll_tools.builds import builds

ROOT = builds.ROOT
INTERFACES = {"openmpi": "openmpi-4", "mpich": "mpich-4"}  # Debian's
WORK = ROOT / "build" / "wheel-test"
RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID", uuid.uuid4().hex)  # of all its processes

# One allreduce, in an ordinary MPI program; and the same in a library that is loaded late.
CALLS = """
#include <mpi.h>
#include <stdio.h>
int calls(void)
{
    int rank, size, sum = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %d of %d\\n", sum, size);
    return MPI_Finalize();
}
"""
MAIN = "int main(void) { return calls(); }\n"


def run(words, **options):
    env = builds.clean_environment(**options.pop("variables", {}))
    return subprocess.run(
        [*map(str, words)],
        capture_output=True,
        text=True,
        timeout=600,
        env=env,
        stdin=subprocess.DEVNULL,
        check=False,
        **options,
    )


def must(words, **options):
    done = run(words, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@contextlib.contextmanager
def first(name):
    """Whether this process has to make something; others that want it wait meanwhile."""
    WORK.mkdir(parents=True, exist_ok=True)
    made = WORK / f"{name}.made"
    with (WORK / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        is_made = made.exists() and made.read_text() == RUN
        yield not is_made
        made.write_text(RUN)


def why_not():
    if importlib.util.find_spec("scikit_build_core") is None:
        return "scikit-build-core is not in .venv"
    if not re.match(r"(?i)x86_64|amd64", os.uname().machine):
        return "the front library knows x86_64 only"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "no headers of Python"
    if not built():
        return "nothing is built of which a wheel could be made"
    return None


def built():
    return [n for n in INTERFACES if (ROOT / "build" / n / "CMakeCache.txt").exists()]


def make_wheel():
    found = []
    for name in built():
        folder = ROOT / "build" / name
        must(["cmake", "--build", folder, "--target", "wheel-parts", "wheel-free"])
        found.append(f"{INTERFACES[name]}={folder}")
    shutil.rmtree(WORK / "dist", ignore_errors=True)
    must(
        [
            *(sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"),
            *("--no-build-isolation", "--no-deps", "-w", WORK / "dist"),
            *("-C", f"build-dir={WORK / 'parts'}"),
            *("-C", f"cmake.define.CRESTA_BUILDS={';'.join(found)}", ROOT),
        ]
    )


@functools.cache
def wheel():
    """What pip makes of this checkout; nothing but links is made anew for it."""
    if why_not():
        pytest.skip(why_not())
    with first("wheel") as wanted:
        if wanted:
            make_wheel()
    return next((WORK / "dist").glob("crestacoll-*.whl"))


def packages_of(environment):
    return next(environment.glob("lib/python3*/site-packages"))


def empty_environment(where):
    """Makes it, and gives the pip for it: that of .venv, since one of its own takes seconds."""
    must([sys.executable, "-m", "venv", "--clear", "--without-pip", where])
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    return [*pip, "--python", where / "bin" / "python"]


def make_environment(where, wheel_made):
    pip = empty_environment(where)
    needed = [p for p in sys.path if p.endswith("site-packages")]
    (packages_of(where) / "needed.pth").write_text("\n".join(needed) + "\n")
    must([*pip, "install", "--no-deps", "--no-index", wheel_made])


@functools.cache
def environment():
    """A fresh environment with the wheel; the packages that it needs are those of .venv."""
    made = wheel()
    where = WORK / "environment"
    with first("environment") as wanted:
        if wanted:
            make_environment(where, made)
    return where


def crestacoll(*words, **options):
    where = environment()
    options.setdefault("cwd", tempfile.gettempdir())
    return run([where / "bin" / "crestacoll", *words], **options)


@functools.cache
def compiled(name):
    """(program, library) of CALLS for a build."""
    compiler = shutil.which(f"mpicc.{name}") or shutil.which("mpicc")
    if compiler is None or name not in built():
        pytest.skip(f"no mpicc.{name}, or build/{name} is not built")
    folder = WORK / f"calls-{name}"
    with first(folder.name) as wanted:
        if wanted:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "calls.c").write_text(CALLS)
            (folder / "main.c").write_text(CALLS + MAIN)
            must([compiler, "main.c", "-o", "calls"], cwd=folder)
            must([compiler, "-shared", "-fPIC", "calls.c", "-o", "late.so"], cwd=folder)
    return folder / "calls", folder / "late.so"


def launcher(name):
    return shutil.which(f"mpiexec.{name}") or shutil.which("mpiexec")


@pytest.fixture(params=list(INTERFACES))
def mpi(request):
    compiled(request.param)
    return request.param
