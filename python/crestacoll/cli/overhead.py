# SPDX-License-Identifier: BSD-3-Clause
import sys

import click

from crestacoll import __version__, machine, overhead
from crestacoll.builds import choose_builds
from crestacoll.ui import WRONG, json_option, out, show, table, write_json


@click.command("overhead", short_help="Measure what crestacoll adds to a call.")
@click.option(
    "--mpi", "mpis", default="all", show_default=True, metavar="LIST", help="Builds to use."
)
@click.option(
    "--instructions/--no-instructions",
    default=True,
    help="Also count instructions with callgrind, if valgrind is installed.",
)
@click.option(
    "--runs",
    default=3,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Runs for each line, of which the median is shown.",
)
@click.option("--check", is_flag=True, help="Exit with 1 if a line misses its target.")
@json_option
def command(mpis, instructions, runs, check, json_to):
    """Measure what crestacoll adds to a call that it passes on to the MPI: an 8-byte allreduce on
    MPI_COMM_SELF.

    PMPI_Allreduce (plain) and the preloaded MPI_Allreduce alternate in batches in one process.
    Targets: at most 40 ns more (60 ns under MPI_THREAD_MULTIPLE), at most 60 ns with every call
    recorded. Exit code 1 with --check when one is missed.
    """
    rows = [
        row(build, scenario, thread, index, instructions, runs)
        for build in choose_builds(mpis)
        for index, thread in enumerate(("single", "multiple"))
        for scenario in overhead.SCENARIOS
    ]
    missed = [r for r in rows if not r["met"]]
    if json_to:
        write_json(
            {
                "schema": "crestacoll-overhead-1",
                "crestacoll": __version__,
                "machine": machine.describe(),
                "records": rows,
            },
            json_to,
        )
    if json_to != "-":
        print_rows(rows)
    if check and missed:
        sys.exit(WRONG)


def row(build, scenario, thread, index, instructions, runs):
    name, about, variables, targets = scenario
    found = sorted(
        (overhead.measure(build, variables, thread) for _ in range(runs)),
        key=lambda m: m["difference_ns"]["median"],
    )[runs // 2]
    plain, interposed = found["plain_ns"]["median"], found["interposed_ns"]["median"]
    difference = found["difference_ns"]["median"]
    counted = overhead.instructions(build, variables, thread) if instructions else None
    return {
        "mpi": build.name,
        "scenario": name,
        "about": about,
        "thread": thread,
        "plain_ns": plain,
        "interposed_ns": interposed,
        "difference_ns": difference,
        "p10_ns": found["difference_ns"]["p10"],
        "p90_ns": found["difference_ns"]["p90"],
        "ratio": round(interposed / plain, 3),
        "target_ns": targets[index],
        "met": difference <= targets[index],
        "instructions": counted,
    }


def print_rows(rows):
    out.print(
        f"# {machine.sentence(machine.describe())}; 8-byte allreduce on MPI_COMM_SELF",
        style="dim",
        soft_wrap=True,
    )
    made = table(
        "MPI",
        "scenario",
        "threads",
        ">plain(ns)",
        ">interposed(ns)",
        ">more(ns)",
        ">p10",
        ">p90",
        ">ratio",
        ">target",
        ">instructions more",
        "met",
    )
    for r in rows:
        counted = r["instructions"]
        more = (
            f"{counted['interposed'] - counted['plain']:.0f} of {counted['interposed']:.0f}"
            if counted
            else "-"
        )
        made.add_row(
            r["mpi"],
            r["scenario"],
            r["thread"],
            f"{r['plain_ns']:.1f}",
            f"{r['interposed_ns']:.1f}",
            f"{r['difference_ns']:.1f}",
            f"{r['p10_ns']:.1f}",
            f"{r['p90_ns']:.1f}",
            f"{r['ratio']:.2f}",
            f"<= {r['target_ns']}",
            more,
            "yes" if r["met"] else "NO",
            style="" if r["met"] else "red",
        )
    show(made)
    for name, about, _, _ in overhead.SCENARIOS:
        out.print(f"# {name}: {about}", style="dim", soft_wrap=True)
