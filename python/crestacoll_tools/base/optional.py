# SPDX-License-Identifier: BSD-3-Clause
"""Options whose value may be left out, such as --json. They never take a word that may be meant for
the command: such a value is attached, as in --json=FILE.
"""

import errno
import os
import re
import sys

import click

from crestacoll_tools.base.ui import USAGE, Problem

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Option(click.Option):
    """`looks`: what a value looks like that stands in a word of its own."""

    def __init__(self, *args, looks, **options):
        super().__init__(*args, is_flag=False, **options)
        self.looks = re.compile(looks)

    def takes(self, word, arguments):
        """Whether the word after this option can be nothing but its value; `arguments`: those that
        the word could be else. Raises Problem if nobody can know.
        """
        if word.startswith("-") and word != "-":
            return False
        if not arguments:
            return True
        if not self.looks.fullmatch(word):
            return False
        if os.path.exists(word) and any(isinstance(a.type, click.Path) for a in arguments):
            raise Problem(
                f"{self.opts[0]} {word}: is {word} to be read, or to be written? Write"
                f" {self.opts[0]}={word} to write it, or put {self.opts[0]} last",
                USAGE,
            )
        return True


class Group(click.Group):
    """Sub-commands with such options."""

    def invoke(self, ctx):
        """What is printed is printed to its end, or it is a Problem."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except OSError as e:
            if e.errno not in FULL:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise Problem(f"cannot write: {e.strerror}") from e

    def resolve_command(self, ctx, args):
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, attached(command, rest) if command is not None else rest


def attached(command, words):
    """The words of a command, where each of these options has its value attached."""
    options = {o: p for p in command.params if isinstance(p, Option) for o in p.opts}
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    if "--" in words:  # what comes before it is not for an argument that comes after it
        arguments = [a for a in arguments if "--" not in (a.metavar or "")]
    valued = {o for p in command.params if not getattr(p, "is_flag", True) for o in p.opts}
    program_follows = not command.context_settings.get("allow_interspersed_args", True)
    made, words = [], list(words)
    while words and words[0] != "--":
        if program_follows and not words[0].startswith("-"):
            break  # the rest are words of the program
        word = words.pop(0)
        option = options.get(word)
        if option is not None:
            given = bool(words) and option.takes(words[0], arguments)
            word += f"={words.pop(0) if given else option.flag_value}"
        elif word in valued and words:
            made.append(word)
            word = words.pop(0)
        made.append(word)
    return [*made, *words]
