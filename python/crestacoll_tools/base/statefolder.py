# SPDX-License-Identifier: BSD-3-Clause
"""A folder with a state.json that says how far a long command has come: it can be interrupted, and
go on.
"""

import contextlib
import datetime
import fcntl
import json
import os
from pathlib import Path

from crestacoll import __version__
from crestacoll_tools.base import outputs
from crestacoll_tools.base.ui import USAGE, Problem

FILE = "state.json"
LOCK = "lock"


def locked(folder):
    """The open file that says that this process works in a folder. The kernel takes the lock away
    when the process ends, however it ends, and what it started does not inherit it. File systems
    without locks have none.
    """
    try:
        file = open(folder / LOCK, "a+", encoding="utf-8", errors="replace")
    except OSError as e:
        raise Problem(f"cannot write {folder / LOCK}: {e.strerror}") from e
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as e:
        file.seek(0)
        who = file.read().strip() or "another process"
        file.close()
        raise Problem(
            f"{who} is working in {folder}: wait until it has ended, or name another folder by"
            " --output",
            exit_code=USAGE,
        ) from e
    except OSError:
        return file
    file.truncate(0)
    file.write(f"process {os.getpid()} on {os.uname().nodename}\n")
    file.flush()
    return file


class StateFolder:
    """`data` is all of state.json. A command has a class of its own with SCHEMA, the name of the
    format, and HOLDS, what such a folder holds.
    """

    SCHEMA = HOLDS = ""

    def __init__(self, folder, data, lock=None):
        self.folder, self.data, self.lock = Path(folder), data, lock

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Another command may work in the folder from now on."""
        if self.lock is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self.lock.fileno(), 0)
            self.lock.close()
            self.lock = None

    @classmethod
    def new(cls, folder, data):
        """An empty one; what is already in the folder is not touched."""
        folder = Path(folder).absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise Problem(f"cannot make the folder {folder}: {e.strerror}") from e
        lock = locked(folder)
        if (folder / FILE).exists():
            lock.close()
            raise Problem(
                f"{folder} already holds {cls.HOLDS}: --resume goes on with it, --output OTHER"
                " begins another",
                exit_code=USAGE,
            )
        now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        head = {"schema": cls.SCHEMA, "crestacoll": __version__, "date": now}
        made = cls(folder, head | {"spent_s": 0.0, "ended": ""} | data, lock)
        made.save()
        return made

    @classmethod
    def resumed(cls, folder):
        """That of a folder, as it was left."""
        folder = Path(folder).absolute()
        if not (folder / FILE).exists():
            raise Problem(
                f"nothing to resume: {folder} has no {FILE}: name the folder of"
                f" {cls.HOLDS} by --output",
                exit_code=USAGE,
            )
        lock = locked(folder)
        try:
            data = json.loads((folder / FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as e:
            raise Problem(f"{folder / FILE} cannot be read: {e}") from e
        if not isinstance(data, dict) or data.get("schema") != cls.SCHEMA:
            raise Problem(
                f"{folder / FILE} is of another command, or of another version of crestacoll"
            )
        return cls(folder, data, lock)

    def save(self):
        """A reader, or we after a kill, find the old file or the new one."""
        outputs.write_text(self.folder / FILE, json.dumps(self.data, indent=1) + "\n")
