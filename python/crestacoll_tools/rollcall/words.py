# SPDX-License-Identifier: BSD-3-Clause
"""How a roll-call says which ranks, and which call."""

from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.text import counted


def ranges(numbers):
    """[0, 1, 2, 7] as '0-2,7'."""
    numbers, found = sorted(numbers), []
    for n in numbers:
        if found and n == found[-1][1] + 1:
            found[-1][1] = n
        else:
            found.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def who(processes):
    """'rank 3', 'ranks 0-2,7', and those of worlds that were spawned by their place."""
    plain = [p for p in processes if not p.spawned and p.rank >= 0]
    parts = []
    if plain:
        parts.append(f"rank{'s' * (len(plain) > 1)} {ranges([p.rank for p in plain])}")
    for p in processes:
        if p.spawned and p.rank >= 0:
            parts.append(f"rank {p.rank} of a spawned world (process {p.pid} on {p.host})")
        elif p.rank < 0:
            parts.append(f"process {p.pid} on {p.host}")
    return ", ".join(parts)


def on(stay):
    if stay.comm_size is None:
        return ""
    name = f"'{stay.comm}'" if stay.comm else "a communicator without a name"
    numbered = stay.comm_id and not stay.comm_id.startswith("0.")
    serial = f", no. {stay.comm_id.partition('.')[0]}" if numbered else ""
    return f" on {name} ({counted(stay.comm_size, 'rank')}{serial})"


def peer(word):
    return "any rank" if word == "any" else f"rank {word}"


def call(stay):
    """'MPI_Bcast, call 12 on 'row' (4 ranks), root 0, 800 bytes'"""
    text = stay.call
    if stay.number and stay.kind in ("collective", "begun"):
        text += f", call {stay.number}"
    text += on(stay)
    if stay.kind == "set-up":
        text += ", the first there, and waits for ranks that have not come to it"
    if stay.root is not None:
        text += f", root {stay.root}"
    if stay.op is not None:
        text += f", {stay.op}"
    if stay.bytes is not None:
        text += f", {size(stay.bytes)}"
    if stay.to is not None and stay.to != "any":
        text += f", to {peer(stay.to)}"
    if stay.source is not None:
        text += f", from {peer(stay.source)}"
    if stay.tag is not None and stay.tag != "any" and stay.kind == "message":
        text += f", tag {stay.tag}"
    if stay.requests:
        text += f", for {counted(stay.requests, 'request')}"
    return text


def at(thread):
    """', at solver.c:120 step'; '' if that is not known."""
    return f", at {thread.place}" if thread.place else ""


def size(n):
    return counted(n, "byte") if n < 1024 or n % 1024 else f"{format_size(n)} ({n} bytes)"


def step(thread):
    """Where it is in the call; '' if that is not known."""
    text = f", by {thread.impl}" if thread.impl and thread.now.kind == "collective" else ""
    if thread.impl == "mpi" and text:
        text = ", in the MPI's own call"
    if thread.rounds:
        text += f", in round {thread.round} of {thread.rounds}"
    if thread.waits_for is not None:
        text += f", waits for rank {thread.waits_for}"
        if thread.now.members and 0 <= thread.waits_for < len(thread.now.members):
            there = thread.now.members[thread.waits_for]
            text += f" ({there} of MPI_COMM_WORLD)" * (there != thread.waits_for)
    return text


NOWHERE = {
    "silent": "did not answer: stopped, or not scheduled on its host",
    "finalized": "has been in MPI_Finalize, or has ended",
    "ended": "ended without MPI_Finalize",
    "unknown": "has never answered: MPI_Init was not reached, or there is no connection",
}


def outside(thread):
    """Where a thread is that is in no call that is known."""
    if thread.all_seen:
        return "computing, in no call of the MPI"
    return "computing, or in a call that crestacoll does not see"


def of_all(ranks, what):
    """What was said of one of the ranks, said of all of them."""
    many = len(ranks) > 1 and what.startswith("has ")
    return what.replace("has ", "have ", 1) if many else what


def place(process):
    """What a process is in, for a list."""
    if process.state != "there":
        return NOWHERE[process.state]
    thread = process.thread
    if thread is None:
        return "in no call that crestacoll sees, and was in none before"
    if not thread.inside:
        return f"{outside(thread)}; the last was {call(thread.now)}{at(thread)}"
    text = f"in {call(thread.now)}{at(thread)}{step(thread)}"
    if thread.now.kind == "requests" and thread.begun is not None:
        text += f"; the last collective that it began: {call(thread.begun)}"
    return text
