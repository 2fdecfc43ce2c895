# SPDX-License-Identifier: BSD-3-Clause
"""Names of the sockets of a roll-call, and the processes of a job on this host. Unix sockets
without a file (their names begin with a 0) leave nothing behind.
"""

import contextlib
import os
import socket
import struct
from pathlib import Path


def of_rank(pid):
    """Where a process of a job answers (src/rollcall/address.h)."""
    return f"\0crestacoll-rank-{pid}"


def of_run(pid):
    """Where `crestacoll run` answers for all ranks of its job."""
    return f"\0crestacoll-run-{pid}"


def is_ours(connection):
    """Whether the other end of a Unix socket belongs to this user or to root."""
    size = struct.calcsize("3i")
    _, uid, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    )
    return uid in (os.geteuid(), 0)


def connect(name, timeout):
    """A connection to a Unix socket; None if nobody of this user listens there."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    with contextlib.suppress(OSError):
        connection.connect(name)
        if is_ours(connection):
            return connection
    connection.close()
    return None


def parents():
    """{process: its parent} of this host."""
    found = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # the name of the program, in parentheses, may hold anything
                words = (path / "stat").read_text(errors="replace").rpartition(")")[2].split()
                found[int(path.name)] = int(words[1])
    return found


def descendants(pid, tree):
    """A process and what it has started, as far as they are still its own."""
    found, added = [pid], [pid]
    children = {}
    for child, parent in tree.items():
        children.setdefault(parent, []).append(child)
    while added:
        added = [c for p in added for c in children.get(p, []) if c not in found]
        found += added
    return found


def ancestors(pid, tree):
    found = []
    while pid in tree and tree[pid] > 1 and tree[pid] not in found:
        pid = tree[pid]
        found.append(pid)
    return found
