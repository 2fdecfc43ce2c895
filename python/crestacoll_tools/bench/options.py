# SPDX-License-Identifier: BSD-3-Clause
"""Options that mean the same in several sub-commands that measure."""

import os
import re

import click

from crestacoll_tools.base import outputs
from crestacoll_tools.base.sizes import Sizes
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import USAGE, Problem


class Duration(click.ParamType):
    """A time such as 90s, 2m, 1h; in seconds."""

    name = "duration"
    UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}

    def convert(self, value, param, ctx):
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value).strip(), re.IGNORECASE)
        if not found or float(found[1]) == 0:
            self.fail(f"'{value}' is not a time (write for example 90s, 2m, 1h)", param, ctx)
        return float(found[1]) * self.UNITS[found[2].lower()]


def time(default, text):
    """--budget of a command that says how long all of it may take."""
    return click.option(
        "--budget",
        type=Duration(),
        default=default,
        show_default=True,
        metavar="TIME",
        help=text,
    )


def folder(default, text, files):
    """--output DIR, and the files that the command writes there."""
    return click.option(
        "--output",
        default=default,
        show_default=True,
        type=outputs.Folder(files),
        metavar="DIR",
        help=text,
    )


keep_rounding = click.option(
    "--keep-rounding", is_flag=True, help="Leave reductions alone: no sum changes its last digits."
)
resume = click.option(
    "--resume", is_flag=True, help="Go on with what DIR holds; --budget is for the rest."
)


EACH = 64  # ranks for each core, beyond which they mostly wait for cores, and may fill the memory
CROWDED = "--crowded"


def refuse_crowd(ctx, param, value):
    """For ranks that a command starts on this machine: a number of them, or a list. Needs the
    option `crowded`.
    """
    cores = len(os.sched_getaffinity(0))
    most = max(value if isinstance(value, list) else [value or 0])
    if most > EACH * cores and not ctx.meta.get(CROWDED):
        raise Problem(
            f"-n {most}: this machine has {counted(cores, 'core')}, and more than {EACH * cores}"
            f" ranks ({EACH} for each core) would mostly wait for one; {CROWDED} starts them"
            " nevertheless",
            USAGE,
        )
    return value


crowded = click.option(
    CROWDED,
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, param, value: ctx.meta.update({CROWDED: value}),
    help=f"Start more than {EACH} ranks for each core of this machine, if -n asks for them.",
)


def ranks(default):
    """-n and --crowded."""
    number = click.option(
        "-n",
        "--ranks",
        default=default,
        show_default=True,
        type=click.IntRange(1),
        metavar="N",
        callback=refuse_crowd,
        help="Number of ranks.",
    )
    return lambda command: number(crowded(command))


def sizes(default):
    return click.option(
        "--sizes",
        type=Sizes(),
        default=default,
        show_default=True,
        metavar="LIST",
        help="Sizes and ranges: 8:2M (doubling), 8:2M:x4, 8,1K,1M.",
    )


def work(text):
    return click.option(
        "--work",
        default=1.0,
        show_default=True,
        type=click.FloatRange(0.01),
        metavar="RATIO",
        help=text,
    )


def samples(default, text):
    return click.option(
        "--samples",
        default=default,
        show_default=True,
        type=click.IntRange(1),
        metavar="N",
        help=text,
    )


hosts = click.option(
    "--hosts",
    default=1,
    show_default=True,
    type=click.IntRange(1, 200),
    metavar="N",
    help="Spread the ranks over so many hosts: network name spaces of this machine (needs root).",
)
rate = click.option(
    "--rate",
    metavar="RATE",
    help="With --hosts: bandwidth of each host's network interface, such as 1gbit or 100mbit.",
)
progress = click.option(
    "--async",
    "progress",
    type=click.Choice(["thread", "auto", "off"]),
    default="thread",
    show_default=True,
    help="CRESTA_ASYNC of the job: which thread progresses pending operations.",
)
mpis = click.option(
    "--mpi", "mpis", metavar="LIST", help="Builds to use, or all; default: the first."
)
budget = click.option(
    "--budget",
    default=60.0,
    show_default=True,
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    help="Time limit for each MPI; fewer samples are taken if it runs out.",
)


def check_hosts(count, rate_of_each, ranks_asked):
    if rate_of_each and count < 2:
        raise Problem("--rate goes with --hosts", exit_code=2)
    if count > ranks_asked:
        asked = counted(ranks_asked, "rank")
        raise Problem(f"--hosts {count}: -n asks for only {asked}", exit_code=2)


class Counts(click.ParamType):
    """256,1024"""

    name = "numbers"

    def __init__(self, most):
        self.most = most

    def convert(self, value, param, ctx):
        if isinstance(value, list):
            return value
        if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", value):
            self.fail(f"'{value}': expected numbers of ranks such as 256,1024", param, ctx)
        found = list(dict.fromkeys(int(n) for n in value.split(",")))
        if max(found) > self.most:
            asked = counted(max(found), "rank")
            self.fail(f"{asked}: only up to {self.most} are possible", param, ctx)
        return found
