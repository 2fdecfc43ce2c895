# SPDX-License-Identifier: BSD-3-Clause
import sys

import click

from crestacoll import __version__
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import WRONG, out, show, table
from crestacoll_tools.bench import overhead
from crestacoll_tools.builds import machine
from crestacoll_tools.builds.builds import choose_builds


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
@click.option(
    "--communicators",
    type=click.IntRange(100),
    metavar="N",
    help="Make, use and free N communicators instead.",
)
@click.option(
    "--profile",
    type=click.IntRange(2),
    metavar="N",
    help="Switch a profile on and off instead, N times.",
)
@click.option(
    "-n", "ranks", default=2, show_default=True, type=click.IntRange(1), metavar="RANKS",
    help="Ranks of --communicators and --profile.",
)
@click.option(
    "--impl", default="auto", show_default=True, metavar="RULES",
    help="Rules of --communicators and --profile.",
)
@click.option("--check", is_flag=True, help="Exit with 1 if a line misses its target.")
@json_option
def command(mpis, instructions, runs, communicators, profile, ranks, impl, check, json_to):
    """Measure what crestacoll adds to a call that it passes on to the MPI: an 8-byte allreduce on
    MPI_COMM_SELF.

    PMPI_Allreduce (plain) and the preloaded MPI_Allreduce alternate in batches in one process.
    Targets: at most 40 ns more (60 ns under MPI_THREAD_MULTIPLE), at most 60 ns with every call
    recorded. Exit code 1 with --check when one is missed.

    With --communicators, MPI_Comm_dup, MPI_Comm_split, the first 8-byte allreduces on what they
    make and MPI_Comm_free alternate with their PMPI_ functions in one job. Targets: making one
    takes at most twice as long, and one that made a small call at most 24 KiB more memory.

    With --profile, blocks of 10,000 allreduces of 8 bytes on MPI_COMM_WORLD run without, with, with
    and without a profile, again and again in one job. Target: on two ranks and more, at most 3 %
    longer in the median. Pairs of blocks that do not differ show the noise.
    """
    if communicators and profile:
        raise click.UsageError("--communicators and --profile exclude each other")
    if profile:
        found = [overhead.profile(b, impl, ranks, profile) for b in choose_builds(mpis)]
        write(json_to, profile=found)
        if json_to != "-":
            print_profile(found)
        if check and not all(one["met"] is not False for one in found):
            sys.exit(WRONG)
        return
    if communicators:
        found = [overhead.communicators(b, impl, ranks, communicators) for b in choose_builds(mpis)]
        write(json_to, communicators=found)
        if json_to != "-":
            print_communicators(found)
        if check and not all(part["met"] for f in found for part in (*f["steps"], f["kib"])):
            sys.exit(WRONG)
        return
    rows = [
        row(build, scenario, thread, index, instructions, runs)
        for build in choose_builds(mpis)
        for index, thread in enumerate(("single", "multiple"))
        for scenario in overhead.SCENARIOS
    ]
    missed = [r for r in rows if not r["met"]]
    write(json_to, records=rows)
    if json_to != "-":
        print_rows(rows)
    if check and missed:
        sys.exit(WRONG)


def write(json_to, **found):
    if json_to:
        head = {"schema": "crestacoll-overhead-1", "crestacoll": __version__}
        write_json(head | {"machine": machine.describe()} | found, json_to)


def print_profile(found):
    out.print(f"# {machine.sentence(machine.describe())}", style="dim", soft_wrap=True)
    heads = ["MPI", "rules", ">ranks", ">off(us)", ">on(us)", ">timed", "blocks"]
    made = table(*heads, ">ratio", ">p10", ">p90")
    pairs = {"on_by_off": "on by off", "off_by_off": "off by off", "on_by_on": "on by on"}
    for one in found:
        for key, words in pairs.items():
            ratio = one[key]
            made.add_row(
                one["mpi"],
                one["rules"],
                str(one["ranks"]),
                f"{one['off_us']['median']:.4f}",
                f"{one['on_us']['median']:.4f}",
                f"{100 * one['timed']['median']:.0f} %",
                words,
                *(f"{ratio[part]:.3f}" for part in ("median", "p10", "p90")),
                style="red" if one["met"] is False else "",
            )
    show(made)
    words = {True: "yes", False: "NO", None: "not decided, more of --profile would tell"}
    for one in found:
        if one["limit"]:
            out.print(
                f"{one['mpi']}: the median of on by off is {one['on_by_off']['median']:.3f},"
                f" give or take {one['margin']:.3f} (target: at most {one['limit']:g}:"
                f" {words[one['met']]})",
                soft_wrap=True,
            )


def print_communicators(found):
    out.print(f"# {machine.sentence(machine.describe())}", style="dim", soft_wrap=True)
    made = table(
        "MPI", "step", ">plain(us)", ">interposed(us)", ">ratio", ">p10", ">p90", ">target", "met"
    )
    for one in found:
        for step in one["steps"]:
            ratio = step["ratio"]
            made.add_row(
                one["mpi"],
                step["step"],
                f"{step['plain_us']['median']:.2f}",
                f"{step['interposed_us']['median']:.2f}",
                f"{ratio['median']:.2f}",
                f"{ratio['p10']:.2f}",
                f"{ratio['p90']:.2f}",
                f"<= {step['limit']:g}" if step["limit"] else "-",
                ("yes" if step["met"] else "NO") if step["limit"] else "-",
                style="" if step["met"] else "red",
            )
    show(made)
    for one in found:
        kib = one["kib"]
        out.print(
            f"{one['mpi']}, {counted(one['ranks'], 'rank')}, {one['rules']}: a communicator that"
            f" made a small call takes {kib['plain']:.0f} KiB in plain MPI,"
            f" {kib['interposed']:.0f} KiB with crestacoll"
            f" (target: at most {kib['limit']} KiB more: {'yes' if kib['met'] else 'NO'})",
            soft_wrap=True,
        )


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
