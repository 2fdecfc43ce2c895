# SPDX-License-Identifier: BSD-3-Clause
"""Tuning files: write, read, check, find, compare, merge. docs/reference/file-formats.md describes
them; src/tune/tuning.h is what ranks make of them.

A rule is a dictionary as in the file: collective, implementation; bytes, ranks, nodes and
ranks_per_node as [least, most] or [least, "inf"], type, operation, communicator, changes_rounding,
note, earned may be missing.
"""

import datetime
import json
import os
import sys
from pathlib import Path

from crestacoll import __version__, _wheel
from crestacoll_tools import schemas
from crestacoll_tools.base import outputs
from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.base.wildcards import common
from crestacoll_tools.builds import builds, machine

SCHEMA = "crestacoll-tuning-1"
NAME = "crestacoll.json"
MOST = 4 << 20  # bytes that the library reads
INF = "inf"
RANGES = ("bytes", "ranks", "nodes", "ranks_per_node")
CLASSES = ("type", "operation")
FORCE = "force:"  # in front of a file that is to be used on another machine, too
MEMBERS = [
    *("collective", "bytes", "ranks", "nodes", "ranks_per_node", "type", "operation"),
    *("communicator", "implementation"),
    *("changes_rounding", "note", "earned"),
]


def head(mpi_library):
    """The head of a file that is made here and now, for programs of an MPI that describes itself by
    `mpi_library` (MPI_Get_library_version).
    """
    about = machine.describe()
    return {
        "machine": {name: about[name] for name in ("cpu", "cores", "memory_gib", "system")},
        "mpi": machine.mpi_name(mpi_library),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "crestacoll": __version__,
    }


def problems(data):
    """What is wrong with the contents of a file, one line each."""
    found = schemas.problems("tuning", data)
    return found or [
        f"rules/{i}/{name}: {what}"
        for i, rule in enumerate(data["rules"])
        for name in RANGES
        for what in range_problems(rule.get(name, [0, INF]))
    ]


def range_problems(ends):
    """What a schema cannot say: 4096.0 counts as a whole number there, but is not read as one."""
    if any(isinstance(end, float) for end in ends):
        yield f"{ends} must be whole numbers, written in digits only"
    elif ends[1] != INF and ends[0] > ends[1]:
        yield f"{ends} ends before it begins"


def text_of(data):
    """A line for each rule, so that the line of a message names one."""
    rules = [
        "  " + json.dumps({k: rule[k] for k in sorted(rule, key=MEMBERS.index)}, allow_nan=False)
        for rule in data["rules"]
    ]
    made = json.dumps(data["head"], indent=1, allow_nan=False).replace("\n", "\n ")
    listed = "[\n" + ",\n".join(rules) + "\n ]" if rules else "[]"
    return f'{{\n "schema": "{SCHEMA}",\n "head": {made},\n "rules": {listed}\n}}\n'


def write(path, made, rules):
    """Writes a file, whole or not at all. `made` is its head; see head()."""
    data = {"schema": SCHEMA, "head": made, "rules": rules}
    wrong = problems(data)
    if wrong:
        raise ValueError(f"no tuning file: {wrong[0]}")
    text = text_of(data)
    if (size := len(text.encode())) > MOST:
        raise Problem(f"{path} would have {size} bytes; a tuning file has at most {MOST}")
    outputs.write_text(path, text)


def unique(pairs):
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f'"{name}" stands twice in an object')
    return dict(pairs)


def no_constant(name):
    raise ValueError(f"{name} is not a number of JSON")


def read(path):
    """The contents of a file, checked."""
    try:
        text = Path(path).read_bytes()
        if len(text) > MOST:
            raise Problem(f"{path} has {len(text)} bytes; a tuning file has at most {MOST}")
        data = json.loads(
            text.decode(), object_pairs_hook=unique, parse_constant=no_constant
        )
    except OSError as e:
        raise Problem(f"cannot read {path}: {e.strerror}") from e
    except json.JSONDecodeError as e:
        raise Problem(f"{path}: line {e.lineno}, column {e.colno}: {e.msg}") from e
    except UnicodeDecodeError as e:
        line, column = text.count(b"\n", 0, e.start) + 1, e.start - text.rfind(b"\n", 0, e.start)
        raise Problem(f"{path}: line {line}, byte {column}: not UTF-8") from e
    except (ValueError, RecursionError) as e:
        raise Problem(f"{path} is not a JSON file: {e}") from e
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise Problem(f"{path} is not a tuning file (schema {SCHEMA})")
    wrong = problems(data)
    if wrong:
        raise Problem(f"{path} does not follow the schema {SCHEMA}: {wrong[0]}")
    return data


def split(setting):
    """'force:FILE' -> ('force:', 'FILE')"""
    return (FORCE, setting[len(FORCE) :]) if setting.startswith(FORCE) else ("", setting)


def places():
    """Where `crestacoll run` looks for a file, in this order."""
    config = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    found = [Path(NAME), Path(config) / "crestacoll" / NAME]
    root = builds.ROOT
    if (root.parent.name, root.name) == ("lib", "crestacoll"):  # installed: PREFIX/lib/crestacoll
        found.append(root.parent.parent / "share" / "crestacoll" / NAME)
    elif _wheel.is_wheel():  # the environment that pip installed into
        found.append(Path(sys.prefix) / "share" / "crestacoll" / NAME)
    return found


