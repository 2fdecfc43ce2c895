# SPDX-License-Identifier: BSD-3-Clause
"""A point is calls of one collective, size, communicator and number of ranks. Which rule wins at
it, as the library decides (src/tune/rules.h).
"""

import re
from dataclasses import dataclass

from crestacoll_tools.base.sizes import format_class, parse_size
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import USAGE, Problem
from crestacoll_tools.base.wildcards import common
from crestacoll_tools.rules import tuning
from crestacoll_tools.rules.collectives import REDUCTIONS, UNSIZED

RULE = re.compile(
    r"(?P<collective>\*|\w+)(?:\[(?P<bytes>[^\]]*)\])?(?:\((?P<ranks>[^)]*)\))?"
    r"(?:\{(?P<braces>[^}]*)\})?(?:@(?P<communicator>[^=]*))?=(?P<implementation>.+)",
    re.DOTALL,
)
ASKED = re.compile(
    r"(?P<collective>\w+)(?:\[(?P<bytes>[^\]]*)\])?(?:\((?P<ranks>\d+)\))?"
    r"(?:@(?P<communicator>.+))?",
    re.DOTALL,
)
FORM = (
    "write COLLECTIVE [SIZE bytes] [N ranks] [comm NAME], such as 'allreduce 8 bytes 4 ranks comm"
    " world', or as in a rule: 'allreduce[8](4)@world'"
)


@dataclass
class Point:
    """None: any. `high` is None without a limit; without sizes `low` is None, too."""

    collective: str
    low: int | None = None
    high: int | None = None
    ranks: int | None = None
    communicator: str | None = None

    def __str__(self):
        size = "" if self.low is None else f" of {format_class(self.low, self.high)} bytes"
        ranks = "" if self.ranks is None else f", {counted(self.ranks, 'rank')}"
        name = f", communicator {self.communicator}" if self.communicator else ""
        return f"{self.collective}{size}{ranks}{name}"

    def covers(self, other):
        """True if this point, which a user asks for, means calls of `other`."""
        if other.collective == "*":
            return True
        sizes = self.low is None or (
            other.low is not None
            and other.low <= self.low
            and (other.high is None or self.low <= other.high)
        )
        names = self.communicator is None or other.communicator in (
            self.communicator,
            {"world": "MPI_COMM_WORLD", "self": "MPI_COMM_SELF"}.get(self.communicator),
        )
        return (
            other.collective == self.collective
            and sizes
            and self.ranks in (None, other.ranks)
            and names
        )


def parse_point(text, collectives):
    """What --point says. `collectives` are those that exist; None: not known."""
    words = text.split()
    found = ASKED.fullmatch(words[0]) if words else None
    if found is None or not known(found["collective"], collectives):
        raise Problem(f"--point '{text}': no collective in front; {FORM}", USAGE)
    try:
        low, high = sizes_of(found["bytes"])
        point = Point(found["collective"].lower(), low, high, None, found["communicator"])
        point.ranks = int(found["ranks"]) if found["ranks"] else None
        rest(point, words[1:])
    except ValueError as e:
        raise Problem(f"--point '{text}': {e}; {FORM}", USAGE) from e
    return point


def known(name, collectives):
    return collectives is None or name.lower() in collectives


def sizes_of(text):
    if not text:
        return None, None
    low, dash, high = text.partition("-")
    last = low if not dash else high
    return parse_size(low), None if last == tuning.INF else parse_size(last)


def rest(point, words):
    """8 bytes 4 ranks comm world"""
    while words:
        if words[0] in ("comm", "communicator", "on") and len(words) > 1:
            point.communicator = " ".join(words[1:])
            return
        unit = words[1] if len(words) > 1 else ""
        if unit in ("ranks", "rank", "processes"):
            if not words[0].isdigit():
                raise ValueError(f"'{words[0]}' is not a number of ranks")
            point.ranks = int(words[0])
        else:
            point.low = point.high = parse_size(words[0])
        words = words[2:] if unit in ("ranks", "rank", "processes", "bytes", "byte") else words[1:]


def parse_rule(text):
    """A rule as in CRESTA_IMPL as one of a tuning file; None if it is none."""
    found = RULE.fullmatch(text.strip())
    if found is None:
        return None
    rule = {"collective": found["collective"].lower(), "implementation": found["implementation"]}
    for name, number in (("bytes", parse_size), ("ranks", int)):
        if found[name]:
            rule[name] = parse_ends(found[name], number)
    for condition in (found["braces"] or "").split("&"):
        name, _, value = (word.strip() for word in condition.partition("="))
        if name:
            rule[name] = value if name in tuning.CLASSES else parse_ends(value, int)
    if found["communicator"]:
        rule["communicator"] = found["communicator"]
    return rule


def parse_ends(text, number):
    """'8-inf' -> [8, "inf"]; '8' -> [8, 8]"""
    ends = [end.strip() for end in text.split("-")] if "-" in text else [text] * 2
    return [end if end == tuning.INF else number(end) for end in ends]


def matches(rule, point):
    """What the point leaves open matches: so do nodes, types and operations, which it never has.
    Types and operations are asked for in reductions only.
    """
    sizes, ranks = tuning.ends(rule, "bytes"), tuning.ends(rule, "ranks")
    if rule["collective"].lower() not in ("*", point.collective):
        return False
    if point.collective in UNSIZED and rule.get("bytes", [0, tuning.INF]) != [0, tuning.INF]:
        return False
    if point.collective not in REDUCTIONS and any(name in rule for name in tuning.CLASSES):
        return False
    high = point.high if point.high is not None else float("inf")
    if point.low is not None and not tuning.intersect(sizes, (point.low, high)):
        return False
    if point.ranks is not None and not ranks[0] <= point.ranks <= ranks[1]:
        return False
    pattern = rule.get("communicator", "*")
    if point.communicator is None or pattern == "*":
        return True
    names = {point.communicator, {"world": "MPI_COMM_WORLD"}.get(point.communicator, "")}
    return any(common(pattern, name.replace("*", "?")) for name in names if name)  # no pattern


def winner(rules, point):
    """(the first rule that matches or None, those behind it that would match too)"""
    found = [rule for rule in rules if matches(rule, point)]
    return (found[0], found[1:]) if found else (None, [])


def implementation_at(texts, point):
    """What rules as in CRESTA_IMPL choose at a point."""
    rule, _ = winner([r for r in map(parse_rule, texts) if r], point)
    return rule["implementation"] if rule else "mpi"


def size_text(point):
    if point.low is None:
        return "-"
    return format_class(point.low, point.high)
