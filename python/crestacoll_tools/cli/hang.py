# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import click

from crestacoll_tools.autopsy import jobs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.ui import WRONG, Problem
from crestacoll_tools.rollcall import ask, sockets, summary


@click.command(
    "hang",
    short_help="Show which call each rank of a running job is in.",
    epilog="""\b
Exit code: 0 if a rank answered, else
  1    no process of the job answers: it was not started with CRESTA_WATCHDOG, or has ended
  2    wrong usage""",
)
@json_option
@click.argument("pid", type=click.IntRange(1))
def command(pid, json_to):
    """Show which call each rank of a running job is in, and which rank is the odd one out.

    PID is the process of `crestacoll run` or of mpiexec, or one that started them. The job keeps
    running. It must have been started with CRESTA_WATCHDOG (ask is enough), or with `crestacoll run
    --watchdog`; with --profile or --report, its black boxes tell. Under `crestacoll run` ranks of
    all hosts are asked, otherwise those of this host.

    \b
    crestacoll run --watchdog ask -- mpirun -n 4 ./app &
    crestacoll hang $!
    """
    processes = ask.processes(pid)
    why = f"asked for process {pid}"
    if not processes and show_boxes(pid, json_to):
        return
    if not processes:
        there = Path(f"/proc/{pid}").exists()
        raise Problem(
            f"neither process {pid} nor what it started answers: was the job started by this user,"
            " on this host, with CRESTA_WATCHDOG or `crestacoll run --watchdog`?"
            if there
            else f"there is no process {pid} on this host",
            exit_code=WRONG,
        )
    if json_to:
        write_json(summary.data(processes, why), json_to)
        return
    print(summary.text(processes, why))


def show_boxes(pid, json_to):
    """What the black boxes of the job of a process say; false if there are none."""
    job = jobs.of_processes(set(sockets.descendants(pid, sockets.parents())))
    if job is None:
        return False
    from crestacoll_tools.autopsy import text

    if json_to:
        write_json(text.data(job, 10), json_to)
    else:
        print("\n".join(text.lines(job)))
    return True
