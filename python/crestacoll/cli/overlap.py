# SPDX-License-Identifier: BSD-3-Clause
import datetime
import sys

import click

from crestacoll import __version__, choices, machine, overlap
from crestacoll.builds import choose_builds
from crestacoll.cli.bench import check_plot, names, progress_bar
from crestacoll.sizes import Sizes, format_size
from crestacoll.ui import WRONG, Problem, json_option, out, show, table, write_json

EPILOG = """\b
N: begin and end at once. C: the computation alone, with nothing in flight. T: begin, the same
computation, end. Microseconds, slowest rank, medians. What is hidden is C + N - T; the overlap is
that, over min(C, N) (CRESTA), over N (OSU), over max(C, N) (IMB).

\b
Exit codes: 0 fine; 1 some result was not the MPI's own; 2 wrong usage; 125 it could not run."""


@click.command("overlap", epilog=EPILOG)
@click.argument("collective")
@click.option(
    "-n",
    "--ranks",
    default=2,
    show_default=True,
    type=click.IntRange(1),
    help="Number of ranks.",
)
@click.option(
    "--impl",
    "implementations",
    default="nonblock,p2p",
    show_default=True,
    metavar="LIST",
    help="Implementations, comma-separated, as for `crestacoll bench`.",
)
@click.option(
    "--sizes",
    type=Sizes(),
    default="64K:4M:x4",
    show_default=True,
    metavar="LIST",
    help="Sizes and ranges: 8:2M (doubling), 8:2M:x4, 8,1K,1M.",
)
@click.option(
    "--work",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0.01),
    metavar="RATIO",
    help="The computation, in times of the communication: C = RATIO N.",
)
@click.option(
    "--hosts",
    default=1,
    show_default=True,
    type=click.IntRange(1, 200),
    help="Spread the ranks over hosts that are network name spaces of this machine (needs root).",
)
@click.option(
    "--rate",
    metavar="RATE",
    help="With --hosts: what each can send, such as 1gbit or 100mbit.",
)
@click.option(
    "--async",
    "progress",
    type=click.Choice(["thread", "auto", "off"]),
    default="thread",
    show_default=True,
    help="CRESTA_ASYNC of the job: who moves on what is under way.",
)
@click.option("--mpi", "mpis", metavar="LIST", help="Builds to use, or all; default: the first.")
@click.option("--samples", default=50, show_default=True, type=click.IntRange(1))
@click.option(
    "--budget",
    default=60.0,
    show_default=True,
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    help="For each MPI; fewer samples where it does not suffice.",
)
@click.option("--plot", metavar="FILE", help="Also draw the overlap over sizes (svg, png, pdf).")
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
    """How much of COLLECTIVE happens while the program computes: begin, compute, end.

    All implementations run in one job, one sample of each in turn; every result is compared with
    the MPI's own.
    """
    check(hosts, rate, ranks, plot)
    how = {
        "work": work,
        "hosts": hosts,
        "rate": rate,
        "progress": progress,
        "samples": samples,
        "budget": budget,
    }
    results = []
    for build in choose_builds(mpis):
        [asked] = names(collective, build.collectives, "collective")
        chosen = choices.chosen(build, implementations, [asked])
        chosen = [n.partition("=")[2] if n.startswith(f"{asked}=") else n for n in chosen]
        if "mpi" not in implementations.split(","):
            chosen.remove("mpi")  # it has no begin of its own: nonblock would run
        plan = overlap.Plan(asked, chosen, sizes, ranks, **how)
        with progress_bar(plan.cells) as advance:
            results.append(overlap.run(build, plan, advance))
    if json_to:
        write_json(as_json(results), json_to)
    if json_to != "-":
        for result in results:
            print_result(result, rate)
    if plot:
        from crestacoll import plots

        plots.save_overlap([r for result in results for r in result.records], plot)
    if any(result.wrong for result in results):
        out.print("WRONG RESULTS: see above", style="bold red")
        sys.exit(WRONG)


def check(hosts, rate, ranks, plot):
    if rate and hosts < 2:
        raise Problem("--rate goes with --hosts", exit_code=2)
    if hosts > ranks:
        raise Problem(f"--hosts {hosts}: there are only {ranks} ranks", exit_code=2)
    if plot and plot.lower().endswith(".html"):
        raise Problem("--plot: its name has to end in .svg, .png, .pdf", exit_code=2)
    check_plot(plot)


def as_json(results):
    return {
        "schema": "crestacoll-overlap-1",
        "crestacoll": __version__,
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "verified": not any(r.wrong for r in results),
        "jobs": [r.header for r in results],
        "notes": [n for r in results for n in r.notes],
        "records": [x for r in results for x in r.records],
    }


def print_result(result, rate):
    head = result.header
    library = " ".join(head["mpi_library"].split(",")[0].split())
    where = f"{head['ranks']} ranks on {head['hosts']} host{'s' * (head['hosts'] > 1)}"
    limit = f", {rate} each" if rate else ""
    if result.records:
        limit += f"; CRESTA_ASYNC={result.records[0]['async']}"
    lines = [
        f"# crestacoll {__version__} overlap, {library} ({head['mpi']})",
        f"# {machine.sentence(machine.describe())}",
        f"# {where}{limit}; medians in microseconds, slowest rank; overlap of three definitions",
    ]
    for line in lines:
        out.print(line, style="dim", soft_wrap=True, markup=False)
    print_records(result.records)
    for note in result.notes:
        out.print(f"# {note['about']}: {note['text']}", style="yellow", soft_wrap=True)
    for sentence in overlap.verdicts(result.records):
        out.print(sentence, soft_wrap=True, markup=False)


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
