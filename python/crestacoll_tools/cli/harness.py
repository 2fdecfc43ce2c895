# SPDX-License-Identifier: BSD-3-Clause
import re
import sys

import click

from crestacoll import __version__
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import WRONG, Problem, out, show, table
from crestacoll_tools.bench import benchjob, harness, options
from crestacoll_tools.builds import machine
from crestacoll_tools.builds.builds import choose_builds
from crestacoll_tools.cli.bench import progress_bar

EPILOG = """\b
ALG           all-to-all and work
MPI           MPI_Alltoall, then the work
CoM           the same through an internal coarray, 512 bytes at a time, in random order
              (CRESTA_Alltoall, caf:chunked?chunk=512&order=random)
MIB, MIN      MPI_Ialltoall (CRESTA_Alltoall_begin, nonblock): the work after its end, or before
MIB:IMPL, MIN:IMPL       the same with another implementation, such as MIN:p2p
CrB, CrN      gets from large coarrays in random order: the work after the last sync all, or
              before it
CsB, CsN      the same, the work in a piece for each get: all of them after, or in between
CrN:os, CrN:p2p, ...     these four by MPI_Rget from a window, or by messages, which do not block
IMPL          any implementation of alltoall, as for `crestacoll bench`: p2p:pairwise, shm, os;
              then the work

\b
An iteration is an all-to-all of all rows and one of all columns. t_total: seconds of an
all-to-all with its work; t_comp: of the work alone; medians, slowest rank. Ratio: rows and
columns together, divided by the time of MPI.

\b
Exit codes: 0 fine; 1 some result was wrong; 2 wrong usage; 125 it could not run."""


@click.command(
    "harness",
    short_help="Time all-to-alls with work, as a pseudo-spectral code does.",
    epilog=EPILOG,
)
@options.ranks(4)
@click.option(
    "--procs",
    metavar="RxC",
    help="Rows and columns of the grid; default: each row within one host, and no longer than a"
    " column.",
)
@click.option(
    "--alg",
    "algs",
    default=",".join(harness.STUDY),
    show_default=True,
    metavar="LIST",
    help="ALGs, comma-separated (below); MPI is always among them.",
)
@options.sizes("4K,64K")
@options.work("Length of the work as a multiple of the MPI's blocking all-to-all, for all ALGs.")
@options.hosts
@options.rate
@options.progress
@options.mpis
@options.samples(50, "Timed iterations of each ALG, if --budget suffices.")
@options.budget
@json_option
def command(ranks, procs, algs, sizes, work, hosts, rate, progress, mpis, samples, budget, json_to):
    """Time the all-to-alls of a pseudo-spectral code with its work, in eight ways and more.

    The ranks form a grid. For each message size, all ALGs run in one job: two warm-up iterations,
    then as many timed iterations as --budget allows, in three rounds. The data that every ALG
    delivers are verified.
    """
    options.check_hosts(hosts, rate, ranks)
    check_procs(procs, ranks)
    how = {
        "procs": procs,
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
        plan = harness.Plan(algs=harness.algs_of(build, algs), **how)
        with progress_bar(plan.cells) as advance:
            results.append(harness.run(build, plan, advance))
    if json_to:
        write_json(benchjob.document("crestacoll-harness-1", results), json_to)
    if json_to != "-":
        for result in results:
            print_result(result, rate)
    if any(result.wrong for result in results):
        out.print("WRONG RESULTS: see above", style="bold red")
        sys.exit(WRONG)


def check_procs(procs, ranks):
    found = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", procs or f"1x{ranks}")
    if not found or int(found[1]) * int(found[2]) != ranks:
        raise Problem(f"--procs {procs}: RxC has to make {counted(ranks, 'rank')}", exit_code=2)


def print_result(result, rate):
    head = result.header
    inside = "each within a host" if head["rows_within_hosts"] else "across hosts"
    crowded = "; more ranks than cores" if head["oversubscribed"] else ""
    lines = [
        f"# crestacoll {__version__} harness, {benchjob.library(head)} ({head['mpi']})",
        f"# {machine.sentence(machine.describe())}",
        f"# {benchjob.where(head, rate)}; {head['rows']} rows ({inside}) of {head['columns']}"
        f"{crowded}",
    ]
    for record in result.records[:1]:
        lines.append(f"# CRESTA_ASYNC={record['async']}; work {record['work']:g}; seconds")
    for line in lines:
        out.print(line, style="dim", soft_wrap=True)
    print_records(result.records)
    for note in too_slow(result.records) + result.notes:
        out.print(f"# {note['about']}: {note['text']}", style="yellow", soft_wrap=True)
    for sentence in harness.sentences(result.records):
        out.print(sentence, soft_wrap=True)


def too_slow(records):
    return [
        {
            "about": f"{r['alg']} {format_size(r['bytes'])}",
            "text": f"too slow for its share of --budget: {r['warmups']} warm-up iterations only",
        }
        for r in records
        if r["warmups"] < 2
    ]


def print_records(records):
    made = table(
        *("ALG", ">Bytes", ">iters", ">t_total_row", ">t_comp_row", ">t_total_col", ">t_comp_col"),
        *(">Ratio", "Verified"),
    )
    for r in records:
        made.add_row(
            r["alg"],
            str(r["bytes"]),
            str(r["iters"]),
            *(f"{r[f't_{what}_{side}']:#.6g}" for side in ("row", "col") for what in TIMES),
            f"{r['ratio_to_mpi']:.2f}",
            "yes" if r["verified"] else "WRONG",
            style="" if r["verified"] else "bold red",
        )
    show(made)


TIMES = ["total", "comp"]
