# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import sys
import time
from pathlib import Path

import click

from crestacoll import __version__
from crestacoll_tools.base import outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.sizes import Sizes, format_size
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import WRONG, Problem, err, out, show, table
from crestacoll_tools.bench import benchjob, busbw, choices, options
from crestacoll_tools.builds import machine
from crestacoll_tools.builds.builds import choose_builds
from crestacoll_tools.rules.collectives import NEIGHBORS

EPILOG = """\b
Exit codes: 0 fine; 1 a result differs from the MPI's own; 2 wrong usage; 125 it could not run.

\b
Bytes: per pair of ranks for alltoall; per rank's contribution for gather, scatter, allgather,
reduce_scatter_block; the whole vector for the others; the mean block of the uneven calls
(gatherv, alltoallv, ...); each block of a neighbour."""


@click.command(
    "bench",
    short_help="Time implementations against the MPI's own collectives.",
    epilog=EPILOG,
)
@click.argument("collectives")
@options.ranks(2)
@click.option(
    "--impl",
    "implementations",
    default="all",
    show_default=True,
    metavar="LIST",
    help=(
        "Implementations, comma-separated: mpi, p2p:ring, 'alltoall=p2p:chunked?chunk=4K' (quoted);"
        " `mpi` is always included; all: every model, every algorithm."
    ),
)
@click.option(
    "--sizes",
    type=Sizes(),
    default="8:2M:x8",
    show_default=True,
    metavar="LIST",
    help="Sizes and ranges: 8:2M (doubling), 8:2M:x4, 8,1K,1M.",
)
@click.option(
    "--mpi", "mpis", metavar="LIST", help="Builds to use, or all; default: the first."
)
@click.option(
    "--timing",
    type=click.Choice(["back_to_back", "synchronised"]),
    default="back_to_back",
    show_default=True,
    help=(
        "back_to_back: batches of calls, which hides the latency of one-directional calls;"
        " synchronised: every call starts at an agreed time on a common clock, and the slowest"
        " rank counts."
    ),
)
@click.option(
    "--skew",
    default=0.0,
    type=click.FloatRange(0),
    metavar="US",
    help=(
        "With synchronised: every rank starts late by a random time of at most US microseconds, the"
        " same for all implementations. The time is taken from the start of the last rank to the"
        " end of the slowest."
    ),
)
@click.option(
    "--samples",
    default=200,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Samples of each implementation.",
)
@click.option(
    "--budget",
    default=60.0,
    show_default=True,
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    help="Time limit for the whole command; fewer samples are taken if it runs out.",
)
@click.option(
    "--root",
    type=click.Choice(["rotate", "fixed"]),
    default="rotate",
    show_default=True,
    help="Root of rooted calls: each rank in turn, or always rank 0.",
)
@click.option(
    "--buffers",
    default="hot,written",
    show_default=True,
    metavar="LIST",
    help=(
        "The data: hot: the same in every call, as OSU and IMB measure; written: each rank writes"
        " what it gives before each call, within the time; cold: other buffers in every call, so"
        " that the data are not in the cache."
    ),
)
@click.option(
    "--begun",
    is_flag=True,
    help="Time split-phase calls that end as soon as they have begun; mpi: its non-blocking calls.",
)
@click.option(
    "--topology",
    metavar="torus:D|stencil:D|random:K",
    help=(
        "For neighbourhood collectives: a torus of D dimensions, 1 to 4; one in which all ranks"
        " around each are neighbours, across corners too; or a graph in which each rank sends to K"
        " others at random, 1 to 64."
    ),
)
@options.hosts
@options.rate
@click.option(
    "--plot",
    type=outputs.Output(),
    metavar="FILE.html",
    help=(
        "Also plot time over size: a page with plots and tables (html), or the plot alone (svg,"
        " png, pdf). os and caf are measured with static and with dynamic memory."
    ),
)
@json_option
def command(
    collectives,
    ranks,
    implementations,
    sizes,
    mpis,
    timing,
    skew,
    samples,
    budget,
    root,
    buffers,
    begun,
    topology,
    hosts,
    rate,
    plot,
    json_to,
):
    """Time implementations of COLLECTIVES against the MPI's own: `allreduce,alltoall`, or `all`.

    All implementations run in one job, interleaved sample by sample, and every result is compared
    with the MPI's own before and after the timing. ratio is median over median of `mpi`: below 1
    is faster than the MPI. busbw is the bus bandwidth as nccl-tests defines it: bytes over time,
    multiplied by 2(n-1)/n (allreduce), (n-1)/n or 1.
    """
    check_plot(plot)
    options.check_hosts(hosts, rate, ranks)
    end = time.monotonic() + budget - (DRAW if plot else 0)
    if skew and timing != "synchronised":
        raise Problem("--skew goes with --timing synchronised", exit_code=2)
    how = {"timing": timing, "skew": skew, "samples": samples, "root": root}
    how |= {"buffers": checked_buffers(buffers), "calls": "begun" if begun else "blocking"}
    if topology:
        how["options"] = ["--topology", checked_topology(topology)]
    plans = [
        (b, make_plan(b, collectives, implementations, sizes, ranks, how, stores=bool(plot)))
        for b in choose_builds(mpis)
    ]
    results = run_all(plans, end, hosts, rate)
    for record in [r for result in results for r in result.records]:
        record["busbw_gb_s"] = busbw.of_record(record)
    if json_to:
        write_json(benchjob.document("crestacoll-bench-1", results), json_to)
    if json_to != "-":
        for result in results:
            print_result(result, rate)
    if plot:
        from crestacoll_tools.report import benchreport

        benchreport.save(results, plot)
    say_wrong(results)
    say_unmeasured(plans, results)


