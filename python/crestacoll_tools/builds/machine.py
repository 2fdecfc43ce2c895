# SPDX-License-Identifier: BSD-3-Clause
"""The machine that numbers were taken on."""

import os
import platform
import re
import time
from pathlib import Path

from crestacoll_tools.base.text import counted

LOOK_S = 0.3
SHARED = 0.05  # of the cores' time for others: then the machine is shared
ALIKE = 1.8  # exchanges of a cache line that differ by less are of one speed of the machine


def same_speed(one, other):
    """Whether two exchange times of a cache line, in one unit, show one speed of the machine."""
    return 1 / ALIKE < one / other < ALIKE


def cpu_model():
    try:
        found = re.search(
            r"^model name\s*:\s*(.+)$",
            Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"),
            re.MULTILINE,
        )
    except OSError:
        found = None
    return found[1] if found else platform.machine()


def memory_gib():
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)


def mpi_name(library):
    """Name and version of an MPI, from what MPI_Get_library_version says: "Open MPI v4.1.4". The
    library does the same (src/tune/machine.h).
    """
    return " ".join(re.split("[,\n]", library)[0].split())


def core_ticks():
    """(all, busy, stolen) of the cores that we may use, None if unknown."""
    mine, total, busy, stolen = os.sched_getaffinity(0), 0, 0, 0
    try:
        text = Path("/proc/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    for core, rest in re.findall(r"^cpu(\d+) (.*)$", text, re.MULTILINE):
        if int(core) in mine:
            ticks = [int(t) for t in rest.split()[:8]]  # the rest is counted in the first two
            total += sum(ticks)
            busy += sum(ticks) - sum(ticks[3:5])  # idle, and waiting for a disk
            stolen += sum(ticks[7:8])
    return (total, busy, stolen) if total else None


def share(before, after, what):
    """The fraction of the cores' time between two core_ticks that was busy (1) or stolen (2)."""
    if not before or not after or after[0] <= before[0]:
        return None
    return (after[what] - before[what]) / (after[0] - before[0])


class Others:
    """What else uses these cores: how busy they are in moments in which we do nothing, and how much
    of their time the host of a virtual machine gave to others meanwhile.
    """

    def __init__(self):
        self.begin, self.busy = core_ticks(), []

    def look(self):
        """Does nothing for a moment."""
        before = core_ticks()
        time.sleep(LOOK_S)
        found = share(before, core_ticks(), 1)
        self.busy += [found] if found is not None else []

    def found(self):
        """{"busy", "stolen"} in fractions of the cores' time; None where it is unknown."""
        stolen = share(self.begin, core_ticks(), 2)
        if stolen is None and not self.busy:
            return None
        busy = round(max(self.busy), 3) if self.busy else None
        return {"busy": busy, "stolen": None if stolen is None else round(stolen, 3)}


def is_shared(others):
    """Do others take so much that times vary with it?"""
    return bool(others) and max(others["busy"] or 0, others["stolen"] or 0) > SHARED


def describe():
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "allowed_cores": len(os.sched_getaffinity(0)),
        "memory_gib": memory_gib(),
        "system": f"{platform.system()} {platform.release()}",
        "load": round(os.getloadavg()[0], 2),
    }


def sentence(machine):
    return (
        f"{machine['cpu']}, {machine['allowed_cores']} of {counted(machine['cores'], 'core')},"
        f" {machine['memory_gib']} GiB, {machine['system']}"
    )
