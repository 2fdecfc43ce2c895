# SPDX-License-Identifier: BSD-3-Clause
import json
import subprocess
from pathlib import Path

import click
from click.core import ParameterSource

from crestacoll import __version__
from crestacoll_tools.base import outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.sizes import Size
from crestacoll_tools.base.ui import CANNOT, TEXT, USAGE, WRONG, Problem, out
from crestacoll_tools.builds.builds import AGAIN, all_builds, choose_builds, clean_environment
from crestacoll_tools.explain.schedules import (
    MODEL,
    NODE_MODEL,
    print_comparison,
    print_found,
    print_one,
)

MOST_RANKS = 512  # of the simulator

EPILOG = """\b
crestacoll explain alltoall --bytes 4K -n 7
crestacoll explain alltoall --bytes 4K -n 7 --impl 'p2p:bruck?k=3' --schedule 0
crestacoll explain p.json
crestacoll explain crestacoll-explore --point 'allreduce 8 bytes 4 ranks comm world'

\b
rounds      rounds in which a rank has messages; of the rank with the most
chain       longest sequence of messages that wait for each other: the latency
busiest     the rank that sends, or receives, most messages; the one that sends most bytes
scratch     largest scratch memory of a rank, in bytes

\b
Bytes are counted as in `crestacoll help bench`; all blocks of the uneven calls (gatherv, ...)
have this size. Reductions use elements of 8 bytes: sizes are rounded up.

\b
Exit codes: 0 fine; 1 a schedule is wrong; 2 wrong usage; 125 it could not run."""


@click.command(
    "explain",
    short_help="Say what runs and why; show the messages of an algorithm.",
    epilog=EPILOG,
)
@click.argument("collective", type=outputs.Input(), metavar="COLLECTIVE|FILE")
@click.option(
    "--point",
    metavar="TEXT",
    help="The calls of FILE to explain: 'COLLECTIVE [SIZE bytes] [N ranks] [comm NAME]'.",
)
@click.option(
    "-n",
    "--ranks",
    default=8,
    show_default=True,
    type=int,
    metavar="N",
    help="Number of ranks, up to 512.",
)
@click.option(
    "--bytes",
    "size",
    type=Size(),
    default="1K",
    show_default=True,
    help="Bytes of a call, as in `crestacoll help bench`.",
)
@click.option(
    "--impl",
    "implementation",
    metavar="p2p[:ALGORITHM[?PARAM=VALUE]]",
    help="One algorithm, with --nodes of hier; default: all of them are compared.",
)
@click.option("--root", type=int, metavar="N", help="Root of rooted calls; default: 0.")
@click.option("--schedule", type=int, metavar="RANK", help="Also show the steps of this rank.")
@click.option(
    "--node-shape",
    "node",
    metavar="AxBxC",
    help=(
        "Also count what goes to another cache, and to another memory, of a node with A memories,"
        " B caches at each, and C cores at each cache, a rank on each core."
    ),
)
@click.option(
    "--nodes",
    metavar="NxM|M+M+...|K,K,...",
    help=(
        "Ranks on several nodes, as CRESTA_NODES has it: also count what goes between nodes, and"
        " compare the algorithms of hier."
    ),
)
@click.option(
    "--topology",
    metavar="torus:D|stencil:D|random:K",
    help=(
        "For neighbourhood collectives: a torus of D dimensions; one in which all ranks around each"
        " are neighbours; or K others at random to which each rank sends."
    ),
)
@click.option("--mpi", metavar="NAME", help="Build to use; default: the first.")
@json_option
@click.pass_context
def command(
    ctx,
    collective,
    point,
    ranks,
    size,
    implementation,
    root,
    schedule,
    node,
    nodes,
    topology,
    mpi,
    json_to,
):
    """Show what the algorithms of COLLECTIVE do: rounds, messages, bytes, and the steps of a rank.

    Nothing is timed and no MPI runs: a simulator runs the schedules of all ranks and counts.
    Without an algorithm, a table compares all algorithms of the collective.

    With a FILE instead (a profile, a tuning file, a result of `crestacoll bench` or `explore`, the
    folder of `explore` or `tune`), say for each point of it which implementation runs, or was
    fastest, and which rule of which source decided that. A point is calls of one collective, size,
    communicator and number of ranks. With --point, also say what else was possible and how much
    slower it was, as far as that was measured, and show the schedule of that point; --schedule,
    --mpi and --json work as above. A file whose name is that of a collective is ./NAME.
    """
    if is_file(collective):
        own = ("ranks", "size", "implementation", "root", "node", "nodes", "topology")
        refuse_options(ctx, own)
        explain_file(collective, point, schedule, mpi, json_to)
        return
    if point:
        raise Problem("--point goes with a FILE", USAGE)
    if not collective.isidentifier():
        raise Problem(f"there is no file {collective}", USAGE)
    build = choose_builds(mpi)[0]
    default = NODE_MODEL if nodes else MODEL
    algorithm = algorithm_of(build, implementation or default, default)
    if schedule is not None and not algorithm:
        raise Problem(f"--schedule needs one algorithm: --impl {default}:ALGORITHM", exit_code=2)
    found = ask(
        build,
        [collective.lower(), ranks],
        {"bytes": size, "algorithm": algorithm, "root": root, "schedule": schedule}
        | {"node-shape": node, "nodes": nodes, "topology": topology},
    )
    found["nodes"] = nodes
    found["topology"] = topology
    data = {"schema": "crestacoll-explain-1", "crestacoll": __version__, **found}
    data["bytes_asked"] = size
    if json_to:
        write_json(data, json_to)
    if json_to != "-":
        print_found(data, one=bool(algorithm))
    say_errors(data["algorithms"])


