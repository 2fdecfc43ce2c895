# SPDX-License-Identifier: BSD-3-Clause
"""The builds of crestacoll, one for each MPI, and what each says about itself: those of the
checkout or the installation, or those that a wheel has for the MPIs of the machine.
"""

import functools
import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from crestacoll import _wheel
from crestacoll_tools.base.ui import TEXT, Problem
from crestacoll_tools.builds import family, installed

ROOT = Path(__file__).resolve().parents[3]


class About:
    """What the programs of a build say about it."""

    @functools.cached_property
    def description(self):
        """What crestacoll-describe prints: MPI, collectives, models, environment."""
        return self.asked("crestacoll-describe")

    def tuning(self, path):
        """What ranks of this build make of a tuning file (crestacoll-tuning)."""
        return self.asked("crestacoll-tuning", path)

    def asked(self, program, *arguments):
        command = [*self.words(program), *arguments]
        try:
            done = subprocess.run(
                command, capture_output=True, **TEXT, timeout=60, env=clean_environment()
            )
            return json.loads(done.stdout)
        except (OSError, ValueError, subprocess.TimeoutExpired) as e:
            raise Problem(f"{self.program(program)} does not work ({e}); {AGAIN}") from e

    @property
    def implementations(self):
        """Names of the models that work with this MPI, `mpi` first."""
        names = [m["name"] for m in self.description["models"] if m["works"]]
        return sorted(names, key=lambda n: n != "mpi")

    @property
    def collectives(self):
        return self.description["collectives"]

    @property
    def measured(self):
        """Those that the benchmarks have: the others need a topology."""
        return [c for c in self.collectives if not c.startswith("neighbor_")]


AGAIN = "install it again" if _wheel.is_wheel() else "build again with 'make'"


@dataclass(frozen=True)
class Build(About):
    """build/NAME: libraries and programs for one MPI."""

    name: str
    folder: Path

    @property
    def preload(self):
        return self.folder / "lib" / "libcrestacoll-preload.so"

    @property
    def results(self):
        """The folder for what is kept about this build."""
        return self.folder

    @functools.cached_property
    def mpi_library(self):
        """The path of the MPI library of this build, None if it cannot be found out."""
        return family.mpi_library(self.folder / "lib" / "libcrestacoll.so")

    def program(self, name):
        return self.folder / "bin" / name

    def words(self, name):
        """How it is started."""
        return [str(self.program(name))]

    @functools.cached_property
    def cache(self):
        """The variables of CMake that name compilers and launcher."""
        try:
            text = (self.folder / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return {}
        return dict(re.findall(r"^(\w+):\w+=(.*)$", text, re.MULTILINE))

    @property
    def launcher(self):
        for candidate in (self.cache.get("MPIEXEC_EXECUTABLE"), f"mpiexec.{self.name}", "mpiexec"):
            found = candidate and shutil.which(candidate)
            if found:
                return found
        raise Problem(f"no mpiexec for {self.name}")

    @property
    def family(self):
        return self.description["mpi"]["family"]


class OfWheel(installed.WheelBuild, About):
    """A build of the wheel."""


def wheel_build(libraries, kind):
    """What the wheel has for programs with these MPI libraries; without any (a script), for the
    first MPI in PATH of the family `kind`. Its preload library finds out in the process, so there
    need be none.
    """
    for library in libraries:
        return OfWheel(installed.MachineMpi(kind, "", library), kind)
    return next((b for b in all_builds() if kind in (None, b.family)), installed.Front)


def algorithm_label(algorithm):
    """An algorithm and its parameters as in a rule: chunked?chunk=&order=."""
    names = "&".join(f"{p['name']}=" for p in algorithm["params"])
    return f"{algorithm['name']}?{names}" if names else algorithm["name"]


def model_label(model):
    """A model and its options, likewise: os?window=&via=."""
    return algorithm_label({"name": model["name"], "params": model.get("options", [])})


@functools.cache
def all_builds():
    if _wheel.is_wheel():
        return [OfWheel(mpi, name) for mpi, name in installed.builds()]
    folders = sorted((ROOT / "build").glob("*/bin/crestacoll-describe"))
    builds = [Build(f.parent.parent.name, f.parent.parent) for f in folders]
    return sorted(builds, key=lambda b: (b.name != "openmpi", b.name))


def need_builds():
    if not all_builds():
        raise Problem(nothing())
    return all_builds()


def nothing():
    """Why there is no build."""
    if not _wheel.is_wheel():
        return f"nothing is built in {ROOT / 'build'}: run 'make' there first"
    misfits = [why for _, why in installed.misfits()]
    return "; ".join(misfits) or (
        "no MPI found: no mpirun or mpiexec in PATH whose MPI library is beside it, in"
        " LD_LIBRARY_PATH or known to the loader"
    )


def choose_builds(text):
    """None -> the first one; 'all'; or names of builds or families, comma-separated."""
    builds = need_builds()
    if text is None:
        return builds[:1]
    if text == "all":
        return builds
    chosen = []
    for name in text.split(","):
        match = [b for b in builds if name in (b.name, b.family)]
        if not match:
            raise Problem(
                f"no build for '{name}' (there are: {', '.join(b.name for b in builds)})",
                exit_code=2,
            )
        chosen += match[:1]
    return chosen


def build_for(family):
    """The build whose library fits programs of `family`. Intel MPI shares MPICH's binary
    interface.
    """
    builds = need_builds()
    for wanted in (family, "mpich" if family == "intelmpi" else family):
        for build in builds:
            if build.family == wanted:
                return build
    raise Problem(
        f"the program uses {FAMILY_NAMES.get(family, family)}, and there is no build for it (there"
        f" are: {', '.join(b.name for b in builds)}); install its compiler wrapper and run 'make'"
    )


FAMILY_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH", "intelmpi": "Intel MPI"}


def typed():
    """How a reader types crestacoll: its name if PATH leads here, else the path."""
    program, found = ROOT / "bin" / "crestacoll", shutil.which("crestacoll")
    if not program.exists() or (found and os.path.realpath(found) == os.path.realpath(program)):
        return "crestacoll"
    return shlex.quote(str(program))


def clean_environment(**extra):
    """The environment without settings of crestacoll, for jobs that crestacoll itself starts."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("CRESTA_")}
    if os.geteuid() == 0:  # our own jobs only; a user's command is the user's business
        env |= {
            f"{p}_ALLOW_RUN_AS_ROOT{c}": "1" for p in ("OMPI", "PRTE") for c in ("", "_CONFIRM")
        }
    return env | extra
