# SPDX-License-Identifier: BSD-3-Clause
"""The machine that numbers were taken on."""

import os
import platform
import re
from pathlib import Path


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
        f"{machine['cpu']}, {machine['allowed_cores']} of {machine['cores']} cores,"
        f" {machine['memory_gib']} GiB, {machine['system']}"
    )
