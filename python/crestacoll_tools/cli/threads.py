# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import re
import shutil
import subprocess
import tempfile

import click

from crestacoll import __version__
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import TEXT, Problem, out, show, table
from crestacoll_tools.bench import benchjob, options
from crestacoll_tools.builds import machine
from crestacoll_tools.builds.builds import choose_builds, clean_environment

COUNTED = "make_counted_calls"  # of bench/threads_turns.c


@click.command("threads", short_help="Measure collectives of several threads of each rank.")
@options.ranks(2)
@options.mpis
@click.option(
    "--impl",
    default="mpi,shm,p2p",
    show_default=True,
    metavar="LIST",
    help="Implementations; begin:NAME begins calls and ends them at once.",
)
@click.option(
    "--threads",
    default="1,2,4,8",
    show_default=True,
    metavar="LIST",
    help="Threads of each rank; the first number is what others are compared with.",
)
@click.option(
    "--collective",
    default="allreduce",
    show_default=True,
    type=click.Choice(["allreduce", "alltoall", "bcast", "barrier"]),
)
@click.option(
    "--bytes",
    "size",
    default=8,
    show_default=True,
    type=click.IntRange(8, 65536),
    metavar="N",
    help="Bytes of a call, a multiple of 8.",
)
@click.option(
    "--turns",
    default=15,
    show_default=True,
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Turns of each implementation and number of threads.",
)
@click.option(
    "--ms",
    default=20,
    show_default=True,
    type=click.IntRange(1, 10000),
    metavar="N",
    help="Milliseconds of a turn with one thread.",
)
@click.option(
    "--instructions",
    is_flag=True,
    help="Count the instructions of a call with callgrind, too (a job for each row).",
)
@json_option
def command(ranks, mpis, impl, threads, collective, size, turns, ms, instructions, json_to):
    """Measure how many collectives all threads of a job complete in a second.

    Each thread calls on a communicator of its own (MPI_THREAD_MULTIPLE). The number of
    calls is the same for any number of threads; implementations and numbers of threads take turns
    in one job. Locks: how often a call takes one, and how often it finds it taken.
    """
    words = [impl, threads, collective, str(size), str(turns), str(ms)]
    rows = []
    for build in choose_builds(mpis):
        records = measure(build, ranks, words)
        if instructions:
            for r in records:
                r["instructions_per_call"] = count(build, ranks, words, r)
        rows += [{"mpi": build.name} | r for r in records]
    if json_to:
        write_json(
            {
                "schema": "crestacoll-threads-1",
                "crestacoll": __version__,
                "machine": machine.describe(),
                "ranks": ranks,
                "records": rows,
            },
            json_to,
        )
    if json_to != "-":
        print_rows(rows, ranks)


def environment():
    """Begun calls need a progress thread that may call the MPI."""
    return clean_environment(CRESTA_ASYNC="thread")


def run(build, words):
    done = subprocess.run(words, env=environment(), capture_output=True, **TEXT, check=False)
    try:
        records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    except ValueError:
        records = []
    if done.returncode != 0 or not records:
        raise Problem(f"crestacoll-threads of {build.name} failed:\n{done.stdout}{done.stderr}")
    return records


def measure(build, ranks, words):
    launch = benchjob.launch_words(build, ranks)
    return run(build, [*launch, *build.words("crestacoll-threads"), *words])


def count(build, ranks, words, record):
    """Instructions of a call on rank 0, which callgrind slows down, so that the others' data have
    come when it looks.
    """
    if shutil.which("valgrind") is None:
        raise Problem("--instructions needs valgrind")
    program = build.words("crestacoll-threads")
    asked = [record["impl"], str(record["threads"]), *words[2:4], "1", "1"]
    launch = benchjob.launch_words(build, ranks)[:-2]
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "callgrind.out")
        valgrind = [
            "valgrind",
            "--tool=callgrind",
            f"--toggle-collect={COUNTED}",
            f"--callgrind-out-file={result}",
        ]
        first = ["-n", "1", *valgrind, *program, *asked]
        others = [":", "-n", str(ranks - 1), *program, *asked] if ranks > 1 else []
        calls = run(build, [*launch, *first, *others])[0]["counted_calls"]
        with open(result, encoding="utf-8") as f:
            total = re.search(r"^(?:totals|summary): (\d+)", f.read(), re.MULTILINE)
    return round(int(total[1]) / calls, 1)


def print_rows(rows, ranks):
    first = rows[0]
    out.print(
        f"# {machine.sentence(machine.describe())}; {counted(ranks, 'rank')}, {first['collective']}"
        f" of {first['bytes']} bytes; medians, calls of all threads of a rank",
        style="dim",
        soft_wrap=True,
    )
    has_counts = "instructions_per_call" in first
    made = table(
        "MPI",
        "implementation",
        ">threads",
        ">calls/s",
        ">of one",
        ">p10",
        ">p90",
        ">locks/call",
        ">waits/call",
        *([">instructions/call"] if has_counts else []),
    )
    for r in rows:
        ratio = r["of_one_thread"]
        made.add_row(
            r["mpi"],
            r["impl"],
            str(r["threads"]),
            f"{r['calls_per_second']['median']:.0f}",
            f"{ratio['median']:.2f}",
            f"{ratio['p10']:.2f}",
            f"{ratio['p90']:.2f}",
            f"{sum(r['locks_per_call'].values()):.1f}",
            f"{sum(r['lock_waits_per_call'].values()):.4f}",
            *([f"{r['instructions_per_call']:.0f}"] if has_counts else []),
        )
    show(made)
