#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""built_in.py SOURCE BUILD WORK CC OBJECTS LAUNCHER... - a library with flags of the original
library runs what they name, without any variable set, and a wrong flag stops the configuration.

OBJECTS lists the objects of BUILD's preload library. Only those that know the built-in choice are
compiled, by the commands of the new configuration; the others are the same.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

FLAGS = "-D_ALL_NONBLOCK -D_MPI_BCAST -D_STATIC_OS_WIN -DTMP_OS_WIN_SIZE=4096"
KNOWS = "CCO_DEFAULT_IMPL"
WINDOW = b"static:65536"  # 4096 numbers of 16 bytes, the default of CRESTA_OS_WINDOW


def configure(source, work, cc, flags):
    words = ["cmake", "-S", source, "-B", work, f"-DMPI_C_COMPILER={cc}", "-DCRESTA_FORTRAN=OFF",
             "-DCRESTA_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Debug", f"-DCRESTA_DFLAGS={flags}"]
    # As tools/build.sh; a third less to compute.
    if shutil.which("ninja") and not (work / "CMakeCache.txt").exists():
        words += ["-G", "Ninja"]
    return subprocess.run(words, capture_output=True, text=True)


def compiled(work, names):
    """{object: where it is made anew} of those among `names` that know the choice."""
    made = {}
    for entry in json.loads((work / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        name = os.path.relpath(os.path.join(entry["directory"], words[words.index("-o") + 1]), work)
        if name in names and any(KNOWS in word for word in words):
            subprocess.run(words, cwd=entry["directory"], check=True)
            made[name] = work / name
    return made


def linked(build, work, cc, objects):
    """The preload library with the choice."""
    names = [os.path.relpath(path, build) for path in objects]
    made = compiled(work, {*names})
    assert {Path(name).name for name in made} == {"choose.c.o", "config.c.o", "settings.c.o"}, made
    library = work / "lib" / "libcrestacoll-preload.so"
    library.parent.mkdir(exist_ok=True)
    objects = [str(made.get(name, build / name)) for name in names]
    subprocess.run([cc, "-shared", "-o", library, *objects, "-Wl,--as-needed", "-Wl,-z,lazy",
                    "-lpthread", "-ldl", "-lm"], check=True)
    return library


def main():
    source, build, work, cc, objects, *launcher = sys.argv[1:]
    build, work = Path(build), Path(work)
    wrong = configure(source, work, cc, "-D_NOSUCH_ALLTOALL")
    assert wrong.returncode != 0 and "_NOSUCH_ALLTOALL" in wrong.stderr, wrong.stderr
    right = configure(source, work, cc, FLAGS)
    assert right.returncode == 0, right.stderr
    library = linked(build, work, cc, Path(objects).read_text().splitlines())
    # The loader of the ranks, and of the launcher.
    env = {**os.environ, "CRESTA_LOG": "info", "LD_PRELOAD": str(library)}
    done = subprocess.run([*launcher, "-n", "2", build / "tests/bin/plain_sum"], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout)
    assert done.returncode == 0
    ran = [line.lower() for line in done.stdout.splitlines() if "allreduce" in line.lower()]
    assert any("nonblock" in line for line in ran)
    assert WINDOW in library.read_bytes()


if __name__ == "__main__":
    main()
