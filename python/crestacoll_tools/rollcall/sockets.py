# SPDX-License-Identifier: BSD-3-Clause
"""The Unix sockets of a roll-call, and the processes of a job on this host. These sockets have no
file (their names begin with a 0), so that nothing stays behind. Their names are
crestacoll-rank-PID-HEX for a process of a job (src/rollcall/address.h), and crestacoll-run-PID-HEX
for `crestacoll run`: nobody can take a name first whose last part is random. Another user may
listen at a similar name: the kernel says whose socket it is.
"""

import contextlib
import os
import socket
import struct
from pathlib import Path

SOCKETS = Path("/proc/net/unix")


def name_of_run():
    """A name at which `crestacoll run` answers for all ranks of its job."""
    return f"\0crestacoll-run-{os.getpid()}-{os.urandom(8).hex()}"


def names():
    """Those on this host that begin as ours do."""
    try:
        text = SOCKETS.read_text(errors="replace")
    except OSError:
        return []
    found = (line.rpartition(" ")[2] for line in text.splitlines())
    return sorted({"\0" + name[1:] for name in found if name.startswith("@crestacoll-")})


def is_ours(connection):
    """Whether the other end of a Unix socket belongs to this user or to root."""
    size = struct.calcsize("3i")
    _, uid, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    )
    return uid in (os.geteuid(), 0)


def connect(kind, pid, listening, timeout):
    """A connection to a process that listens as `rank` or `run`; None if it does not. `listening`:
    names().
    """
    for name in listening:
        if name.startswith(f"\0crestacoll-{kind}-{pid}-"):
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
