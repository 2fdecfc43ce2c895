# SPDX-License-Identifier: BSD-3-Clause
"""Machine files: what a message, a copy and a reduction cost (docs/simulating.md)."""

import json
from pathlib import Path

from crestacoll_tools import schemas
from crestacoll_tools.base.ui import Problem

FOLDER = Path(__file__).parent / "machines"


def names():
    """The machines that come with crestacoll."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name):
    """The machine of that name, or of that file."""
    path = Path(name)
    if not path.exists() and name in names():
        path = FOLDER / f"{name}.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as e:
        known = f"; there are: {', '.join(names())}" if isinstance(e, FileNotFoundError) else ""
        raise Problem(f"cannot read the machine file {name}: {e}{known}") from e
    except ValueError as e:
        raise Problem(f"{path} is not a JSON file: {e}") from e
    wrong = schemas.problems("machine", data)
    if wrong:
        raise Problem(f"{path} is not a machine file: {'; '.join(wrong[:3])}")
    return data | {"file": str(name)}


def words(machine):
    """What crestacoll-simulate reads: network.latency=1e-06,..."""
    levels = machine["levels"].items()
    found = {f"{level}.{k}": v for level, costs in levels for k, v in costs.items()}
    for what in ("copy", "reduce"):
        found |= {f"{what}.{k}": v for k, v in machine.get(what, {}).items()}
    found["round"] = machine.get("round", 0)
    return ",".join(f"{k}={v!r}" for k, v in found.items())


def said_error(machine):
    """How far the simulated times of this machine are from measured ones."""
    fit = machine.get("fit")
    if not fit:
        return "error unknown: never compared with measured times"
    return (
        f"error {100 * fit['median']:.0f} % in the median, {100 * fit['worst']:.0f} % at worst,"
        f" at {fit['points']} measured points"
    )
