# SPDX-License-Identifier: BSD-3-Clause
"""What all sub-commands share: exit codes, the two consoles, tables.

What takes long to import is imported where it is used, here and in the sub-commands: a command
must not wait for what it does not need. tests/python/test_cli_info.py names the packages.
"""

import functools
import sys

import click

from crestacoll_tools.base.text import visible

WRONG = 1  # a result was wrong, a check failed
USAGE = 2  # click's own
NOT_LOADED = 124  # run: the program ended well, but nothing was measured or chosen in it
CANNOT = 125  # crestacoll itself could not do its part
NOT_FOUND = 127  # the command does not exist

# How to read what a program writes: nothing that it may write stops crestacoll.
DECODED = {"encoding": "utf-8", "errors": "backslashreplace"}
TEXT = {"text": True, **DECODED}

class Output:
    """One of the two consoles, made when something is printed."""

    def __init__(self, **options):
        self.options = options

    @functools.cached_property
    def console(self):
        """The console of rich."""
        from crestacoll_tools.base.console import PlainConsole

        return PlainConsole(**self.options)

    @property
    def is_terminal(self):
        return self.console.is_terminal

    def print(self, *objects, **options):
        """As that of rich.console.Console."""
        self.console.print(*objects, **options)


def reconfigure():
    """File names that are no text come out as they are, and what the terminal lacks as escapes."""
    for stream in (sys.stdout, sys.stderr):
        unicode = (stream.encoding or "").lower().replace("-", "") == "utf8"
        stream.reconfigure(errors="surrogateescape" if unicode else "backslashreplace")


out = Output()
err = Output(stderr=True)


class Problem(click.ClickException):
    """Something that stops crestacoll; `exit_code` says what kind."""

    def __init__(self, message, exit_code=CANNOT):
        super().__init__(message)
        self.exit_code = exit_code

    def show(self, file=None):
        print(f"crestacoll: {visible(self.message)}", file=file or sys.stderr)


def table(*columns, title=None, **options):
    """A table of columns; a name that starts with '>' is right-aligned. Plain text stays whole
    when it goes into a file.
    """
    from rich.table import Table

    made = Table(
        title=title, title_justify="left", box=None, pad_edge=False, header_style="bold", **options
    )
    for column in columns:
        right = column.startswith(">")
        made.add_column(column.lstrip(">"), justify="right" if right else "left", no_wrap=right)
    return made


def status_line(text):
    """What a spinner or a bar says, which would be markup else."""
    from rich.text import Text

    return Text(visible(text))


def show(renderable):
    """Prints; never folds lines when the output is not a terminal."""
    (out if out.is_terminal else Output(width=200)).print(renderable)