def find():
    """The file that `crestacoll run` uses if nobody names one; None if there is none."""
    return next((path.absolute() for path in places() if path.is_file()), None)


def ends(rule, name):
    """The range of a rule as two numbers."""
    least, most = rule.get(name, [0, INF])
    return least, float("inf") if most == INF else most


def point(rule):
    """What a rule speaks of: rules of one point differ in their implementation only."""
    return (
        rule["collective"].lower(),
        ends(rule, "bytes"),
        ends(rule, "ranks"),
        rule.get("communicator", "*"),
        braces(rule),
    )


def braces(rule):
    """The conditions that CRESTA_IMPL has in braces: 'nodes=2-inf&type=floating', or ''."""
    words = [
        f"{name}={range_text(ends(rule, name), 1)}"
        for name in ("nodes", "ranks_per_node")
        if ends(rule, name)[0] > 1 or ends(rule, name)[1] != float("inf")
    ]
    return "&".join([*words, *(f"{name}={rule[name]}" for name in CLASSES if name in rule)])


# Classes of operations that no operation has together.
APART = (
    {"predefined", "user"},
    {"commutative", "noncommutative"},
    {"predefined", "noncommutative"},
    {"rounding", "user"},
    {"rounding", "noncommutative"},
)


def exclusive(a, b):
    """True if no call is of both types, or its operation of both classes."""
    types = {rule["type"] for rule in (a, b) if "type" in rule}
    return len(types) > 1 or {rule.get("operation") for rule in (a, b)} in APART


def intersect(one, other):
    return max(one[0], other[0]) <= min(one[1], other[1])


def overlap(a, b):
    """True if some call may match both rules."""
    names = {point(a)[0], point(b)[0]}
    return (
        (len(names) == 1 or "*" in names)
        and all(intersect(ends(a, name), ends(b, name)) for name in RANGES)
        and not exclusive(a, b)
        and common(a.get("communicator", "*"), b.get("communicator", "*"))
    )


def inside(one, other):
    return other[0] <= one[0] and one[1] <= other[1]


def shadowed(rules):
    """[(rule, earlier rule that takes all of its calls)]: rules that never win."""
    found = []
    for i, rule in enumerate(rules):
        for earlier in rules[:i]:
            if (
                point(earlier)[0] in ("*", point(rule)[0])
                and all(inside(ends(rule, name), ends(earlier, name)) for name in RANGES)
                and all(earlier.get(name, rule.get(name)) == rule.get(name) for name in CLASSES)
                and earlier.get("communicator", "*") in ("*", rule.get("communicator", "*"))
            ):
                found.append((rule, earlier))
                break
    return found


def merge(a, b):
    """Rules of `a` and then those of `b`; of one point only that of `a`. Returns the contents of
    the merged file; rules of `b` that were left out; pairs of rules that overlap, in which that of
    `a` wins.
    """
    same = [
        (a["head"]["machine"][name], b["head"]["machine"][name]) for name in ("cpu", "cores")
    ] + [(a["head"]["mpi"], b["head"]["mpi"])]
    for ours, theirs in same:
        if ours != theirs:
            raise Problem(f"they were made for different machines or MPIs: {ours} and {theirs}")
    taken = {point(rule) for rule in a["rules"]}
    left_out = [rule for rule in b["rules"] if point(rule) in taken]
    added = [rule for rule in b["rules"] if point(rule) not in taken]
    pairs = [(rule, other) for other in added for rule in a["rules"] if overlap(rule, other)]
    dates = max(a["head"]["date"], b["head"]["date"])
    merged = {"schema": SCHEMA, "head": a["head"] | {"date": dates}}
    return merged | {"rules": a["rules"] + added}, left_out, pairs


def diff(a, b):
    """[(point, rule of a or None, rule of b or None)] where the implementations differ."""
    ours, theirs = ({point(r): r for r in reversed(data["rules"])} for data in (a, b))
    return [
        (where, ours.get(where), theirs.get(where))
        for where in dict.fromkeys([*map(point, a["rules"]), *map(point, b["rules"])])
        if ours.get(where, {}).get("implementation")
        != theirs.get(where, {}).get("implementation")
    ]


def range_text(limits, least, number=str):
    """'4K-inf'; 'all' for a range that takes all."""
    if limits[0] <= least and limits[1] == float("inf"):
        return "all"
    low, high = (INF if end == float("inf") else number(end) for end in limits)
    return low if low == high else f"{low}-{high}"


def columns(rule):
    """Collective, bytes, ranks and communicator as words; conditions in braces with the first."""
    collective, sizes, ranks, communicator, more = point(rule)
    return (
        collective + (f"{{{more}}}" if more else ""),
        range_text(sizes, 0, format_size),
        range_text(ranks, 1),
        "all" if communicator == "*" else communicator,
    )


def rule_text(rule):
    """As in CRESTA_IMPL."""
    _, sizes, ranks, communicator = columns(rule)
    return (
        rule["collective"].lower()
        + ("" if sizes == "all" else f"[{sizes}]")
        + ("" if ranks == "all" else f"({ranks})")
        + (f"{{{braces(rule)}}}" if braces(rule) else "")
        + ("" if communicator == "all" else f"@{communicator}")
        + f"={rule['implementation']}"
    )
