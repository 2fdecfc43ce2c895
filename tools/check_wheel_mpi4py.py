# SPDX-License-Identifier: BSD-3-Clause
"""check_wheel_mpi4py.py - the part of check_wheel.py about Python programs: mpi4py of PyPI, or
built from source where its wheel does not fit the MPI, its own examples, and a transpose in numpy.
"""
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MPI4PY = "mpi4py==4.1.2"
# From its folder demo; what is typed into them.
EXAMPLES = {
    "helloworld.py": "",
    "compute-pi/cpi-cco.py": "100\n0\n",
    "compute-pi/cpi-rma.py": "100\n0\n",
    "mandelbrot/mandelbrot.py": "",
    "reductions/test_reductions.py": "",
    "osu_allgather.py": "",
    "osu_alltoall.py": "",
    "osu_alltoallv.py": "",
    "osu_barrier.py": "",
    "osu_bcast.py": "",
    "osu_gather.py": "",
    "osu_scatter.py": "",
    **{f"mpi-ref-v1/ex-{n}.py": "" for n in (
        "2.01 2.08 2.16 2.29 2.32 2.34 2.35 3.01 3.02 3.03 3.04 3.05 3.06 3.07 3.08 3.09 3.11 3.12"
        " 3.13").split()},
}  # fmt: skip

# An mpi4py example as it is, after the two lines of docs/python.md.
IMPORTED = """
import os, runpy, sys
import crestacoll
crestacoll.preload()
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""
# Nothing of crestacoll in it.
TRANSPOSE = """
import numpy as np
from mpi4py import MPI
comm, rows = MPI.COMM_WORLD, 100
n = rows * comm.size
mine = np.arange(n * rows, dtype=float).reshape(rows, n) + comm.rank * rows * n
blocks = np.ascontiguousarray(mine.reshape(rows, comm.size, rows).swapaxes(0, 1))
received = np.empty_like(blocks)
for step in range(20):
    comm.Alltoall(blocks, received)
got = np.concatenate([block.T for block in received], axis=1)
want = np.arange(n) * n + comm.rank * rows + np.arange(rows)[:, np.newaxis]
print(comm.rank, np.count_nonzero(got != want), "wrong,", MPI.Get_library_version().split(",")[0])
"""
PROFILED = """
import crestacoll
import numpy as np
from mpi4py import MPI
with crestacoll.profile() as found:
    for i in range(10):
        crestacoll.Allreduce(MPI.COMM_WORLD, np.ones(2), np.zeros(2))
for r in found["records"]:
    print(r["collective"], r["calls"], r["implementation"])
"""
IMPORT = "import time; t = time.perf_counter(); import crestacoll; " \
         "print(f'{1e3 * (time.perf_counter() - t):.1f} ms')"


def examples(work):
    """The folder of mpi4py's examples, of its sources on PyPI."""
    to = work / "mpi4py"
    if not to.exists():
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
        subprocess.run([*pip, "--no-deps", "--no-binary", "mpi4py", MPI4PY, "-d", to], check=True)
        with tarfile.open(next(to.glob("*.tar.gz"))) as tar:
            tar.extractall(to)
    return next(to.glob("mpi4py-*/demo"))


def install(place):
    """The wheel of PyPI knows libmpi.so.40 and libmpi.so.12; Debian's MPICH has another name, and
    the interface of the standard is built from source too.
    """
    mpi, compiler = place.mpi, place.folder / "mpicc"
    if mpi.name != "debian-mpich" and not mpi.abi:
        place.pip("install", MPI4PY)
        return f"wheel {MPI4PY}"
    variables = {"MPI4PY_BUILD_MPICC": "/usr/bin/mpicc.mpich"}
    if mpi.abi:
        compiler.write_text(
            f'#!/bin/sh\nexec cc -I{place.folder}/include "$@" {place.venv}/lib/libmpi_abi.so.1\n'
        )
        compiler.chmod(0o755)
        variables = {"MPI4PY_BUILD_MPICC": str(compiler), "MPI4PY_BUILD_MPIABI": "1"}
    place.run([place.venv / "bin/python", "-m", "pip", "--disable-pip-version-check", "install",
               "--quiet", "--no-binary", "mpi4py", MPI4PY], **variables)  # fmt: skip
    return f"{MPI4PY} from source ({' '.join(variables)})"


def all_examples(place, folder, before, python):
    """Each as plain mpi4py runs it: the same exit code, and, of those that say the same each time,
    the same words. Those that this MPI cannot run at all do not count.
    """
    start, count, lacking = [*place.mpi.launcher.split(), "-n", "2"], 0, []
    for name, typed in EXAMPLES.items():
        try:
            place.run([*start, "python", folder / name], stdin=typed)
        except Exception:  # plain mpi4py
            lacking.append(name)
            continue
        place.run([*before, *start, *python, folder / name], stdin=typed)
        count += 1
    return f"{count} of {len(EXAMPLES)} ran" + (
        f"; without crestacoll neither: {', '.join(lacking)}" if lacking else "")


def steps(place, folder):
    """[(what, action)]"""
    run = ["crestacoll", "run", "--"]
    start = [*place.mpi.launcher.split(), "-n", "2", "python"]
    script = place.folder / "transpose.py"
    script.write_text(TRANSPOSE)
    shutil.copy(ROOT / "examples/python/transpose.py", place.folder / "imports.py")
    profiled = ["crestacoll", "run", "--profile", "t.json", "--", *start, script]
    here = r"(?s)(\d 0 wrong.*){2}"
    right = r"200 x 200, .* 0 wrong"
    imported = place.folder / "imported.py"
    imported.write_text(IMPORTED)
    return [
        ("mpi4py", lambda: install(place)),
        ("import", lambda: place.run(["python", "-c", IMPORT])),
        ("transpose, preloaded", lambda: place.must_say(profiled, here)),
        ("its profile", lambda: place.must_say("crestacoll report t.json", r"^alltoall.*")),
        ("transpose, import", lambda: place.must_say([*start, place.folder / "imports.py"], right)),
        ("transpose, both",
         lambda: place.must_say([*run, *start, place.folder / "imports.py"], right)),
        ("profile()", lambda: place.must_say([*start, "-c", PROFILED], "allreduce 10 .*")),
        ("examples, preloaded", lambda: all_examples(place, folder, run, ["python"])),
        ("examples, import", lambda: all_examples(place, folder, [], ["python", imported])),
    ]