def is_file(name):
    """A collective that has the name of a file is meant as such."""
    if not Path(name).exists():
        return False
    builds = all_builds()
    return not builds or name.lower() not in builds[0].collectives


def refuse_options(ctx, names):
    for name in names:
        if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            option = next(p.opts[-1] for p in ctx.command.params if p.name == name)
            raise Problem(f"{option} goes with a COLLECTIVE; for a FILE use --point", USAGE)


def explain_file(name, asked, schedule, mpi, json_to):
    """What is known of the points of a file. Schedules need a build, all else does not."""
    from crestacoll_tools.explain import explainshow, explanation
    from crestacoll_tools.rules import points

    build = next(iter(choose_builds(mpi) if mpi else all_builds()), None)
    data = {"schema": "crestacoll-explain-point-1", "crestacoll": __version__, "file": name}
    if asked is None:
        if schedule is not None:
            raise Problem("--schedule needs --point", USAGE)
        entries = explanation.explained(name)
        if json_to:
            write_json(data | {"points": [explainshow.as_json(e) for e in entries]}, json_to)
        if json_to != "-":
            explainshow.show_list(entries)
            print_use(build, name)
        return
    point = points.parse_point(asked, build.collectives if build else None)
    entry, others = explanation.at_point(name, point)
    found, why = schedules(build, entry, schedule)
    if json_to:
        write_json(data | {"points": [explainshow.as_json(entry)], "schedules": found}, json_to)
    if json_to != "-":
        explainshow.show_one(entry, others)
        print_use(build, name)
        print_schedules(entry, found, why)


def print_use(build, name):
    """Whether ranks here would use a tuning file at all."""
    from crestacoll_tools.cli.tuning import sentence
    from crestacoll_tools.report import reportfiles

    if build and reportfiles.is_tuning(name):
        verdict = build.tuning(name)
        if "used" in verdict:
            out.print(f"{build.name}: {sentence(verdict)}", style="dim", soft_wrap=True)


