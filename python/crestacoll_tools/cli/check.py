# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import sys

import click

from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.text import counted, visible
from crestacoll_tools.base.ui import WRONG, Problem, err, out, show, table
from crestacoll_tools.bench import checkjob, choices, verdicts
from crestacoll_tools.bench.checkjob import FINE, NOT_HERE
from crestacoll_tools.builds.builds import choose_builds
from crestacoll_tools.cli.bench import names

EPILOG = """\b
Exit codes: 0 all that ran is correct; 1 something is wrong; 2 wrong usage; 125 it could not run.

CRESTA_DEBUG is passed on to the ranks: `CRESTA_DEBUG=fail=9 crestacoll check bcast --impl p2p`
shows what an error looks like."""


def read_ranks(ctx, param, text):
    try:
        ranks = [int(word) for word in text.split(",")]
    except ValueError:
        ranks = [0]
    if not all(1 <= n <= 64 for n in ranks):
        raise click.BadParameter("write numbers from 1 to 64, such as 2 or 2,3,8")
    return ranks


@click.command("check", short_help="Verify implementations on this machine.", epilog=EPILOG)
@click.argument("collectives", default="all")
@click.option(
    "-n",
    "--ranks",
    default="2,3",
    show_default=True,
    callback=read_ranks,
    metavar="LIST",
    help="Numbers of ranks, one after the other.",
)
@click.option(
    "--impl",
    "implementations",
    metavar="LIST",
    help=(
        "Implementations, comma-separated: p2p:ring, 'alltoall=p2p:chunked?chunk=4K' (quoted);"
        " `mpi` is always included. Default: every model."
    ),
)
@click.option("--all", "everything", is_flag=True, help="Every algorithm and option of each model.")
@click.option(
    "--mpi",
    "mpis",
    default="all",
    show_default=True,
    metavar="LIST",
    help="Builds to use: openmpi, mpich, ...",
)
@click.option(
    "--language",
    type=click.Choice(["c", "fortran", "both"]),
    default="both",
    show_default=True,
    help="Which interface is called.",
)
@click.option(
    "--seconds",
    default=0.5,
    show_default=True,
    type=click.FloatRange(0.01),
    metavar="S",
    help="Approximate time for each implementation of a collective: slow ones run fewer cases.",
)
@click.option(
    "--timeout",
    default=60,
    show_default=True,
    type=click.IntRange(1),
    metavar="S",
    help="A case that has not ended after S seconds counts as wrong.",
)
@json_option
def command(
    collectives, ranks, implementations, everything, mpis, language, seconds, timeout, json_to
):
    """Verify implementations of COLLECTIVES (`allreduce,alltoall`, or `all`) on this machine.

    Every implementation runs with sizes from zero to several hundred KiB, predefined and derived
    types, every root, in place, and on several communicators. Whole buffers are compared: in C with
    the result that the MPI standard defines, in Fortran with the MPI's own result. Errors are
    reported as `Error in CRESTA_<COLLECTIVE>`. An implementation that cannot run here is listed
    with the reason; no other one runs in its place.
    """
    if everything and implementations:
        raise Problem("--all and --impl exclude each other", exit_code=2)
    limits = {"seconds": seconds, "timeout": timeout}
    whole = collectives == "all" and not implementations and language == "both"
    results = []
    for build in choose_builds(mpis):
        cells, lacking = cells_of(build, collectives, implementations, everything)
        only = languages_of(build, language)
        count = len(cells) * len(only) * len(ranks)
        with progress_bar(build.name, count) as advance:
            outcome = verdicts.check(build, cells, lacking, ranks, limits, advance, only)
        data = verdicts.keep(build, outcome) if whole else verdicts.record(build, outcome)
        results.append(data)
        if json_to != "-":
            print_build(build, data)
    if json_to:
        write_json({"schema": verdicts.SCHEMA, "builds": results}, json_to)
    if any(v["errors"] or v["status"] == checkjob.WRONG for r in results for v in r["verdicts"]):
        sys.exit(WRONG)


def cells_of(build, collectives, implementations, everything):
    asked = names(collectives, build.collectives, "collective")
    words = choices.chosen(build, implementations, asked) if implementations else None
    return checkjob.list_cells(build, asked, words, everything)


def languages_of(build, language):
    here = checkjob.languages(build)
    if language == "both":
        return here
    wanted = {"c": "C", "fortran": "Fortran"}[language]
    if wanted not in here:
        raise Problem(f"{build.name} is built without Fortran")
    return [wanted]


@contextlib.contextmanager
def progress_bar(name, total):
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

    name_column = TextColumn("checking {task.description}", markup=False)
    columns = [name_column, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    with Progress(*columns, console=err.console, transient=True) as bar:
        task = bar.add_task(visible(name), total=total)
        yield lambda: bar.advance(task)


def print_build(build, data):
    """A line for each implementation, then the errors, then what is not here."""
    found = data["verdicts"]
    library = " ".join(data["mpi"]["library"].split(",")[0].split())
    ranks = " and ".join(str(n) for n in dict.fromkeys(v["ranks"] for v in found))
    spoken = " and ".join(dict.fromkeys(v["language"] for v in found))
    out.print(f"{build.name}: {library}, {counted(ranks, 'rank')}, {spoken}", style="bold")
    made = table("implementation", "result", ">collectives", ">calls", "not here")
    for name in dict.fromkeys(v["implementation"] for v in found):
        mine = [v for v in found if v["implementation"] == name]
        made.add_row(*row_of(name, mine), style=style_of(mine))
    show(made)
    for line in dict.fromkeys(e for v in found for e in v["errors"]):
        out.print(line, style="bold red", soft_wrap=True)
    for line in notes_of(data):
        out.print(line, style="dim", soft_wrap=True)
    out.print()


def style_of(mine):
    if any(v["status"] == checkjob.WRONG for v in mine):
        return "bold red"
    return "" if any(v["status"] == FINE for v in mine) else "yellow"


def row_of(name, mine):
    wrong = ordered(v for v in mine if v["status"] == checkjob.WRONG)
    fine = [c for c in ordered(v for v in mine if v["status"] == FINE) if c not in wrong]
    absent = ordered(v for v in mine if v["status"] == NOT_HERE)
    result = f"WRONG: {', '.join(wrong)}" if wrong else "fine" if fine else "not here"
    absent = ["all"] if absent and not fine and not wrong else absent
    calls = sum(v["calls"] for v in mine)
    return name, result, str(len(fine)), str(calls), ", ".join(absent)


def ordered(some):
    return list(dict.fromkeys(v["collective"] for v in some))


def notes_of(data):
    """Why something is not here, once for all that it concerns; and what was left out."""
    reasons = {}
    for v in data["verdicts"]:
        if v["status"] == NOT_HERE or v["refused"]:
            about = f"{v['collective']}={v['implementation']}"
            if v["status"] == NOT_HERE and v["why"] and len(set(ordered(data["verdicts"]))) > 1:
                whole = all(
                    w["why"] == v["why"]
                    for w in data["verdicts"]
                    if w["implementation"] == v["implementation"]
                )
                about = v["implementation"] if whole else about
            reasons.setdefault(verdicts.refusal(v), []).append(about)
    lines = [f"{', '.join(dict.fromkeys(who))}: {why}" for why, who in reasons.items()]
    return lines + [f"left out: {n}" for n in data["left_out"]]
