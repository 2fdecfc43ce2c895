# SPDX-License-Identifier: BSD-3-Clause
"""Files that commands write: whole or not at all, and never one of those that they read."""

import contextlib
import glob
import os
from pathlib import Path

import click

from crestacoll_tools.base.ui import USAGE, Problem

STATE = "state.json"  # what a folder that a command reads must keep


@contextlib.contextmanager
def beside(path):
    """The name of a new file, which becomes `path` when it is complete. If it does not come to
    that, as on a full disk, what was at `path` stays, and a Problem says why.
    """
    made = None
    try:
        target, made = place(path)
        yield made
        if made != target:
            os.replace(made, target)
    except OSError as e:
        raise Problem(f"cannot write {path}: {e.strerror or e}") from e
    finally:
        if made is not None and made != target:
            made.unlink(missing_ok=True)


def place(path):
    """(the file that a name leads to, an empty one beside it with its mode and suffix). What is no
    file, such as /dev/null, is written as it is; so is a file in a folder that takes no new one.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        return target, target
    made = target.with_name(f".{target.stem[:200]}.{os.getpid()}{target.suffix}")
    try:
        os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666))
    except PermissionError:
        if os.access(target, os.W_OK):
            return target, target
        raise
    if target.exists():
        made.chmod(target.stat().st_mode & 0o777)
    return target, made


def write_text(path, text, errors="strict"):
    """All of a text file, or a Problem and the file as it was."""
    with beside(path) as made:
        made.write_text(text, encoding="utf-8", errors=errors)


class File(click.Path):
    """A file on the command line. The kinds below note where each is, so that no command writes
    over what it or the program reads, or two results into one file.
    """

    writes = False

    def convert(self, value, param, ctx):
        path = super().convert(value, param, ctx)
        for name in self.names(os.fspath(path)) if ctx is not None else []:
            note(ctx, self.writes, name, self.label(param))
        return path

    def names(self, path):
        return [path]

    def label(self, param):
        """What a message calls it."""
        return typed(param)


class Output(File):
    """A file to write; "-" is standard output."""

    writes = True

    def convert(self, value, param, ctx):
        path = super().convert(value, param, ctx)
        parent = os.path.dirname(os.path.realpath(path))
        if path != "-" and not os.path.isdir(parent):  # before minutes are spent on it
            raise Problem(f"{typed(param)} {path}: no such folder", USAGE)
        return path

    def names(self, path):
        return [] if path == "-" else [path]


class Folder(File):
    """A folder to write into, and the files that will be written there; some are patterns."""

    writes = True

    def __init__(self, files):
        super().__init__()
        self.files = files

    def names(self, path):
        begin = glob.escape(path)
        found = [glob.glob(os.path.join(begin, f)) or [os.path.join(path, f)] for f in self.files]
        return [name for names in found for name in names]


class Input(File):
    """A file to read, or the folder of an exploration or a tuning."""

    def names(self, path):
        return [os.path.join(path, STATE)] if os.path.isdir(path) else [path]


class Rules(Input):
    """Rules, or @FILE with some."""

    def names(self, path):
        return [path[1:]] if path.startswith("@") else []


class Tuning(Input):
    """FILE, force:FILE, or none."""

    def names(self, path):
        return [] if path == "none" else [path.removeprefix("force:")]


class Command(File):
    """A word of the user's own command. What it names may be an input of the program: a word, the
    end of --option=FILE or -oFILE, or @FILE. A launcher's CRESTA_NAME=FILE is a setting of ours.
    """

    def names(self, word):
        if word.startswith("CRESTA_"):
            return []
        parts = word.split("=")
        ends = ["=".join(parts[i:]) for i in range(len(parts))]
        ends += [word[2:]] if word.startswith("-") else []
        return [e for end in ends for e in {end, end.removeprefix("@")} if os.path.isfile(e)]

    def label(self, param):
        return "a file of the command"


def identity(path):
    """What two names of one file have in common; None for what is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return (found.st_dev, found.st_ino) if os.path.isfile(path) else None


def note(ctx, writes, path, label):
    """Counts a file that a command reads or writes. Raises Problem if it would be lost."""
    known = ctx.meta.setdefault(__name__, {})
    what = identity(path)
    wrote, before = known.setdefault(what, (writes, label))
    if what is None or not (writes or wrote) or before == label:
        return
    both = " and ".join(sorted((before, label)))
    raise Problem(f"{path} is both {both}: it would be overwritten", USAGE)


def typed(param):
    """A parameter as a user types it."""
    if isinstance(param, click.Option):
        return param.opts[-1]
    return param.metavar or param.human_readable_name.upper()
