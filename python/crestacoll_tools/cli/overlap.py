# SPDX-License-Identifier: BSD-3-Clause
import sys

import click

from crestacoll import __version__
from crestacoll_tools.base import outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.ui import WRONG, Problem, out, show, table
from crestacoll_tools.bench import benchjob, choices, options, overlap
from crestacoll_tools.builds import machine
from crestacoll_tools.builds.builds import choose_builds
from crestacoll_tools.cli.bench import check_plot, names, progress_bar

EPILOG = """\b
N: begin, then end at once. C: the computation alone. T: begin, the same computation, end. All are
medians in microseconds, of the slowest rank. The hidden time is C + N - T. The overlap is the
hidden time divided by min(C, N) (CRESTA), by N (OSU), by max(C, N) (IMB).

\b
Exit codes: 0 fine; 1 a result differs from the MPI's own; 2 wrong usage; 125 it could not run."""


@click.command(
    "overlap",
    short_help="Measure the overlap of a collective with computation.",
    epilog=EPILOG,
)
@click.argument("collective")
@options.ranks(2)
@click.option(
    "--impl",
    "implementations",
    default="nonblock,p2p",
    show_default=True,
    metavar="LIST",
    help="Implementations, comma-separated, as for `crestacoll bench`.",
)
@options.sizes("64K:4M:x4")
@options.work("Length of the computation as a multiple of the communication: C = RATIO * N.")
@options.hosts
@options.rate
@options.progress
@options.mpis
@options.samples(50, "Samples of each implementation.")
@options.budget
@click.option(
    "--plot",
    type=outputs.Output(),
    metavar="FILE",
    help="Also draw the overlap over sizes (svg, png, pdf).",
)
@json_option
def command(
    collective,
    ranks,
    implementations,
    sizes,
    work,
    hosts,
    rate,
    progress,
    mpis,
    samples,
    budget,
    plot,
    json_to,
):
    """Measure how much of COLLECTIVE overlaps with computation: begin, compute, end.

    All implementations run in one job, one sample of each in turn; every result is compared with
    the MPI's own.
    """
    check(hosts, rate, ranks, plot)
    how = {
        "sizes": sizes,
        "ranks": ranks,
        "work": work,
        "hosts": hosts,
        "rate": rate,
        "progress": progress,
        "samples": samples,
        "budget": budget,
    }
    results = []
    for build in choose_builds(mpis):
        asked = one(names(collective, build.measured, "collective"))
        chosen = choices.chosen(build, implementations, [asked])
        chosen = [n.partition("=")[2] if n.startswith(f"{asked}=") else n for n in chosen]
        if "mpi" not in implementations.split(","):
            chosen.remove("mpi")  # it has no begin of its own: nonblock would run
        if asked == "alltoall" and hosts == ranks == 2:
            chosen.append(overlap.SOCKETS)
        plan = overlap.Plan(collective=asked, implementations=chosen, **how)
        with progress_bar(plan.cells) as advance:
            results.append(overlap.run(build, plan, advance))
    if json_to:
        write_json(benchjob.document("crestacoll-overlap-1", results), json_to)
    if json_to != "-":
        for result in results:
            print_result(result, rate)
    if plot:
        from crestacoll_tools.bench import benchplots

        benchplots.save_overlap([r for result in results for r in result.records], plot)
    if any(result.wrong for result in results):
        out.print("WRONG RESULTS: see above", style="bold red")
        sys.exit(WRONG)


def one(collectives):
    if len(collectives) != 1:
        raise Problem(f"expected one collective, not {len(collectives)}", exit_code=2)
    return collectives[0]


def check(hosts, rate, ranks, plot):
    options.check_hosts(hosts, rate, ranks)
    if plot and plot.lower().endswith(".html"):
        raise Problem("--plot: its name has to end in .svg, .png, .pdf", exit_code=2)
    check_plot(plot)


def print_result(result, rate):
    head = result.header
    where = benchjob.where(head, rate)
    if result.records:
        where += f"; CRESTA_ASYNC={result.records[0]['async']}"
    lines = [
        f"# crestacoll {__version__} overlap, {benchjob.library(head)} ({head['mpi']})",
        f"# {machine.sentence(machine.describe())}",
        f"# {where}; medians in microseconds, slowest rank; overlap of three definitions",
    ]
    for line in lines:
        out.print(line, style="dim", soft_wrap=True)
    print_records(result.records)
    for note in result.notes:
        out.print(f"# {note['about']}: {note['text']}", style="yellow", soft_wrap=True)
    for sentence in overlap.verdicts(result.records):
        out.print(sentence, soft_wrap=True)


def print_records(records):
    made = table(
        *("># Size", "Implementation", ">N", ">C", ">T"),
        *(">CRESTA", ">OSU", ">IMB", ">Samples", "Verified"),
    )
    for r in records:
        made.add_row(
            format_size(r["bytes"]),
            r["implementation"],
            *(f"{r[key]:.1f}" for key in ("N_us", "C_us", "T_us")),
            *(f"{r[f'overlap_{by}']:.0%}" for by in ("cresta", "osu", "imb")),
            str(r["samples"]),
            "yes" if r["verified"] else "WRONG",
            style="" if r["verified"] else "bold red",
        )
    show(made)
