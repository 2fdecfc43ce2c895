# SPDX-License-Identifier: BSD-3-Clause
"""Reads the black box of a process, as src/calls/box.h describes it."""

import os
import struct
from bisect import bisect_right
from dataclasses import dataclass, field

from crestacoll_tools.base.ui import Problem

MAGIC, VERSION, LAST = b"crestbox", 1, 1024
HEAD = struct.Struct("=8sIIiiii7Q3d64s")
THREAD = struct.Struct("=QQQQQQQ")
CALL = struct.Struct("=QQQQ")
ENTRY = struct.Struct("=QQQQQQ")
# As enum cco_calls_of and enum cco_calls_distance of src/calls/calls.h.
KINDS = ("messages", "collectives", "io", "rma", "communicators", "several")
DISTANCES = (None, "node", "between", "unknown")


@dataclass
class Call:
    """A call of a thread; times in seconds since 1970, `end` None while it lasts."""

    name: str
    part: str  # of the MPI, as in a profile
    site: int  # the address, or that of a line of Python
    start: float
    end: float | None = None


@dataclass
class Counted:
    """Calls of one function from one place, as a profile has them."""

    site: int
    name: str
    part: str
    requests: str
    distance: str | None
    calls: int
    bytes: int
    us: float
    longest: float


@dataclass
class Thread:
    """What a thread was in, its last calls, the last one at the end, and what it has counted."""

    main: bool
    now: Call | None
    calls: int
    last: list
    counted: list

    @property
    def before(self):
        """The last call that has ended; None if there is none."""
        return self.last[-1] if self.last else None


@dataclass
class Box:
    """The black box of a process. rank: -1 if it did not come to the end of MPI_Init; times in
    seconds since 1970.
    """

    path: object
    pid: int
    rank: int
    ranks: int
    spawned: bool
    host: str
    begin: float
    seen: float  # the last time that is known of it
    threads: list = field(default_factory=list)
    modules: list = field(default_factory=list)  # (from, to, base, build id, path), by `from`
    lines: dict = field(default_factory=dict)  # address: (line, function, path)
    ahead: str = ""  # a file whose functions may not hand calls on

    @property
    def thread(self):
        """The one that called MPI_Init; else one that was in a call, if any was."""
        ordered = sorted(self.threads, key=lambda t: (not t.main, t.now is None))
        return ordered[0] if ordered else None

    @property
    def others(self):
        """The other threads that were in a call."""
        return [t for t in self.threads if t is not self.thread and t.now]

    def place(self, site):
        """(path, build id, function of Python or None, offset or line) of an address; None if no
        file is known there.
        """
        if site in self.lines:
            line, function, path = self.lines[site]
            return path, None, function, line
        at = bisect_right(self.modules, (site, float("inf"))) - 1
        if at < 0 or not self.modules[at][0] <= site < self.modules[at][1]:
            return None
        _, _, base, build_id, path = self.modules[at]
        return path, build_id, None, site - base


def read(path):
    """The box of a file; a Problem if it is none, or damaged."""
    data = path.read_bytes()
    try:
        return read_data(path, data)
    except (struct.error, ValueError, IndexError, OverflowError) as e:
        raise Problem(f"{path} is a damaged black box: {e}") from e


def read_data(path, data):
    if len(data) < HEAD.size or not data.startswith(MAGIC):
        raise Problem(f"{path} is no black box of crestacoll")
    (
        _, version, pid, rank, ranks, spawned, one, notes_at, notes_bytes, areas_at, area_bytes,
        last_at, first_ticks, now_ticks, first_s, now_s, began_s, host,
    ) = HEAD.unpack_from(data)  # fmt: skip
    if one != 1:
        raise Problem(f"{path} is from a machine with another byte order")
    if version != VERSION:
        raise Problem(f"{path} is a black box of another version of crestacoll ({version})")
    name = text(host.partition(b"\0")[0])
    found = Box(path, pid, rank, ranks, spawned != 0, name, began_s, began_s + now_s - first_s)
    functions = read_notes(found, data[notes_at : notes_at + notes_bytes])
    elapsed = now_ticks - first_ticks
    clock = Clock(first_ticks, began_s, (now_s - first_s) / elapsed if elapsed > 0 else 0.0)
    for at in range(areas_at, len(data) - THREAD.size, area_bytes):
        area = memoryview(data)[at : at + area_bytes]
        found.threads.append(read_thread(area, last_at, functions, clock))
    found.threads = [t for t in found.threads if t.last or t.now]
    times = [call.end or call.start for t in found.threads for call in (t.now, t.before) if call]
    found.seen = max([found.seen, *times])
    return found


def progress(path):
    """(calls that its threads have ended, whether one of them is in a call) of a process that may
    run; a ValueError if the file is no box.
    """
    with open(path, "rb") as file:
        head = file.read(HEAD.size)
        if len(head) < HEAD.size or not head.startswith(MAGIC):
            raise ValueError(path)
        areas_at, area_bytes = HEAD.unpack(head)[9:11]
        size = file.seek(0, os.SEEK_END)
        calls, is_inside = 0, False
        for at in range(areas_at, size - THREAD.size, area_bytes):
            file.seek(at)
            _, _, _, ended, inside, _, _ = THREAD.unpack(file.read(THREAD.size))
            calls, is_inside = calls + ended, is_inside or inside > 0
    return calls, is_inside


@dataclass
class Clock:
    """Seconds since 1970 of the ticks that a process counted."""

    ticks: int
    at: float
    tick: float

    def seconds(self, ticks):
        return self.at + (ticks - self.ticks) * self.tick


def text(content):
    return content.decode(errors="replace")


def read_notes(found, notes):
    """[name, part] of the functions that the notes name; files and lines go to the box."""
    functions = []
    for note in text(notes).split("\n")[:-1]:
        kind, _, rest = note.partition(" ")
        if kind == "function":
            functions.append(rest.split(" "))
        elif kind == "module":
            base, start, end, build_id, path = rest.split(" ", 4)
            found.modules.append(
                (int(start, 16), int(end, 16), int(base, 16), build_id or None, path)
            )
        elif kind == "ahead":
            found.ahead = rest
        elif kind == "line":
            address, line, function, path = rest.split(" ", 3)
            found.lines[int(address, 16)] = (int(line), function, path)
    found.modules.sort()
    return functions


def read_thread(area, last_at, functions, clock):
    main, table_at, entries, calls, inside, site, start = THREAD.unpack_from(area)
    now = None
    if 0 < inside <= len(functions):
        now = Call(*functions[inside - 1], site, clock.seconds(start))
    last = []
    for k in range(max(0, calls - LAST), calls):
        site, what, start, end = CALL.unpack_from(area, last_at + k % LAST * CALL.size)
        if what >> 8 < len(functions):
            times = clock.seconds(start), clock.seconds(end)
            last.append(Call(*functions[what >> 8], site, *times))
    table = area[table_at : table_at + entries * ENTRY.size]
    whole = table[: len(table) // ENTRY.size * ENTRY.size]
    counted = [
        Counted(site, *functions[what >> 8], KINDS[what >> 4 & 15], DISTANCES[what & 15], n,
                amount, 1e6 * clock.tick * ticks, 1e6 * clock.tick * longest)
        for site, what, n, amount, ticks, longest in ENTRY.iter_unpack(whole)
        if n and what >> 8 < len(functions)
    ]  # fmt: skip
    return Thread(main == 1, now, calls, last, counted)
