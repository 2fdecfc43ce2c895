# SPDX-License-Identifier: BSD-3-Clause
"""What all sub-commands share: exit codes, the two consoles, --json."""

import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

WRONG = 1  # a result was wrong, a check failed
USAGE = 2  # click's own
NOT_LOADED = 124  # run: the program ended well, but nothing was measured or chosen in it
CANNOT = 125  # crestacoll itself could not do its part
NOT_FOUND = 127  # the command does not exist

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


class Problem(click.ClickException):
    """Something that stops crestacoll; `exit_code` says what kind."""

    def __init__(self, message, exit_code=CANNOT):
        super().__init__(message)
        self.exit_code = exit_code

    def show(self, file=None):
        print(f"crestacoll: {self.message}", file=file or sys.stderr)


def json_option(command):
    """--json [FILE]: the result as JSON, into FILE or, without one, on standard output instead of
    the text.
    """
    return click.option(
        "--json",
        "json_to",
        is_flag=False,
        flag_value="-",
        metavar="[FILE]",
        help=(
            "Result as JSON: into FILE, or on standard output (then nothing else is printed there)."
            " Put it after the arguments or write --json=FILE."
        ),
    )(command)


def write_json(data, to):
    text = json.dumps(data, indent=1) + "\n"
    if to == "-":
        sys.stdout.write(text)
        return
    try:
        Path(to).write_text(text)
    except OSError as e:
        raise Problem(f"cannot write {to}: {e.strerror}") from e


def table(*columns, title=None, **options):
    """A table of columns; a name that starts with '>' is right-aligned. Plain text stays whole
    when it goes into a file.
    """
    made = Table(
        title=title, title_justify="left", box=None, pad_edge=False, header_style="bold", **options
    )
    for column in columns:
        right = column.startswith(">")
        made.add_column(column.lstrip(">"), justify="right" if right else "left", no_wrap=right)
    return made


def show(renderable):
    """Prints; never folds lines when the output is not a terminal."""
    if out.is_terminal:
        out.print(renderable)
    else:
        Console(highlight=False, width=200).print(renderable)
