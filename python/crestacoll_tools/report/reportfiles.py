# SPDX-License-Identifier: BSD-3-Clause
"""The files that a report is made of: what each is, read and checked."""

from dataclasses import dataclass
from pathlib import Path

from crestacoll_tools import schemas
from crestacoll_tools.base import outputs
from crestacoll_tools.base.ui import USAGE, Problem
from crestacoll_tools.explore import verdict
from crestacoll_tools.profile import iorecords, profiles
from crestacoll_tools.rules import tuning

STATE = "crestacoll-explore-1"  # state.json of an exploration; its result is a member
KINDS = {
    **dict.fromkeys(profiles.SCHEMAS, "profile"),
    iorecords.SCHEMA: "io",
    "crestacoll-bench-1": "bench",
    "crestacoll-overlap-1": "overlap",
    verdict.OLD: "explore",
    verdict.SCHEMA: "explore",
    STATE: "explore",
}
KNOWN = (
    "a profile, a record of MPI-IO, a result of bench, overlap or explore, or the folder of an"
    " exploration"
)


@dataclass
class Source:
    """A file by its name on the command line, its kind and what is in it. An exploration may have a
    folder, with the state that its result is part of.
    """

    name: str
    kind: str
    data: dict
    folder: Path | None = None
    state: dict | None = None

    @property
    def what(self):
        """In a message."""
        return "a record of MPI-IO" if self.kind == "io" else f"a result of {self.kind}"


class Side(outputs.Input):
    """A profile to compare, or a folder of profiles."""

    def names(self, path):
        return [str(file) for file in json_files(path)]


def json_files(name):
    """The file, or those of a folder, in the order of their names."""
    path = Path(name)
    return sorted(path.glob("*.json")) if path.is_dir() else [path]


def profiles_of(name, asked="--compare"):
    """The Sources of a profile or of a folder of profiles; `asked`: by which option. Raises
    Problem.
    """
    sources = [read(file) for file in json_files(name)]
    if not sources:
        raise Problem(f"{name}: there is no profile (*.json) in this folder", USAGE)
    for source in sources:
        if source.kind != "profile":
            raise Problem(f"{source.name} is {source.what}: {asked} is for profiles", USAGE)
    return sources


def is_tuning(name):
    """True for what says that it is a tuning file, right or not."""
    path = Path(name)
    if path.is_dir():
        return False
    return read_any(path)[1] == tuning.SCHEMA


def read_any(name):
    """(what is in a JSON file, or in the state.json of a folder; the name of its format or None)"""
    path = Path(name)
    data = profiles.read_json(path / "state.json" if path.is_dir() else path)
    schema = data.get("schema") if isinstance(data, dict) else None
    return data, schema if isinstance(schema, str) else None


def read(name):
    """The Source of a file, or of the folder of an exploration. Raises Problem."""
    path = Path(name)
    data, schema = read_any(path)
    if path.is_dir():
        path = path / "state.json"
    if schema not in KINDS:
        raise Problem(f"{name}: report cannot read this: expected {KNOWN}")
    folder = state = None
    if schema == STATE:
        folder, state, data = path.parent, data, data.get("result")
        if not data:
            raise Problem(f"{name}: this exploration has no result yet; explore --resume goes on")
    kind = KINDS[schema]
    data = verdict.upgraded(data) if kind == "explore" else data
    if kind == "profile":
        return Source(str(name), kind, profiles.checked(path, data))
    if kind == "io":
        return Source(str(name), kind, iorecords.checked(path, data))
    wrong = schemas.problems(kind, data)
    if wrong:
        raise Problem(f"{path} does not follow the schema of {kind} results: {wrong[0]}")
    return Source(str(name), kind, data, folder, state)
