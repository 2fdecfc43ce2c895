# SPDX-License-Identifier: BSD-3-Clause
"""A folder with a state.json that says how far a long command has come: it can be interrupted, and
go on.
"""

import datetime
import json
import os
from pathlib import Path

from crestacoll import __version__
from crestacoll.ui import USAGE, Problem

FILE = "state.json"


class StateFolder:
    """`data` is all of state.json. A command has a class of its own with SCHEMA, the name of the
    format, and HOLDS, what such a folder holds.
    """

    SCHEMA = HOLDS = ""

    def __init__(self, folder, data):
        self.folder, self.data = Path(folder), data

    @classmethod
    def new(cls, folder, data):
        """An empty one; what is already in the folder is not touched."""
        folder = Path(folder).absolute()
        if (folder / FILE).exists():
            raise Problem(
                f"{folder} already holds {cls.HOLDS}: --resume goes on with it, --output OTHER"
                " begins another",
                exit_code=USAGE,
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise Problem(f"cannot make the folder {folder}: {e.strerror}") from e
        now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        head = {"schema": cls.SCHEMA, "crestacoll": __version__, "date": now}
        made = cls(folder, head | {"spent_s": 0.0, "ended": ""} | data)
        made.save()
        return made

    @classmethod
    def resumed(cls, folder):
        """That of a folder, as it was left."""
        folder = Path(folder).absolute()
        try:
            data = json.loads((folder / FILE).read_text(encoding="utf-8"))
        except OSError as e:
            raise Problem(
                f"nothing to resume in {folder}: {FILE}: {e.strerror}", exit_code=USAGE
            ) from e
        except ValueError as e:
            raise Problem(f"{folder / FILE} cannot be read: {e}") from e
        if not isinstance(data, dict) or data.get("schema") != cls.SCHEMA:
            raise Problem(
                f"{folder / FILE} is of another command, or of another version of crestacoll"
            )
        return cls(folder, data)

    def save(self):
        """A reader, or we after a kill, find the old file or the new one."""
        path = self.folder / FILE
        made = path.with_suffix(".new")
        try:
            made.write_text(json.dumps(self.data, indent=1) + "\n", encoding="utf-8")
            os.replace(made, path)
        except OSError as e:
            raise Problem(f"cannot write {path}: {e.strerror}") from e
