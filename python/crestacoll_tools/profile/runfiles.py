# SPDX-License-Identifier: BSD-3-Clause
"""The files that the ranks write for `crestacoll run`: profiles and records of MPI-IO."""

import glob
import os
import sys

from crestacoll_tools.base import outputs
from crestacoll_tools.base.text import visible
from crestacoll_tools.base.ui import USAGE, Problem, err


def say_not_written(files):
    """After a run that has said why it was without crestacoll."""
    for file in files:
        if file is not None:
            print(f"crestacoll: {file} was not written", file=sys.stderr)


def setting(variable, file):
    """The variable of a file that the ranks are to write."""
    if file is None:
        return {}
    return {variable: os.path.abspath(file)}


def stamp(path):
    try:
        s = os.stat(path)
        return s.st_ino, s.st_mtime_ns, s.st_size
    except (OSError, TypeError):
        return None


def keep_inputs(context, settings, given):
    """Refuses to write over files of the run that the command line does not name: the tuning file
    that was found, and what variables of the shell let the ranks write. `given`: {variable: the
    file of its option, or None}.
    """
    tuning = settings.get("CRESTA_TUNING", "").removeprefix("force:")
    if tuning not in ("", "none"):
        outputs.note(context, False, tuning, "the tuning file of this run")
    for variable, option in given.items():
        file = os.environ.get(variable)
        if file and option is None:
            outputs.note(context, True, file, variable)


def to_report(settings, folder):
    """The profile that --report shows; one in a folder of this run, unless another is asked for."""
    return settings.setdefault("CRESTA_PROFILE", str(folder / "profile.json"))


class Profile:
    """The profile that the ranks are to write, if any; `command` is the user's own."""

    def __init__(self, settings, command, anonymous):
        self.path = settings.get("CRESTA_PROFILE")
        self.settings, self.command, self.anonymous = settings, command, anonymous
        if anonymous and not self.path:
            raise Problem("--anonymous is for --profile and --report", USAGE)
        self.before = self.stamps()

    def stamps(self):
        """{file: stamp}, also of spawned worlds, which write their own."""
        path = self.path or os.devnull
        names = [path, *glob.glob(glob.escape(path) + ".spawned-*")]
        return {name: stamp(name) for name in names if os.path.isfile(name)}

    def complete(self):
        """Adds what the ranks do not know, if they wrote it, and says how they get in each other's
        way. Only what must not stay in a file is worth an error.
        """
        from crestacoll_tools.profile import origin

        for path in [p for p, now in self.stamps().items() if now != self.before.get(p)]:
            try:
                found = origin.complete(path, self.command, self.settings, self.anonymous)
            except (OSError, ValueError, KeyError, Problem) as e:
                if self.anonymous:
                    raise Problem(f"{path} still has command, paths and host names: {e}") from e
                continue
            told = found and path == self.path and origin.warning(found)
            if told:
                print(f"crestacoll: {visible(told)}", file=sys.stderr)


class Files:
    """What the ranks are to write, and the profile whose table is asked for, or None. `made`: the
    Profile; `written`: {file: whether it was}, from look() on.
    """

    def __init__(self, profile, io_to, reported, made):
        self.reported = reported and (profile or reported)
        self.table, self.written, self.made = None, {}, made
        self.names = {f: f for f in (profile, io_to) if f is not None}
        if self.reported:
            self.names.setdefault(self.reported, "the profile for --report")
        self.before = {file: stamp(file) for file in self.names}

    def look(self):
        """After the run, while its folder is there."""
        self.made.complete()
        self.written = {f: stamp(f) not in (None, before) for f, before in self.before.items()}
        if self.written.get(self.reported):
            from crestacoll_tools.profile import profiles

            self.table = profiles.load(self.reported)

    @property
    def missing(self):
        """Names of those that were not written."""
        return [self.names[file] for file, there in self.written.items() if not there]

    def show(self, profile, io_to):
        """What the ranks have written, or how to see it."""
        if self.written.get(io_to):
            from crestacoll_tools.profile import iorecords

            iorecords.show(iorecords.load(io_to))
        if self.table is not None:
            from crestacoll_tools.profile import mpitime

            mpitime.show(self.table)
        elif self.written.get(profile) and err.is_terminal:
            err.print(f"crestacoll: `crestacoll report {profile}` shows the profile")
