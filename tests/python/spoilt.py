# SPDX-License-Identifier: BSD-3-Clause
"""bin/crestacoll with a preload library that is wrong in one element: tests/mpi/wrong_element.c."""

import shutil
import subprocess

import pytest
from conftest import ROOT, giving_way
from crestacoll_tools.builds.builds import clean_environment

BYTES = "65536"  # of the call of turbulence that is wrong: its rows of 32x32x32 on two ranks
RULES = "alltoall=p2p:pairwise,allreduce=p2p:ring,*=p2p"


class Spoilt:
    """A tree like a checkout, in a folder of its own, for one build."""

    def __init__(self, build, folder):
        library = build.folder / "lib" / "libwrong_preload.so"
        if not library.exists() or not build.program("turbulence").exists():
            pytest.skip("the tests, or the examples, are not built")
        self.build = build
        self.folder = folder / "tree"
        lib = self.folder / "build" / build.name / "lib"
        lib.mkdir(parents=True)
        for package in ("crestacoll", "crestacoll_tools"):
            shutil.copytree(ROOT / "python" / package, self.folder / "python" / package)
        (self.folder / "bin").mkdir()
        shutil.copy(ROOT / "bin" / "crestacoll", self.folder / "bin")
        (self.folder / ".venv").symlink_to(ROOT / ".venv")
        for name in ("bin", "CMakeCache.txt"):
            (lib.parent / name).symlink_to(build.folder / name)
        (lib / "libcrestacoll-preload.so").symlink_to(library)
        (lib / "libcrestacoll.so").symlink_to(build.folder / "lib" / "libcrestacoll.so")

    def program(self, steps=10, **variables):
        """The words of a run of turbulence; the ranks get the variables."""
        given = {"WRONG_BYTES": BYTES, **variables}
        open_mpi = self.build.family == "openmpi"
        passed = [
            word
            for name, value in given.items()
            for word in (["-x", f"{name}={value}"] if open_mpi else ["-genv", name, value])
        ]
        program = str(self.build.program("turbulence"))
        size = ["--grid", "32", "--steps", str(steps), "--procs", "1x2"]
        return [self.build.launcher, *passed, "-n", "2", program, *size]

    def __call__(self, *words, **variables):
        return subprocess.run(
            [str(self.folder / "bin" / "crestacoll"), *words],
            cwd=self.folder,
            env=clean_environment(**giving_way() | variables),
            timeout=300,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )


@pytest.fixture
def spoilt(build, tmp_path):
    """Runs crestacoll with the wrong library."""
    return Spoilt(build, tmp_path)