def checked_buffers(text):
    asked = [name for name in text.lower().split(",") if name]
    for name in asked:
        if name not in benchjob.BUFFERS:
            raise Problem(
                f"--buffers: no '{name}'; there are: {', '.join(benchjob.BUFFERS)}", exit_code=2
            )
    if not asked or len(set(asked)) < len(asked):
        raise Problem(f"--buffers {text}: expected a list, each once", exit_code=2)
    return ",".join(asked)


def check_plot(path):
    """Before minutes are spent on what cannot be written."""
    if not path:
        return
    if Path(path).suffix.lower() not in PLOTS:
        raise Problem(f"--plot {path}: its name has to end in {', '.join(PLOTS)}", exit_code=2)


def checked_topology(text):
    kind, _, number = text.partition(":")
    least, most = {"torus": (1, 4), "stencil": (2, 4), "random": (1, 64)}.get(kind, (1, 0))
    if not number.isdecimal() or not least <= int(number) <= most:
        raise Problem(
            f"--topology {text}: expected torus:1 to torus:4, stencil:2 to stencil:4, or random:1"
            " to random:64",
            exit_code=2,
        )
    return text


def make_plan(build, collectives, implementations, sizes, ranks, how, stores):
    if "options" in how:
        known = [c for c in build.collectives if c in NEIGHBORS]
        asked = names(collectives, known, "neighbourhood collective")
    elif near := [c for c in collectives.lower().split(",") if c in NEIGHBORS]:
        raise Problem(f"{near[0]} needs a topology: --topology torus:2, for example", exit_code=2)
    else:
        asked = names(collectives, build.measured, "collective")
    chosen = choices.chosen(build, implementations, asked, stores)
    return benchjob.Plan(asked, chosen, sizes, ranks, **how)


def names(text, known, what):
    if text == "all":
        return list(known)
    asked = [n for n in text.lower().split(",") if n]
    for name in asked:
        if name not in known:
            raise Problem(f"no {what} '{name}'; there are: {', '.join(known)}", exit_code=2)
    return asked


PLOTS = [".html", ".svg", ".png", ".pdf"]
LAUNCH = 3.0  # seconds of a job besides measuring, and of this command besides its jobs
DRAW = 2.0  # seconds for --plot


def run_all(plans, end, hosts=1, rate=None):
    """One job after the other, so that the last one ends in time."""
    results = []
    with progress_bar(sum(plan.cells for _, plan in plans)) as advance:
        for i, (build, plan) in enumerate(plans):
            share = (end - time.monotonic()) / (len(plans) - i)
            plan.budget = max(share - LAUNCH, share / 2, 0.1)
            plan.options += benchjob.LONG_BATCHES if rate else []
            program = benchjob.program_words(build, plan)
            results.append(benchjob.run_on(build, program, plan.ranks, hosts, rate, advance))
    return results


