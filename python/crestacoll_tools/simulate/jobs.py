# SPDX-License-Identifier: BSD-3-Clause
"""Runs crestacoll-simulate: a job of collectives and computation on a machine."""

import contextlib
import dataclasses
import json
import resource
import signal
import subprocess

from crestacoll_tools.base.ui import TEXT, Problem
from crestacoll_tools.builds.builds import AGAIN, clean_environment
from crestacoll_tools.simulate import machines

REFUSED = 2  # its exit code for what cannot be asked
TOO_LATE = "times beyond"


@dataclasses.dataclass(frozen=True)
class Skew:
    """When ranks begin: how the times are distributed, and their size in seconds."""

    kind: str = "none"
    seconds: float = 0.0
    seed: int = 1

    def line(self):
        if self.kind == "none":
            return "skew none 0 0"
        return f"skew {self.kind} {self.seconds!r} {self.seed}"


@dataclasses.dataclass(frozen=True)
class Call:
    """A collective on communicators of `size` ranks with a distance of `stride`, all at once."""

    collective: str
    bytes: int
    implementation: str  # p2p, hier, p2p:ring, hier:leaders?...
    size: int
    stride: int = 1
    root: int = 0
    overlap: float = 0.0  # seconds of computation between begin and end, while
    driven: bool = True  # a thread with a core of its own drives the messages, or nobody

    def line(self):
        model, _, algorithm = self.implementation.partition(":")
        name = algorithm or {"p2p": "preset", "hier": "node_preset"}[model]
        words = ["call", self.collective, self.bytes, name, self.size, self.stride, self.root]
        overlap = f"\noverlap {self.overlap!r} {'thread' if self.driven else 'none'}"
        return " ".join(map(str, words)) + (overlap if self.overlap else "")


@dataclasses.dataclass(frozen=True)
class Limits:
    """The limits of one simulation: seconds of a processor, bytes of memory."""

    seconds: float = 60
    memory: int = 8 << 30

    def set(self, pid):
        """For a process that still waits for its job; 0 is this one."""
        seconds = max(1, round(self.seconds))
        limit(pid, resource.RLIMIT_CPU, seconds, seconds + 1)
        limit(pid, resource.RLIMIT_AS, self.memory, self.memory)
        limit(pid, resource.RLIMIT_CORE, 0, 0)


def limit(pid, what, soft, hard):
    """Sets a limit; one that the process already has may be smaller."""
    most = resource.prlimit(pid, what)[1]
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.prlimit(pid, what, (soft, hard))


class Refused(Exception):
    """The simulation does not exist, or is too large; says why."""


def nodes_words(ranks, per_node):
    """'4x16', or with a last node that is not full '16+16+3'."""
    full, rest = divmod(ranks, per_node)
    if rest == 0:
        return f"{full}x{per_node}"
    return "+".join([str(per_node)] * full + [str(rest)])


def text(machine, ranks, nodes, steps, skew=Skew(), queues=True, times=1, trace=None,
         topology=None):  # fmt: skip
    """The job as crestacoll-simulate reads it. Steps are calls, and seconds of computation. With
    `trace`, a bandwidth, it writes their messages for SMPI too. With `topology`, as torus:4, calls
    are neighbourhood collectives.
    """
    lines = [
        f"ranks {ranks}",
        f"nodes {nodes}",
        f"machine {machines.words(machine)}",
        f"queues {'yes' if queues else 'no'}",
        skew.line(),
        *([f"topology {topology}"] if topology else []),
        *(s.line() if isinstance(s, Call) else f"compute {float(s)!r}" for s in steps),
        f"repeat {times}",
        *([f"trace {trace!r}"] if trace else []),
    ]
    return "\n".join(lines) + "\n"


def limited(program, job, limits, cwd):
    """Runs the program with its limits, which it has before it reads the job. A function of Python
    in the new process would cost more than most simulations: all of this one is forked for it.
    """
    with subprocess.Popen(
        [program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
        cwd=cwd,
        **TEXT,
    ) as process:
        try:
            with contextlib.suppress(OSError):  # it has ended, or no limits may be set
                limits.set(process.pid)
            out, err = process.communicate(job)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess([program], process.returncode, out, err)


def run(build, job, limits=Limits(), cwd=None):
    """What crestacoll-simulate answers; traces are written to `cwd`."""
    program = build.program("crestacoll-simulate")
    try:
        done = limited(program, job, limits, cwd)
    except OSError as e:
        raise Problem(f"{program} does not work ({e}); {AGAIN}") from e
    if done.returncode == 0:
        return json.loads(done.stdout)
    if "no memory" in done.stderr:
        raise Refused(f"takes more than {limits.memory >> 30} GiB to simulate")
    if -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
        raise Refused(f"takes more than {limits.seconds:g} s to simulate")
    if done.returncode == REFUSED or TOO_LATE in done.stderr:
        raise Refused(done.stderr.strip())
    raise Problem(f"{program} failed: {done.stderr.strip() or done.returncode}")

