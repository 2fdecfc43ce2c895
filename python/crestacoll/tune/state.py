# SPDX-License-Identifier: BSD-3-Clause
"""What `crestacoll tune` keeps in its folder, so that it can be interrupted and go on."""

import datetime
import json
import os
from pathlib import Path

from crestacoll import __version__
from crestacoll.tune import grid
from crestacoll.ui import USAGE, Problem

SCHEMA = "crestacoll-tune-1"
FILE = "state.json"


class State:
    """DIR/state.json. `data["points"]` is the grid; a point has cells, one for each size:
    {"bytes", "found": {implementation: difference}, "candidate", "arms", "proof": difference}.
    """

    def __init__(self, folder, data):
        self.folder, self.data = Path(folder), data

    def save(self):
        """A reader, or we after a kill, find the old file or the new one."""
        path = self.folder / FILE
        made = path.with_suffix(".new")
        try:
            made.write_text(json.dumps(self.data, indent=1) + "\n", encoding="utf-8")
            os.replace(made, path)
        except OSError as e:
            raise Problem(f"cannot write {path}: {e.strerror}") from e

    @property
    def points(self):
        return self.data["points"]

    @property
    def open_points(self):
        return [p for p in self.points if not p["done"]]


def new(folder, options):
    """An empty one; what is already in the folder is not touched."""
    folder = Path(folder).absolute()
    if (folder / FILE).exists():
        raise Problem(
            f"{folder} already holds a tuning: --resume goes on with it, --output OTHER begins"
            " another",
            exit_code=USAGE,
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise Problem(f"cannot make the folder {folder}: {e.strerror}") from e
    now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    data = {"schema": SCHEMA, "crestacoll": __version__, "date": now, "options": options}
    data |= {"mpi_library": None, "hosts": None, "spent_s": 0.0, "ended": "", "others": None}
    made = State(folder, data | {"points": grid.points(options)})
    made.save()
    return made


def resumed(folder):
    """That of a folder, with its own options."""
    folder = Path(folder).absolute()
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except OSError as e:
        raise Problem(
            f"nothing to resume in {folder}: {FILE}: {e.strerror}", exit_code=USAGE
        ) from e
    except ValueError as e:
        raise Problem(f"{folder / FILE} cannot be read: {e}") from e
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise Problem(f"{folder / FILE} is of another version of crestacoll")
    for point in data["points"]:  # those without enough rounds are measured again
        point["done"] = point["done"] and not point["short"]
    return State(folder, data)