def schedules(build, entry, schedule):
    """({"runs": what crestacoll-explain says of the algorithm, or None, "all": of all of them},
    why there is none). A point without size has blocks of 1 KiB.
    """
    point, none = entry["point"], {"runs": None, "all": None}
    if build is None:
        return none, "nothing is built: no schedule is shown"
    if point.collective == "*" or point.ranks is None:
        return none, "the point names no number of ranks, or no collective: no schedule is shown"
    if point.ranks > MOST_RANKS:
        return none, f"schedules are shown for up to {MOST_RANKS} ranks"
    words = [point.collective, point.ranks]
    options = {"bytes": 1024 if point.low is None else point.low}
    every = ask(build, words, options)
    name = ran_algorithm(entry["implementation"], every["preset"])
    if entry["implementation"].startswith(NODE_MODEL):
        shown = f"crestacoll explain {point.collective} -n {point.ranks} --nodes 2x4"
        return none, f"what {NODE_MODEL} runs depends on the nodes: {shown}, with the nodes there"
    if name is None:
        return none | {"all": every}, f"{entry['implementation']} has no schedule of this library"
    known = {a["name"] for a in every["algorithms"]}
    plain = name.partition("?")[0]
    if plain not in known:
        return none | {"all": every}, f"'{plain}' is not an algorithm of this build"
    try:
        runs = ask(build, words, options | {"algorithm": name, "schedule": schedule})
    except Problem:  # options of the model, such as via=get, stand beside those of the algorithm
        runs = ask(build, words, options | {"algorithm": plain, "schedule": schedule})
    return {"runs": runs, "all": every}, ""


def ran_algorithm(implementation, preset):
    """'shm:ring' -> 'ring'; p2p chooses by itself; others alone have no schedule of messages."""
    model, colon, algorithm = implementation.partition(":")
    if colon:
        return algorithm
    return preset if model.partition("?")[0] == MODEL else None


def print_schedules(entry, found, why):
    out.print("\nSchedule", style="bold")
    if why:
        out.print(f"  {why}", soft_wrap=True)
    if found["runs"] and not entry["implementation"].startswith(MODEL):
        model = entry["implementation"].partition(":")[0]
        out.print(f"  {model} runs the steps of this schedule, by its own means:", soft_wrap=True)
    if found["runs"]:
        print_one(found["runs"]["algorithms"][0])
    if found["all"]:
        out.print("\nSchedules that are possible here", style="bold")
        print_comparison(found["all"]["algorithms"])
    if entry["point"].low is None and found["all"]:
        out.print("The calls have no common size: shown for 1K.", style="dim")


def algorithm_of(build, implementation, wanted):
    """'p2p:bruck?k=3' -> 'bruck?k=3'; 'p2p' -> ''. `wanted`: the model of all schedules shown."""
    model, colon, algorithm = implementation.partition(":")
    name = model.partition("?")[0]
    known = [m["name"] for m in build.description["models"]]
    if name == NODE_MODEL != wanted:
        raise Problem("say where the ranks are: --nodes 2x4", exit_code=2)
    if name in known and name != wanted:
        raise Problem(
            f"{model} has no schedule here: only the algorithms of {wanted} have one", exit_code=2
        )
    if model.startswith(f"{wanted}?") or (colon and not algorithm.partition("?")[0]):
        raise Problem(f"'{implementation}' names no algorithm: write {wanted}:NAME", exit_code=2)
    if model != wanted:
        raise Problem(
            f"no implementation '{model}'; {wanted} and {wanted}:ALGORITHM have a schedule",
            exit_code=2,
        )
    return algorithm


def ask(build, words, options):
    """What crestacoll-explain answers; what it refuses is wrong usage."""
    program = build.program("crestacoll-explain")
    given = [(f"--{k}", str(v)) for k, v in options.items() if v not in (None, "")]
    own = build.words("crestacoll-explain")
    command = [*own, *map(str, words), *(word for pair in given for word in pair)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            **TEXT,
            timeout=300,
            env=clean_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired as e:
        raise Problem("no answer in 5 minutes: try fewer ranks, or larger pieces") from e
    except OSError as e:
        raise Problem(f"{program} does not work ({e}); {AGAIN}") from e
    if done.returncode == 2:
        raise Problem(done.stderr.strip(), exit_code=2)
    try:
        return json.loads(done.stdout)
    except ValueError as e:
        raise Problem(f"{program} failed: {done.stderr.strip() or done.returncode}") from e


def say_errors(algorithms):
    wrong = [a for a in algorithms if a["error"]]
    if wrong:
        code = CANNOT if all(a["too_large"] for a in wrong) else WRONG
        raise Problem("; ".join(f"{a['name']}: {a['error']}" for a in wrong), exit_code=code)
