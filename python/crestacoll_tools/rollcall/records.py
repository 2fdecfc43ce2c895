# SPDX-License-Identifier: BSD-3-Clause
"""What a process answers in a roll-call, as src/rollcall/answer_format.h describes it."""

import re
from dataclasses import dataclass, field

ESCAPE = re.compile(r"\\x([0-9a-f]{2})")
NUMBERS = ("number", "root", "bytes", "requests", "comm_rank", "comm_size")


def fields(line):
    """{name: value} of a line, without its first word."""
    pairs = (word.partition("=") for word in line.rstrip("\n").split("\t")[1:])
    return {name: ESCAPE.sub(lambda m: chr(int(m[1], 16)), value) for name, _, value in pairs}


def number(text, default=None):
    """A number of an answer; what is none, or missing, is the default."""
    try:
        return int(text)
    except (TypeError, ValueError):
        return default


@dataclass
class Stay:
    """A call that a thread is in, or was in last; None: it has no such argument."""

    kind: str = "none"
    call: str = ""
    comm: str | None = None  # the communicator's name
    comm_id: str | None = None  # the same on its ranks, and only there; "0..." if not set up
    comm_rank: int | None = None
    comm_size: int | None = None
    members: list | None = None  # ranks in MPI_COMM_WORLD
    number: int | None = None  # of a collective on its communicator
    root: int | None = None
    op: str | None = None
    bytes: int | None = None
    requests: int | None = None
    to: str | None = None  # ranks of the communicator, or "any"
    source: str | None = None
    tag: str | None = None


@dataclass
class Thread:
    """A thread that made calls."""

    version: int
    inside: bool
    now: Stay
    begun: Stay | None
    impl: str | None
    round: int | None
    rounds: int | None
    waits_for: int | None
    all_seen: bool = False  # outside of a call, it is in none of the MPI
    module: str | None = None  # the file in which it calls, at an offset; a line of Python
    function: str | None = None  # of Python
    build_id: str | None = None
    offset: int = 0
    place: str = ""  # 'solver.c:120 step', once that was looked up


@dataclass
class Process:
    """Who answers. `state`: there, silent (it did not answer), finalized, ended, unknown."""

    rank: int
    size: int
    world: str = ""
    spawned: bool = False
    pid: int = 0
    host: str = ""
    state: str = "there"
    threads: list = field(default_factory=list)
    lines: list = field(default_factory=list)  # of the answer that it is from

    @property
    def thread(self):
        """The one that tells where the process is: in a call if any is, the first of these."""
        called = [t for t in self.threads if t.now.kind != "none"]
        return next((t for t in called if t.inside), called[0] if called else None)


def members(text):
    """'0-2,7' as [0, 1, 2, 7]; None if there is none."""
    found = []
    for part in filter(None, (text or "").split(",")):
        first, _, last = part.partition("-")
        low, high = number(first), number(last or first)
        if low is None or high is None or not low <= high <= low + 10**7:
            return None
        found += range(low, high + 1)
    return found or None


def stay(values, prefix=""):
    """The stay that a line tells under a prefix."""
    own = {k[len(prefix) :]: v for k, v in values.items() if k.startswith(prefix)}
    numbers = {name: number(own.get(name)) for name in NUMBERS}
    return Stay(
        kind=own.get("kind", "none"),
        call=own.get("call", ""),
        comm=own.get("comm"),
        comm_id=own.get("comm_id"),
        members=members(own.get("members")),
        op=own.get("op"),
        to=own.get("to"),
        source=own.get("from"),
        tag=own.get("tag"),
        **numbers,
    )


def thread(line):
    values = fields(line)
    return Thread(
        version=number(values.get("version"), 0),
        inside=values.get("inside") == "1",
        now=stay(values),
        begun=stay(values, "begun_") if "begun_kind" in values else None,
        impl=values.get("impl"),
        round=number(values.get("round")),
        rounds=number(values.get("rounds")),
        waits_for=number(values.get("waits_for")),
        all_seen=values.get("seen") == "1",
        module=values.get("module"),
        function=values.get("function") or None,
        build_id=values.get("build_id") or None,
        offset=number(values.get("offset"), 0),
    )


def process(line):
    values = fields(line)
    return Process(
        rank=number(values.get("rank"), -1),
        size=number(values.get("size"), -1),
        world=values.get("world", ""),
        spawned=values.get("spawned") == "1",
        pid=number(values.get("pid"), 0),
        host=values.get("host", ""),
        lines=[line],
    )


def written(process):
    """The answer that a process is from, for the one that asked."""
    return "\n".join(process.lines) + "\n"


def answer(text):
    """The process of an answer; None if it is none."""
    found = None
    for line in text.split("\n"):
        if line.startswith("process\t"):
            found = process(line)
        elif line.startswith("thread\t") and found is not None:
            found.threads.append(thread(line))
            found.lines.append(line)
    return found
