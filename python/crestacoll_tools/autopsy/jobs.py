# SPDX-License-Identifier: BSD-3-Clause
"""The folders of jobs in which black boxes are. While a job runs, its folder is on a memory file
system. When it has died, `run` moves the boxes to a folder on disk.
"""

import contextlib
import json
import os
import shutil
import socket
import stat
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from crestacoll_tools.autopsy import box
from crestacoll_tools.autopsy.ends import Ends
from crestacoll_tools.base.ui import Problem

KEPT = 3  # jobs that did not end well
WEEK_S = 7 * 24 * 3600  # after which boxes go that no `run` has moved
JOB = "job.json"
BLOCK = 4096


def root():
    """The user's folder of jobs that run; it need not be there."""
    memory = Path("/dev/shm")
    parent = memory if os.access(memory, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
    return parent / f"crestacoll-{os.getuid()}"


def store():
    """The user's folder of jobs that have died; it need not be there."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "crestacoll" / "jobs"


def is_own(folder):
    """Whether nobody else can have made it, or write there."""
    try:
        s = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(s.st_mode) and s.st_uid == os.getuid() and not s.st_mode & 0o022


def setting(environment):
    """{CRESTA_BLACKBOX: folder} for a job; {} if the environment says where, or if the user's
    folder is somebody else's.
    """
    if "CRESTA_BLACKBOX" in environment:
        return {}
    with contextlib.suppress(OSError):
        root().mkdir(mode=0o700)
    if not is_own(root()):
        return {}
    return {"CRESTA_BLACKBOX": str(root() / os.urandom(8).hex())}


def has_left(settings):
    """After a job: whether there is a box in the folder that `setting` has named. One without goes.
    """
    folder = Path(settings.get("CRESTA_BLACKBOX", ""))
    if folder.parent != root():
        return False
    with contextlib.suppress(OSError):
        folder.rmdir()
        root().rmdir()
    return any_boxes(folder)


@dataclass
class Job:
    """The boxes of a job, by rank; what `run` knows of its end."""

    folder: Path
    boxes: list
    unread: list  # why a file could not be read
    command: list | None = None
    code: int | None = None
    ended: float | None = None  # seconds since 1970; of a job that runs, when this was read
    runs: bool = False  # a process of it may still run, on this host
    ends: Ends = field(default_factory=Ends)  # of processes of this host

    def is_known(self, box):
        """Whether it is known when a process was last there; hosts have clocks of their own."""
        return self.ended is not None and box.host == socket.gethostname()

    def until(self, box):
        """The last moment that is known of it on the host of a process."""
        if self.is_known(box):
            return self.ended
        return max(b.seen for b in self.boxes if b.host == box.host)

    @property
    def ranks(self):
        return max((b.ranks for b in self.boxes if not b.spawned), default=0)


def read(folder):
    """The Job of a folder; None if there is no box."""
    boxes, unread = [], []
    for path in files(folder):
        try:
            boxes.append(box.read(path))
        except FileNotFoundError:  # a process that ends now
            continue
        except (Problem, OSError) as e:
            unread.append(str(e))
    if unread and not boxes:
        raise Problem(unread[0])
    if not boxes:
        return None
    boxes.sort(key=lambda b: (b.spawned, b.rank < 0, b.rank, b.pid))
    found = Job(folder, boxes, unread)
    told = told_of(folder)
    found.command, found.code, found.ended = (told.get(k) for k in ("command", "code", "ended"))
    if "ends" in told:
        found.ends = Ends.of_dict(told["ends"])
    if runs(folder):
        found.runs, found.ended = True, time.time()
    return found


def of_processes(pids):
    """The Job that has one of these processes of this host; None if no box is of any, or if the
    process will answer a roll-call.
    """
    for folder in folders():
        of_it = pids & {number for number in map(process_of, names(folder)) if number}
        if of_it and not any(map(has_watchdog, of_it)):
            return read(folder)
    return None


def has_watchdog(pid):
    with contextlib.suppress(OSError):
        return b"CRESTA_WATCHDOG" in Path(f"/proc/{pid}/environ").read_bytes()
    return False


def told_of(folder):
    """What `run` wrote at the end of a job; {} if it did not."""
    with contextlib.suppress(OSError, ValueError):
        told = json.loads((folder / JOB).read_text(encoding="utf-8"))
        return told if isinstance(told, dict) else {}
    return {}


def newest():
    """The folder of the last job that left something: one that was started where this process is,
    or else any, or one that runs. A Problem if there is none.
    """
    found = [folder for folder in folders() if any_boxes(folder)]
    found.sort(key=lambda folder: (told_of(folder).get("cwd") == os.getcwd(), not runs(folder)))
    if not found:
        raise Problem(
            f"no job left a black box in {store()} or {root()}: `crestacoll run` with --profile,"
            " --report or --watchdog makes one, which stays if the job does not come to"
            " MPI_Finalize"
        )
    return found[-1]


def folders(parents=None):
    """Those of jobs, the last one at the end."""
    found = []
    for parent in parents or (root(), store()):
        with contextlib.suppress(OSError):
            for folder in parent.iterdir() if is_own(parent) else []:
                with contextlib.suppress(OSError):  # it goes at the end of a job
                    found += [(folder.stat().st_mtime_ns, folder)] if is_own(folder) else []
    return [folder for _, folder in sorted(found)]


def names(folder):
    with contextlib.suppress(OSError):
        return [path.name for path in folder.iterdir()]
    return []


def files(folder):
    """Those that may be boxes."""
    paths = (folder / name for name in sorted(names(folder)) if name != JOB)
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def any_boxes(folder):
    return any(name != JOB for name in names(folder))


def runs(folder):
    """Whether the job does: not if its ranks are only on their way out."""
    return not told_of(folder) and lives(folder)


def lives(folder):
    """Whether a process of it may still run, on this host."""
    pids = map(process_of, names(folder))
    return any(pid and Path(f"/proc/{pid}").exists() for pid in pids)


def process_of(name):
    """The process of this host that a file of this name is of; None if it is of none."""
    parts = name.rsplit(".", 2)
    if len(parts) != 3 or parts[0] != socket.gethostname() or not parts[1].isdigit():
        return None
    return int(parts[1])


def end(folder, command, code, ends=None):
    """After a job: the Job if it left boxes, which are in the user's store then. `ends`: what was
    seen of them.
    """
    if not is_own(root()) or not is_own(folder):
        return None
    found = read(folder)
    if found is None:
        return None
    found.command, found.code, found.ended = command, code, time.time()
    found.ends = ends or Ends()
    found.runs = False  # also where a launcher has not waited for its ranks
    told = {"command": command, "code": code, "ended": found.ended, "cwd": os.getcwd()}
    told["ends"] = found.ends.as_dict()
    move(folder, told)
    prune()
    return found


def move(folder, told):
    """From memory to the store, with what `run` knows of the job."""
    kept = store() / folder.name
    kept.mkdir(mode=0o700, parents=True)
    for file in files(folder):
        copy(file, kept / file.name)
    (kept / JOB).write_text(json.dumps(told), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        root().rmdir()


def copy(box_file, to):
    """Most of a box was never written, and takes no room."""
    data = box_file.read_bytes()
    with open(to, "xb") as file:
        for at in range(0, len(data), BLOCK):
            block = data[at : at + BLOCK]
            if block.strip(b"\0"):
                file.seek(at)
                file.write(block)
        file.truncate(len(data))


def prune():
    """Removes the boxes of all jobs that have died but the last ones."""
    now = time.time()
    with contextlib.suppress(OSError):
        old = [f for f in folders([root()]) if now - f.stat().st_mtime > WEEK_S and not lives(f)]
        for folder in [*old, *folders([store()])[:-KEPT]]:
            shutil.rmtree(folder, ignore_errors=True)
