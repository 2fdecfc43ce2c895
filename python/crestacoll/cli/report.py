# SPDX-License-Identifier: BSD-3-Clause
import click

from crestacoll import profile
from crestacoll.ui import json_option, write_json


@click.command("report", short_help="Show a profile as a table.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--all", "everything", is_flag=True, help="All lines, not only the 30 most expensive."
)
@click.option(
    "--by",
    type=click.Choice(["collective", "communicator", "implementation"]),
    help="One line for each collective, communicator or implementation.",
)
@json_option
def command(file, everything, by, json_to):
    """Show a profile that `crestacoll run --profile FILE` (or CRESTA_PROFILE=FILE) wrote.

    Each line is one collective, communicator, size class and implementation, with its calls, time,
    time spent waiting for late ranks, and share of the program's run time. Exit code 125 if FILE
    is no profile.
    """
    data = profile.load(file)
    if json_to:
        keys = (by,) if by else ("collective", "communicator", "implementation")
        write_json(
            {
                "schema": "crestacoll-report-1",
                "file": file,
                "ranks": data["ranks"],
                "wall_s": data["wall_s"],
                "collectives_us": profile.total_us(data),
                "sums": profile.sums(data, keys),
            },
            json_to,
        )
        return
    if by:
        show_sums(data, by)
    else:
        profile.show(data, None if everything else 30)


def show_sums(data, by):
    from crestacoll.ui import show, table, word

    made = table(by, ">calls", ">time", ">waiting", ">of wall")
    for group in profile.sums(data, (by,)):
        made.add_row(
            word(group[by]) or "-",
            str(group["calls"]),
            profile.seconds(group["mean_us"]),
            profile.seconds(group["wait_us"]),
            profile.percent(group["mean_us"], data["wall_s"] * 1e6),
        )
    show(made)
