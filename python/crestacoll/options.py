# SPDX-License-Identifier: BSD-3-Clause
"""Options that mean the same in several sub-commands that measure."""

import click

from crestacoll.sizes import Sizes
from crestacoll.ui import Problem


def ranks(default):
    return click.option(
        "-n",
        "--ranks",
        default=default,
        show_default=True,
        type=click.IntRange(1),
        help="Number of ranks.",
    )


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
        "--samples", default=default, show_default=True, type=click.IntRange(1), help=text
    )


hosts = click.option(
    "--hosts",
    default=1,
    show_default=True,
    type=click.IntRange(1, 200),
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
        raise Problem(f"--hosts {count}: there are only {ranks_asked} ranks", exit_code=2)
