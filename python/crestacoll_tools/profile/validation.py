# SPDX-License-Identifier: BSD-3-Clause
"""CRESTA_VALIDATE for the command line: its settings, and what it found."""

import glob
import json
import re
from pathlib import Path

from crestacoll_tools.base.ui import Problem

PRESET_RATE = "0.01"
FILES = "crestacoll-difference"
NONE = "none"


def value(rate):
    """CRESTA_VALIDATE for a rate."""
    if not re.fullmatch(r"[01]|[01]?\.\d+", rate) or float(rate) > 1:
        raise Problem(f"--validate {rate}: expected a rate from 0 to 1, such as 0.05", exit_code=2)
    return f"1:{rate}"


def is_on(known):
    return known.get("CRESTA_VALIDATE", "0") not in ("", "0")


def settings(known, rate, folder):
    """The settings of a run with --validate RATE (None: without), and with names of files that do
    not depend on where the ranks run.
    """
    return complete(known if rate is None else known | {"CRESTA_VALIDATE": value(rate)}, folder)


def complete(known, folder):
    """With the names of files."""
    if not is_on(known):
        return known
    files = known.get("CRESTA_VALIDATE_FILES") or FILES
    return known | {
        "CRESTA_VALIDATE_FILES": files if files == NONE else str(Path(files).absolute()),
        "CRESTA_VALIDATE_SUMMARY": str(folder / "validated"),
    }


def files_of(known):
    """Those that there are, of this run and earlier ones."""
    begins = known.get("CRESTA_VALIDATE_FILES")
    return set(glob.glob(glob.escape(begins) + "-*")) if begins and is_on(known) else set()


def summary(known):
    """What the library has written in MPI_Finalize; None if it did not come there."""
    try:
        text = Path(known["CRESTA_VALIDATE_SUMMARY"]).read_text(encoding="utf-8")
        return json.loads(text)
    except (KeyError, OSError, ValueError):
        return None


def differs(found, files_before, known):
    """Whether the run had a difference: also one that did not come to its end."""
    return bool((found and found["differ"]) or files_of(known) - files_before)
