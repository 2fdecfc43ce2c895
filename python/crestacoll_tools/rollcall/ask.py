# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll hang` asks `crestacoll run`, which asks all ranks, or else the ranks of this host."""

import selectors
import time

from crestacoll_tools.rollcall import records, sockets
from crestacoll_tools.rollcall.records import Process

RANKS_S = 5  # for the ranks to answer; a rank that is stopped never does
RUN_S = 20  # for `crestacoll run`, which waits for its ranks


def read_all(connection):
    parts = []
    while part := receive(connection):
        parts.append(part)
    return b"".join(parts).decode(errors="replace")


def of_run(pid, tree):
    """The processes that the `crestacoll run` above, at or below a process knows; None if there is
    none.
    """
    listening = sockets.names()
    for candidate in [pid, *sockets.ancestors(pid, tree), *sockets.descendants(pid, tree)[1:]]:
        connection = sockets.connect("run", candidate, listening, RUN_S)
        if connection is not None:
            with connection:  # to connect is to ask
                return from_run(read_all(connection))
    return None


def from_run(text):
    """The processes of an answer of `crestacoll run`: each with a line `state` before it."""
    found = []
    for part in text.split("state\t")[1:]:
        head, _, body = part.partition("\n")
        process = records.answer(body)
        if process is not None:
            process.state = head
            found.append(process)
    return found


def of_ranks(pid, tree):
    """The ranks among a process and what it has started, on this host."""
    found, waiting, listening = [], selectors.DefaultSelector(), sockets.names()
    for candidate in sockets.descendants(pid, tree):
        connection = sockets.connect("rank", candidate, listening, RANKS_S)
        if connection is not None:
            connection.sendall(b"tell\n")
            waiting.register(connection, selectors.EVENT_READ, (candidate, []))
    end = time.monotonic() + RANKS_S
    while waiting.get_map() and time.monotonic() < end:
        for key, _ in waiting.select(max(0, end - time.monotonic())):
            part = receive(key.fileobj)
            key.data[1].append(part)
            if not part:
                waiting.unregister(key.fileobj)
                key.fileobj.close()
                found += filter(None, [records.answer(b"".join(key.data[1]).decode())])
    for key in list(waiting.get_map().values()):
        found.append(Process(-1, -1, pid=key.data[0], host="this host", state="silent"))
        key.fileobj.close()
    return found


def receive(connection):
    try:
        return connection.recv(1 << 16)
    except OSError:
        return b""


def processes(pid):
    """The processes of the job of a process, by whichever way there is; [] if nobody answers."""
    tree = sockets.parents()
    found = of_run(pid, tree)
    return found if found is not None else of_ranks(pid, tree)
