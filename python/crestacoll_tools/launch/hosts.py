# SPDX-License-Identifier: BSD-3-Clause
"""The hosts of a job and how many ranks each takes, from --hosts or from a host file."""

import re
from dataclasses import dataclass
from pathlib import Path

from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import USAGE, Problem

MOST = 1 << 20  # slots of a job
PART = re.compile(r"(\d+)x(\d+)", re.IGNORECASE)
LINE = re.compile(r"(?P<name>[^\s:,=]+)(?::(?P<colon>\d+))?(?P<rest>(?:\s+[\w-]+=\S+)*)\s*$")


@dataclass
class Host:
    """A host, and the ranks that it takes. `named`: the name is that of a machine."""

    name: str
    slots: int
    named: bool = True


def of_words(text):
    """Hosts of '4x16', or '2x16,1x8': how many hosts times how many slots. They have no names."""
    sizes = []
    for part in text.split(","):
        found = PART.fullmatch(part.strip())
        if not found or not int(found[1]) or not int(found[2]):
            raise Problem(f"--hosts {text}: '{part}' is not HOSTSxSLOTS, such as 4x16", USAGE)
        if len(sizes) + int(found[1]) > MOST or int(found[2]) > MOST:
            raise Problem(f"--hosts {text}: more than {MOST} hosts or slots", USAGE)
        sizes += [int(found[2])] * int(found[1])
    return [Host(f"host{i}", slots, named=False) for i, slots in enumerate(sizes)]


def of_file(path):
    """Hosts of a file: lines 'name slots=16' as Open MPI has them, 'name:16' as MPICH has them, or
    'name' alone for one rank. Lines of one host add up.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as e:
        raise Problem(f"cannot read {path}: {getattr(e, 'strerror', None) or e}") from e
    found = {}
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if text:
            name, slots = of_line(path, number, text)
            found[name] = found.get(name, 0) + slots
    if not found:
        raise Problem(f"{path} names no host")
    return [Host(name, slots) for name, slots in found.items()]


def of_line(path, number, text):
    """(name, slots) of one line."""
    found = LINE.match(text)
    if not found:
        expected = "NAME, NAME:SLOTS or NAME slots=SLOTS"
        raise Problem(f"{path}, line {number}: '{text}' is not {expected}")
    options = dict(word.split("=", 1) for word in found["rest"].split())
    slots = found["colon"] or options.get("slots", "1")
    if not slots.isdecimal() or not 0 < int(slots) <= MOST:
        raise Problem(f"{path}, line {number}: '{slots}' is not a number of slots")
    return found["name"], int(slots)


def sizes(hosts, ranks, file):
    """Ranks on each host when they fill the hosts in order; hosts without ranks are left out."""
    slots = sum(host.slots for host in hosts)
    if slots < ranks:
        raise Problem(
            f"the hosts have {counted(slots, 'slot')}, {file} has {counted(ranks, 'rank')}"
        )
    taken, left = [], ranks
    for host in hosts:
        taken.append(min(host.slots, left))
        left -= taken[-1]
    return [count for count in taken if count]
