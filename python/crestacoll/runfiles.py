# SPDX-License-Identifier: BSD-3-Clause
"""The files that the ranks write for `crestacoll run`: profiles and records of MPI-IO."""

import os
import sys
from pathlib import Path

from crestacoll.ui import Problem, err


def say_not_written(files):
    """After a run that has said why it was without crestacoll."""
    for file in files:
        if file is not None:
            print(f"crestacoll: {file} was not written", file=sys.stderr)


def setting(option, variable, file):
    """The variable of a file that the ranks are to write."""
    if file is None:
        return {}
    path = Path(file).absolute()
    if not path.parent.is_dir():
        raise Problem(f"{option} {file}: no such folder", exit_code=2)
    return {variable: str(path)}


def stamp(path):
    try:
        s = os.stat(path)
        return s.st_ino, s.st_mtime_ns, s.st_size
    except (OSError, TypeError):
        return None


def show(profile, show_report, io_to):
    """What the ranks have written, or how to see it."""
    if io_to and Path(io_to).exists():
        from crestacoll import iorecords

        iorecords.show(iorecords.load(io_to))
    if profile and show_report:
        from crestacoll import profiles

        profiles.show(profiles.load(profile))
    elif profile and err.is_terminal:
        err.print(f"crestacoll: `crestacoll report {profile}` shows the profile")
