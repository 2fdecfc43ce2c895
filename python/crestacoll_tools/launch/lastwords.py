# SPDX-License-Identifier: BSD-3-Clause
"""What a failed run wrote last: the program's own lines, apart from those of its launcher and of
the MPI's signal handler.
"""

import re

from crestacoll_tools.base.ui import CANNOT, NOT_FOUND

SHOWN = 8  # lines
SHOWN_OF_LAUNCHER = 12
RULE = re.compile(r"[-=]{30,}$")
LAUNCHER = re.compile(
    r"\b(mpirun|mpiexec|orterun|prterun|prun|ORTE|PRTE|MPI_ABORT|MPI_Abort|Primary job|srun|slots)"
    r"\b|BAD TERMINATION|Open MPI|process rank \d+|processes? (returned|exited)"
)
LINES = re.compile(
    # Hydra: MPICH, Intel MPI
    r"\[(proxy|mpiexec)[^\]]*\] |=   |YOUR APPLICATION TERMINATED WITH|This typically refers to a"
    r" problem|Please see the FAQ page|Abort\(-?\d+\) on node|\d+ total processes (failed|killed)"
    # Open MPI, whose daemons and signal handler put [host:pid] first
    r"|\[[^\]]+:\d+\] (\[\[\d+,\d+\],\d+\] ORTE_ERROR|\*\*\* (Process received|End of error)|Signal"
    r"|Failing at|Associated errno|\[ ?\d+\] |\d+ more process|Set MCA parameter)"
    r"|(prterun|mpirun)\S* (noticed|was|has)"
    r"|srun: |slurmstepd: "
)
ENDED = re.compile(  # the launcher started the program, and says how that ended
    r"exited on signal|EXIT STRING|[Ee]xited with|exit code:? ?\d|EXIT CODE|non-zero|MPI_Abort"
    r"|MPI_ABORT|[Tt]erminated"
)
MISSING = re.compile(r"No such file|not found|[Cc]ould not access|unable to find")


def split(text):
    """([lines of the program], [lines of the launcher, and of what the MPI prints of a signal])."""
    lines, own, others, i = text.splitlines(), [], [], 0
    while i < len(lines):
        end = banner(lines, i)
        if end is not None:
            others += [line for line in lines[i + 1 : end] if line.strip()]
            i = end
        elif LINES.match(lines[i].lstrip()):
            others.append(lines[i])
        elif lines[i].strip():
            own.append(lines[i])
        i += 1
    return own, others


def banner(lines, begin):
    """The index of the line that closes the launcher's banner which begins here; None if none does.
    A program may draw lines as well.
    """
    if not RULE.match(lines[begin].strip()):
        return None
    for end in range(begin + 1, len(lines)):
        if RULE.match(lines[end].strip()):
            inside = "\n".join(lines[begin + 1 : end])
            return end if LAUNCHER.search(inside) else None
    return None


def of_run(ended):
    """The last lines of the program itself, and where all of them are."""
    own = split(ended.text("stderr"))[0] or split(ended.text("stdout"))[0]
    told = "\n".join(own[-SHOWN:]) if own else "(it printed nothing)"
    return f"{told}\nAll of it: {ended.folder / 'stderr'} and stdout beside it"


def settings_error(ended):
    """What crestacoll itself said when it refused its settings in MPI_Init; "" if it did not."""
    if ended.loaded or not ended.failed:
        return ""
    lines = ended.text("stderr").splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith("crestacoll: ")), None)
    if begin is None:
        return ""
    end = begin + 1
    while end < len(lines) and lines[end].startswith("    "):
        end += 1
    return "\n".join(lines[begin:end]).removeprefix("crestacoll: ")


def not_started(ended):
    """(what the launcher says, exit code) if it could not start the program; None if it did: then
    the program printed something, came to MPI_Init, or the launcher says how it ended.
    """
    if ended.loaded or not ended.failed:
        return None
    own, others = split(ended.text("stderr"))
    told = "\n".join(others[:SHOWN_OF_LAUNCHER])
    if own or not others or ENDED.search("\n".join(others)) or split(ended.text("stdout"))[0]:
        return None
    return told, NOT_FOUND if MISSING.search(told) else CANNOT
