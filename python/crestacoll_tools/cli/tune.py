# SPDX-License-Identifier: BSD-3-Clause
import shlex
import shutil
import sys

import click

from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.sizes import Sizes
from crestacoll_tools.base.ui import Problem, out
from crestacoll_tools.bench import options as shared
from crestacoll_tools.builds.builds import choose_builds

EPILOG = """\b
crestacoll tune allreduce,bcast,alltoall -n 4 --budget 10m
crestacoll tune --resume --budget 30m
crestacoll tune all -n 2,4 --launcher 'srun --nodes 2'
crestacoll run --tuning crestacoll-tune/tuning.json -- mpirun -n 4 ./app

\b
Everything is in DIR: tuning.json with the rules, state.json with what was measured.

\b
Exit codes: 0 it ended, whether something is gained or not; 2 wrong usage; 125 it could not run;
130 interrupted by Ctrl-C (128+n: by signal n); --resume goes on."""


@click.command(
    "tune", short_help="Tune a machine: rules for all collectives and sizes.", epilog=EPILOG
)
@click.argument("collectives", default="all")
@click.option(
    "-n",
    "--ranks",
    default="2",
    show_default=True,
    metavar="LIST",
    help="Numbers of ranks; powers of two up to the largest are added: 8 is 2,4,8.",
)
@shared.crowded
@click.option(
    "--sizes",
    type=Sizes(),
    default="8:2M:x8",
    show_default=True,
    metavar="LIST",
    help="Sizes and ranges, as in `crestacoll bench`.",
)
@shared.time("10m", "Time for everything, such as 90s, 10m, 1h. More time finds smaller gains.")
@shared.folder(
    "crestacoll-tune",
    "Folder for the tuning file and what was measured.",
    ("state.json", "lock", "tuning.json", "native.json"),
)
@shared.keep_rounding
@click.option(
    "--native",
    is_flag=True,
    help=(
        "Race the algorithms of the MPI itself instead, in jobs of their own: those of Open MPI's"
        " coll_tuned, or of MPICH's control variables. `crestacoll tuning export` writes the"
        " winners in the format of that MPI."
    ),
)
@shared.resume
@click.option("--mpi", metavar="NAME", help="Build to use; default: the first.")
@click.option(
    "--launcher",
    metavar="WORDS",
    help="Launcher and its options, in front of `-n N`; default: mpiexec of the build.",
)
@json_option
def command(
    collectives, ranks, sizes, budget, output, keep_rounding, native, resume, mpi, launcher, json_to
):
    """Tune this machine: find the fastest implementation of COLLECTIVES (`allreduce,bcast`, or
    `all`) at each size and number of ranks, and write a tuning file.

    The implementations take turns in one job. A rule enters the file only if its gain is
    proved: it was found among all models and algorithms, and shows again on fresh data against the
    MPI's own.
    """
    from crestacoll_tools.tune import state as states

    if resume:
        state = states.resumed(output)
        build = choose_builds(state.data["options"]["mpi"])[0]
    else:
        build = choose_builds(mpi)[0]
        asked = (collectives, ranks, sizes, keep_rounding, native, launcher)
        state = states.new(output, options_of(build, *asked))
    with state:
        number = tune(build, state, budget)
        if state.data["options"]["native"]:
            finish_native(build, state, json_to)
        else:
            finish(state, json_to)
    sys.exit(128 + number if number else 0)


def options_of(build, collectives, ranks, sizes, keep_rounding, native, launcher):
    from crestacoll_tools.tune import grid, native as natives

    words = shlex.split(launcher) if launcher else None
    if words and shutil.which(words[0]) is None:
        raise click.UsageError(f"--launcher: there is no command '{words[0]}'")
    counts = grid.rank_counts(ranks)
    if words is None:
        shared.refuse_crowd(click.get_current_context(), None, counts)
    known = natives.collectives(build) if native else build.measured
    return {
        "collectives": grid.collectives(collectives, known, keep_rounding),
        "ranks": counts,
        "sizes": sorted(sizes),
        "keep_rounding": keep_rounding,
        "native": native,
        "mpi": build.name,
        "launcher": words,
    }


def tune(build, state, budget):
    """Does the work; the number of the signal that interrupted it, or 0."""
    from crestacoll_tools.explore import progress, runs
    from crestacoll_tools.tune import measure, native_search, search

    kind = native_search.NativeSearch if state.data["options"]["native"] else search.Search
    jobs = measure.Jobs(build, state.data["options"]["launcher"])
    state.data["ended"] = ""
    try:
        with progress.shown(budget) as tell, runs.interruptible():
            kind(build, state, jobs, budget, tell).work()
    except runs.Interrupted as e:
        state.data["ended"] = "interrupted"
        state.save()
        return e.number
    except Problem as e:
        state.data["ended"] = e.message
        state.save()
        raise
    return 0


def finish(state, json_to):
    """Writes the tuning file and tells."""
    from crestacoll_tools.tune import rules, words

    path, found = rules.write(state)
    if json_to:
        write_json(state.data | {"rules": found, "file": path and str(path)}, json_to)
    if json_to == "-":
        return
    words.show_points(state)
    words.show_rules(found)
    for line in words.summary(state, found, path):
        out.print(line, soft_wrap=True)


def finish_native(build, state, json_to):
    """As `finish`, for the algorithms of the MPI itself."""
    from crestacoll_tools.tune import native_file, words

    path, found = native_file.write(state, build.family)
    if json_to:
        write_json(state.data | {"native": found, "file": path and str(path)}, json_to)
    if json_to == "-":
        return
    words.show_points(state)
    for line in words.native_summary(state, found, path, build.family):
        out.print(line, soft_wrap=True)
