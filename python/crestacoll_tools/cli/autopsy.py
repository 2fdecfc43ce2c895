# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import click

from crestacoll_tools.autopsy import jobs, text
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.text import word
from crestacoll_tools.base.ui import Problem, out, show, table
from crestacoll_tools.profile.profiles import seconds


@click.command(
    "autopsy",
    short_help="Show what the ranks of a job that died were in.",
    epilog="""\b
Exit code: 0 if there is something to show, else
  2    wrong usage
  125  no job left anything""",
)
@json_option
@click.option("--rank", type=click.IntRange(0), multiple=True, metavar="R",
              help="Show the last calls of this rank, not of one that failed or is not where most"
              " are; may be repeated.")  # fmt: skip
@click.option("--last", type=click.IntRange(1, 1024), default=10, metavar="N", show_default=True,
              help="So many of them.")  # fmt: skip
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def command(json_to, rank, last, folder):
    """Show what each rank of a job was in when it died, its last calls, and where its time went.

    FOLDER has the black boxes of a job (CRESTA_BLACKBOX); without it, it is the last job of this
    user on this host that did not end well, one that was started from here if there is any.
    `crestacoll run` with --profile, --report or --watchdog lets each process write one. It outlives
    a process that is killed.

    \b
    crestacoll run --profile p.json -- mpirun -n 4 ./app    # is killed
    crestacoll autopsy
    """
    job = jobs.read(folder or jobs.newest())
    if job is None:
        raise Problem(f"there is no black box in {folder}")
    if json_to:
        write_json(text.data(job, last), json_to)
        return
    if job.command:
        out.print(" ".join(map(word, job.command)), soft_wrap=True)
    for line in text.lines(job):
        out.print(line, soft_wrap=True, markup=False, highlight=False)
    for box in [b for b in job.boxes if b.rank in rank] if rank else [text.odd(job)]:
        show_last(job, box, last)
    out.print()
    text.show_time(job, None)


def show_last(job, box, count):
    """The table of the last calls of a process."""
    made = table("call", "where", ">began before the end", ">took",
                 title=f"The last calls of {text.ranks_of([box])}")  # fmt: skip
    for call, place, before, took in text.last_calls(job, box, count):
        ended = "not over" if took is None else seconds(1e6 * took)
        made.add_row(call, word(place), seconds(1e6 * before), ended)
    out.print()
    show(made)
