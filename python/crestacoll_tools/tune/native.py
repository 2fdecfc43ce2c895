# SPDX-License-Identifier: BSD-3-Clause
"""The algorithms that the MPI below lets one force, and how: Open MPI's component coll_tuned, and
the control variables (CVARs) of MPICH. Both are read in MPI_Init, so that each choice needs a job
of its own.
"""

import functools
import re
import shutil
import subprocess
from pathlib import Path

from crestacoll_tools.base.ui import TEXT, Problem

UNKNOWN_ID, UNKNOWN_NAME = 99, "crestacoll_no_such_algorithm"

# The numbers that Open MPI gives to collectives in a file of rules (coll_base_functions.h), and
# whether it counts the bytes of all ranks, or as crestacoll does.
OPENMPI = {
    "allgather": (0, True),
    "allreduce": (2, False),
    "alltoall": (3, True),
    "barrier": (6, False),
    "bcast": (7, False),
    "reduce": (11, False),
    "reduce_scatter": (12, False),
    "reduce_scatter_block": (13, True),
}

# What MPICH calls its algorithms. A version that has not got one refuses it in MPI_Init.
MPICH = {
    "allgather": ("brucks", "nb", "recursive_doubling", "ring"),
    "allreduce": ("nb", "smp", "recursive_doubling", "reduce_scatter_allgather"),
    "alltoall": ("brucks", "nb", "pairwise", "scattered"),
    "barrier": ("nb", "smp", "dissemination", "k_dissemination", "recexch"),
    "bcast": (
        *("binomial", "nb", "smp", "scatter_recursive_doubling_allgather"),
        "scatter_ring_allgather",
    ),
    "gather": ("binomial", "nb"),
    "reduce": ("binomial", "nb", "smp", "reduce_scatter_gather"),
    "reduce_scatter": ("nb", "pairwise", "recursive_doubling", "recursive_halving"),
    "reduce_scatter_block": ("nb", "pairwise", "recursive_doubling", "recursive_halving"),
    "scan": ("nb", "smp", "recursive_doubling"),
    "scatter": ("binomial", "nb"),
}

FAMILIES = {"openmpi": OPENMPI, "mpich": MPICH}


def collectives(build):
    """Those for which the MPI of a build has a choice that can be forced."""
    if build.family not in FAMILIES:
        raise Problem(
            f"--native can force algorithms of Open MPI and MPICH, not of {build.family}"
        )
    return list(FAMILIES[build.family])


def enumerated(text):
    """{collective: {name: number}} from `ompi_info --param coll tuned -l 9 --parsable`."""
    found = {}
    form = r":coll_tuned_(\w+)_algorithm:enumerator:value:(\d+):(.+)$"
    for collective, number, name in re.findall(form, text, re.MULTILINE):
        if number != "0":
            found.setdefault(collective, {})[name.strip()] = int(number)
    return found


@functools.cache
def ompi_info(launcher):
    """What the Open MPI of a launcher says of its algorithms."""
    beside = Path(launcher).with_name("ompi_info")
    program = str(beside) if beside.exists() else shutil.which("ompi_info")
    if program is None:
        raise Problem("Open MPI's ompi_info, which lists its algorithms, is not installed")
    command = [program, "--param", "coll", "tuned", "-l", "9", "--parsable"]
    done = subprocess.run(command, capture_output=True, **TEXT, timeout=60, check=False)
    found = enumerated(done.stdout)
    if not found:
        raise Problem(f"{program} lists no algorithms of the component coll_tuned")
    return found


def algorithms(build, collective, ranks):
    """Their names."""
    if build.family == "mpich":
        return list(MPICH[collective])
    names = ompi_info(build.launcher).get(collective, {})
    return [n for n in names if ranks == 2 or n != "two_proc"]


def forced(build, collective, name):
    """Environment variables of a job with one algorithm at all sizes."""
    if build.family == "mpich":
        return {cvar(collective): name}
    number = ompi_info(build.launcher)[collective][name]
    return {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        f"OMPI_MCA_coll_tuned_{collective}_algorithm": str(number),
    }


def cvar(collective):
    return f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM"


def message_rules(collective, ranks, choices):
    """[(first byte, number of the algorithm)]: each holds up to the next; 0 is the MPI's own."""
    scale = ranks if OPENMPI[collective][1] else 1
    rules = {0: 0}
    for low, high, number in sorted(choices):
        rules[low * scale] = number
        rules.setdefault((high + 1) * scale, 0)
    return sorted(rules.items())


def openmpi_file(choices):
    """The text of a file for coll_tuned_dynamic_rules_filename. A choice has collective, ranks,
    bytes ([least, most], or None for all) and number.

    Open MPI takes the rules of the largest communicator that is not larger than the one at hand,
    so those of other sizes get rules that say nothing.
    """
    every = sorted({c["collective"] for c in choices}, key=lambda name: OPENMPI[name][0])
    lines = [f"{len(every)} # collectives"]
    for name in every:
        by_ranks = {}
        for c in (c for c in choices if c["collective"] == name):
            low, high = c["bytes"] or (0, 0)
            by_ranks.setdefault(c["ranks"], []).append((low, high, c["number"]))
        sizes = sorted({1, *by_ranks, *(n + 1 for n in by_ranks)})
        lines += [f"{OPENMPI[name][0]} # {name}", f"{len(sizes)} # sizes of communicators"]
        for n in sizes:
            rules = message_rules(name, n, by_ranks.get(n, []))
            lines += [f"{n} # ranks", f"{len(rules)} # sizes of messages"]
            lines += [f"{size} {number} 0 0 # bytes from, algorithm" for size, number in rules]
    return "\n".join(lines) + "\n"


def loads(path):
    """The variables with which Open MPI uses such a file."""
    return {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(path),
    }


def variables_text(variables):
    """As a file for a shell."""
    return "".join(f"export {name}={value}\n" for name, value in variables.items())
