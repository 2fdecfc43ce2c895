# SPDX-License-Identifier: BSD-3-Clause
"""What an exploration keeps in its folder, so that an interrupted one goes on."""

from crestacoll_tools.base.statefolder import StateFolder
from crestacoll_tools.base.ui import USAGE, Problem
from crestacoll_tools.explore.arms import Choice, Point
from crestacoll_tools.race import race


class State(StateFolder):
    """Below the folder there is one for each run of the program."""

    SCHEMA, HOLDS = "crestacoll-explore-1", "an exploration"

    def __init__(self, folder, data, lock=None):
        super().__init__(folder, data, lock)
        self.tails = {}  # of the logs that were asked for: each line is read once

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

    def stage_of(self, name, arms):
        """As `stage`, for these arms: what was found about others is forgotten."""
        if self.stage(name)["arms"] not in ([], arms):
            del self.data["stages"][name]
        self.stage(name)["arms"] = arms
        return self.stage(name)

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
        names = self.names(stage)
        key = number, tuple(names)
        if key not in self.tails:
            self.tails[key] = race.Tail(self.run_folder(number) / "race.jsonl", names)
        self.tails[key].read()
        return self.tails[key].log

    def names(self, stage):
        """Names of all arms that a race ever had."""
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
    """An exploration of which nothing is known yet."""
    data = {"command": list(command), "options": options, "runs": 0, "points": []}
    data |= {"choice": {"name": "mpi", "picks": []}, "stages": {}, "result": None}
    return State.new(folder, data)


def resumed(folder, command):
    """The exploration of a folder, if it is of this command; without one, its own."""
    found = State.resumed(folder)
    if command and list(command) != found.data["command"]:
        raise Problem(
            f"{found.folder} holds an exploration of another command:"
            f" {' '.join(found.data['command'])}",
            exit_code=USAGE,
        )
    return found
