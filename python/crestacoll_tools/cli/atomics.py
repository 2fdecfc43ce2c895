# SPDX-License-Identifier: BSD-3-Clause
import json
import subprocess

import click

from crestacoll import __version__
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import TEXT, Problem, out, show, table
from crestacoll_tools.bench import benchjob, options
from crestacoll_tools.builds import machine
from crestacoll_tools.builds.builds import choose_builds, clean_environment


@click.command("atomics", short_help="Measure small accumulates on windows of one node.")
@options.ranks(2)
@options.mpis
@click.option(
    "--batches",
    default=51,
    show_default=True,
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Batches of each way, in turn.",
)
@click.option(
    "--calls",
    default=1000,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Calls of a batch.",
)
@json_option
def command(ranks, mpis, batches, calls, json_to):
    """Measure MPI_Fetch_and_op and its like on windows whose ranks share memory, with a flush each.

    The MPI itself, crestacoll (CRESTA_ATOMICS=on), and the processor's atomic operation on shared
    memory, which is the lower limit, take turns in one job. Rank 0 accumulates at rank 1; in lines
    with "all" all ranks do at once, on one word.
    """
    if ranks < 2:
        raise Problem("this needs two ranks or more: -n 2")
    rows = [
        {"mpi": build.name} | record
        for build in choose_builds(mpis)
        for record in measure(build, ranks, batches, calls)
    ]
    if json_to:
        write_json(
            {
                "schema": "crestacoll-atomics-1",
                "crestacoll": __version__,
                "machine": machine.describe(),
                "ranks": ranks,
                "records": rows,
            },
            json_to,
        )
    if json_to != "-":
        print_rows(rows, ranks)


def measure(build, ranks, batches, calls):
    """The records of crestacoll-atomics: nanoseconds a call."""
    words = [*benchjob.launch_words(build, ranks), *build.words("crestacoll-atomics")]
    done = subprocess.run(
        [*words, str(batches), str(calls)],
        env=clean_environment(CRESTA_ATOMICS="on"),
        capture_output=True,
        **TEXT,
        check=False,
    )
    try:
        records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    except ValueError:
        records = []
    if done.returncode != 0 or not records:
        raise Problem(f"crestacoll-atomics of {build.name} failed:\n{done.stdout}{done.stderr}")
    return records


def print_rows(rows, ranks):
    out.print(
        f"# {machine.sentence(machine.describe())}; {counted(ranks, 'rank')}, 8 bytes, a flush"
        " after each call; medians, nanoseconds",
        style="dim",
        soft_wrap=True,
    )
    made = table(
        "MPI",
        "window",
        "operation",
        "who",
        ">mpi",
        ">crestacoll",
        ">p10",
        ">p90",
        ">floor",
        ">mpi/crestacoll",
    )
    for r in rows:
        own, ours = r["mpi_own"], r["crestacoll"]
        made.add_row(
            r["mpi"],
            r["window"],
            r["operation"],
            "all" if r["all"] else "one",
            f"{own['median']:.1f}" if own else "crashes",
            f"{ours['median']:.1f}",
            f"{ours['p10']:.1f}",
            f"{ours['p90']:.1f}",
            f"{r['floor']['median']:.1f}",
            f"{own['median'] / ours['median']:.2f}" if own else "-",
        )
    show(made)
