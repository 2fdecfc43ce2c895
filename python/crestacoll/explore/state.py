# SPDX-License-Identifier: BSD-3-Clause
"""What an exploration keeps in its folder, so that an interrupted one goes on."""

import datetime
import json
import os
from pathlib import Path

from crestacoll import __version__, race
from crestacoll.explore.arms import Choice, Point
from crestacoll.ui import USAGE, Problem

SCHEMA = "crestacoll-explore-1"
FILE = "state.json"


class State:
    """DIR/state.json, and below it one folder for each run of the program."""

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
        return [Point(**p) for p in self.data["points"]]

    def stage(self, name):
        """What is known of one part of the work."""
        new = {"done": False, "runs": [], "arms": [], "failed": [], "suspects": []}
        new |= {"good": 0, "missed": 0}  # runs that did not fail, that found no step
        stage = self.data["stages"].setdefault(name, {})
        for key, value in new.items():
            stage.setdefault(key, value)
        return stage

    def new_run(self, stage):
        """(number, folder) of the next run; it is noted before it starts, so that what an
        interrupted one wrote counts.
        """
        number = self.data["runs"] + 1
        self.data["runs"] = number
        self.stage(stage)["runs"].append(number)
        self.save()
        self.run_folder(number).mkdir(parents=True, exist_ok=True)
        return number, self.run_folder(number)

    def run_folder(self, number):
        return self.folder / "runs" / f"{number:03d}"

    def logs(self, stage):
        """What the library wrote in all runs of a race."""
        return [self.log(stage, n) for n in self.stage(stage)["runs"]]

    def log(self, stage, number):
        return race.read(self.run_folder(number) / "race.jsonl", self.names(stage))

    def names(self, stage):
        """Of all arms that a race ever had."""
        return [c["name"] for c in self.stage(stage)["arms"]]

    def rounds(self, stage, phase=None):
        return [r for log in self.logs(stage) for r in log.means(phase)]

    def choices(self, stage):
        return [choice_from(c) for c in self.stage(stage)["arms"]]

    @property
    def choice(self):
        """The best so far."""
        return choice_from(self.data["choice"])


def choice_from(data):
    return Choice(data["name"], tuple((i, how) for i, how in data["picks"]))


def choice_data(choice):
    return {"name": choice.name, "picks": [list(p) for p in choice.picks]}


def new(folder, command, options):
    """An empty exploration; what is already in the folder is not touched."""
    folder = Path(folder).absolute()
    if (folder / FILE).exists():
        raise Problem(
            f"{folder} already holds an exploration: --resume goes on with it, --output OTHER"
            " begins another",
            exit_code=USAGE,
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise Problem(f"cannot make the folder {folder}: {e.strerror}") from e
    made = State(
        folder,
        {
            "schema": SCHEMA,
            "crestacoll": __version__,
            "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "command": list(command),
            "options": options,
            "spent_s": 0.0,
            "ended": "",
            "runs": 0,
            "points": [],
            "choice": {"name": "mpi", "picks": []},
            "stages": {},
            "result": None,
        },
    )
    made.save()
    return made


def resumed(folder, command):
    """The exploration of a folder, if it is of this command; without one, its own."""
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
    if command and list(command) != data["command"]:
        raise Problem(
            f"{folder} holds an exploration of another command: {' '.join(data['command'])}",
            exit_code=USAGE,
        )
    return State(folder, data)