@contextlib.contextmanager
def progress_bar(total):
    """A bar on standard error, if that is a terminal."""
    if not err.is_terminal:
        yield lambda: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    with Progress(
        TextColumn("measuring"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=err.console,
        transient=True,
    ) as bar:
        task = bar.add_task("bench", total=total)
        yield lambda: bar.advance(task)


def binding(header):
    """Whether the launcher kept ranks to cores of their own: it matters to every figure."""
    if header["oversubscribed"] or header["cores"] == 1:
        return ""
    each = header["cores_each"]
    return f", ranks bound to {each} each" if each < header["cores"] else ", ranks not bound"


def print_result(result, rate=None):
    """In the style of the OSU benchmarks: lines with # say what and where, then columns."""
    h, head = result.header, result.records[0] if result.records else None
    lines = [
        f"# crestacoll {__version__} bench, {benchjob.library(h)} ({h['mpi']})",
        f"# {machine.sentence(machine.describe())}",
        f"# {benchjob.where(h, rate)}, {counted(h['cores'], 'core')}"
        f"{binding(h)}" + (": OVERSUBSCRIBED" if h["oversubscribed"] else ""),
    ]
    if head:
        lines += [
            f"# {counted(head['calls'], 'call')}; timing {head['timing']}{skew_of(head)},"
            " slowest rank; samples interleaved; ratio = median / median of mpi"
        ]
    for line in lines:
        out.print(line, style="dim", soft_wrap=True)
    for records in benchjob.panels(result.records):
        print_collective(records)
    for note in benchjob.remarks(result):
        out.print(note, style="yellow", soft_wrap=True)


def skew_of(record):
    return f" with a skew of {record['skew_us']:g} us" if record["skew_us"] else ""


def print_collective(records):
    root = {"rotate": ", root rotates", "fixed": ", root 0"}.get(records[0]["root"], "")
    root += f", {records[0]['topology']}" if "topology" in records[0] else ""
    data = benchjob.data_words(records[0])
    out.print(f"\n# {records[0]['collective']}{root}{data}", style="bold")
    made = table(
        "># Size",
        "Implementation",
        ">Median(us)",
        ">P10(us)",
        ">P90(us)",
        ">Busbw(GB/s)",
        ">Ratio",
        ">Samples",
        "Verified",
    )
    best = {
        size: min(r["median_us"] for r in records if r["bytes"] == size)
        for size in {r["bytes"] for r in records}
    }
    for r in records:
        fastest = r["median_us"] == best[r["bytes"]]
        ratio = (
            f"{r['ratio_to_mpi']:.3g}" if r["ratio_to_mpi"] < 0.1 else f"{r['ratio_to_mpi']:.2f}"
        )
        made.add_row(
            format_size(r["bytes"]),
            r["implementation"],
            f"{r['median_us']:.2f}",
            f"{r['p10_us']:.2f}",
            f"{r['p90_us']:.2f}",
            busbw.cell(r),
            ratio,
            str(r["samples"]),
            "yes" if r["verified"] else "WRONG",
            style=(
                "bold red"
                if not r["verified"]
                else "green"
                if fastest and r["implementation"] != "mpi"
                else ""
            ),
        )
    show(made)


def say_unmeasured(plans, results):
    """A collective without a line is no result, whatever else was measured."""
    lacking = [
        f"{c} ({build.name})"
        for (build, plan), result in zip(plans, results, strict=True)
        for c in plan.collectives
        if c not in {r["collective"] for r in result.records}
    ]
    if lacking:
        raise Problem(f"nothing was measured of {', '.join(lacking)}: the notes above say why")


def say_wrong(results):
    wrong = [r for result in results for r in result.wrong]
    for r in wrong:
        err.print(
            f"crestacoll: WRONG RESULT: {r['implementation']} {r['collective']} of {r['bytes']}"
            f" bytes, {counted(r['ranks'], 'rank')}, {r['mpi']}: not what the MPI's own call gives",
            style="red",
            soft_wrap=True,
        )
    if wrong:
        sys.exit(WRONG)
