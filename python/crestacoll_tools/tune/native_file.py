# SPDX-License-Identifier: BSD-3-Clause
"""What `crestacoll tune --native` writes, and `crestacoll tuning export` reads: the algorithms of
the MPI below that were faster than its own choice.
"""

import json
from pathlib import Path

from crestacoll_tools.base import outputs
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.race.racestats import Difference
from crestacoll_tools.rules import tuning
from crestacoll_tools.tune import rules

SCHEMA = "crestacoll-native-1"
NAME = "native.json"


def winners(points):
    """One for each point and range of sizes: some pairs of jobs are not many, and export proves
    them again.
    """
    return [
        {
            "collective": p["collective"],
            "ranks": p["ranks"],
            "bytes": sizes and list(sizes),
            "algorithm": name,
            "earned": rules.earned(cells),
        }
        for p in points
        for name, sizes, cells in rules.spans(p, sure=False)
    ]


def everywhere(points):
    """One for each collective at most: what can be forced by a variable, which has no sizes. It
    wins somewhere and is slower nowhere.
    """
    found = []
    for collective in dict.fromkeys(p["collective"] for p in points):
        cells = [c for p in points if p["collective"] == collective for c in p["cells"]]
        ahead = [rules.winner(c, sure=False) for c in cells]
        usable = [n for n in dict.fromkeys(ahead) if n and never_slower(n, cells)]
        if usable:
            name = max(usable, key=ahead.count)
            ranks = sorted({p["ranks"] for p in points if p["collective"] == collective})
            sizes = sorted({c["bytes"] for c in cells})
            found.append(
                {"collective": collective, "ranks": ranks, "algorithm": name, "sizes": sizes}
            )
    return found


def never_slower(name, cells):
    known = [c["found"].get(name) for c in cells]
    return all(d is not None and not Difference(**d).slower for d in known)


def write(state, family):
    """DIR/native.json; (its path, its contents), or None and {} if no job has run yet."""
    data = state.data
    if data["mpi_library"] is None:
        return None, {}
    measured = [p for p in state.points if p["cells"]]
    made = {
        "schema": SCHEMA,
        "head": tuning.head(data["mpi_library"]) | {"hosts": state.most_hosts},
        "family": family,
        "winners": winners(measured),
        "everywhere": everywhere(measured),
    }
    path = state.folder / NAME
    outputs.write_text(path, json.dumps(made, indent=1) + "\n")
    return path, made


def read(path):
    """The contents of such a file."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as e:
        raise Problem(f"cannot read {path}: {e.strerror}") from e
    except ValueError as e:
        raise Problem(f"{path} is not a JSON file: {e}") from e
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise Problem(
            f"{path} has no algorithms of an MPI: `crestacoll tune --native` writes {NAME}"
            f" (schema {SCHEMA})"
        )
    return data


def words(winner):
    """allreduce[4K-64K](4): ring"""
    rule = {"collective": winner["collective"], "implementation": winner["algorithm"]}
    if winner.get("bytes"):
        rule["bytes"] = winner["bytes"]
    ranks = winner["ranks"] if isinstance(winner["ranks"], list) else [winner["ranks"]]
    return tuning.rule_text(rule | {"ranks": [ranks[0], ranks[-1]]})
