# SPDX-License-Identifier: BSD-3-Clause
"""The folders of jobs in which black boxes are: one for each job, on a memory file system, in a
folder of the user's own.
"""

import contextlib
import json
import os
import secrets
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from crestacoll.autopsy import box
from crestacoll.ui import Problem

KEPT = 3  # jobs that did not end well
JOB = "job.json"


def root():
    """The user's folder; it need not be there."""
    memory = Path("/dev/shm")
    parent = memory if os.access(memory, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
    return parent / f"crestacoll-{os.getuid()}"


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
    if "CRESTA_BLACKBOX" in environment or (root().exists() and not is_own(root())):
        return {}
    return {"CRESTA_BLACKBOX": str(root() / secrets.token_hex(8))}


@dataclass
class Job:
    """The boxes of a job, by rank; what `run` knows of its end."""

    folder: Path
    boxes: list
    command: list | None = None
    code: int | None = None
    ended: float | None = None  # seconds since 1970

    @property
    def until(self):
        """The last moment that is known of it."""
        return self.ended or max(b.seen for b in self.boxes)

    @property
    def ranks(self):
        return max((b.ranks for b in self.boxes if not b.spawned), default=0)


def read(folder):
    """The Job of a folder; None if there is no box."""
    boxes = []
    for path in sorted(folder.iterdir() if folder.is_dir() else []):
        if path.name != JOB and path.is_file() and not path.is_symlink():
            with contextlib.suppress(FileNotFoundError):  # a process that ends now
                boxes.append(box.read(path))
    if not boxes:
        return None
    found = Job(folder, sorted(boxes, key=lambda b: (b.spawned, b.rank < 0, b.rank, b.pid)))
    with contextlib.suppress(OSError, ValueError):
        told = json.loads((folder / JOB).read_text(encoding="utf-8"))
        found.command, found.code, found.ended = told["command"], told["code"], told["ended"]
    return found


def newest():
    """The folder of the last job that left something; a Problem if there is none."""
    found = folders()
    if not found:
        raise Problem(
            f"no job left a black box in {root()}: `crestacoll run` with --profile, --report or"
            " --watchdog makes one, which stays if the job does not come to MPI_Finalize"
        )
    return found[-1]


def folders():
    """Those of jobs, the last one at the end."""
    if not is_own(root()):
        return []
    return sorted(filter(is_own, root().iterdir()), key=lambda path: path.stat().st_mtime_ns)


def lives(folder):
    """Whether a process of it may still run, on this host."""
    pids = [name.name.rpartition(".")[0].rpartition(".")[2] for name in folder.iterdir()]
    return any(pid.isdigit() and Path(f"/proc/{pid}").exists() for pid in pids)


def end(folder, command, code):
    """After a job: the Job if it left boxes, which stay; older ones go, but for some."""
    found = read(folder)
    if found is None:
        with contextlib.suppress(OSError):
            folder.rmdir()
            root().rmdir()
        return None
    found.command, found.code, found.ended = command, code, time.time()
    told = {"command": command, "code": code, "ended": found.ended}
    with contextlib.suppress(OSError):
        (folder / JOB).write_text(json.dumps(told), encoding="utf-8")
    for old in [f for f in folders() if f != folder and not lives(f)][: -(KEPT - 1)]:
        shutil.rmtree(old, ignore_errors=True)
    return found
