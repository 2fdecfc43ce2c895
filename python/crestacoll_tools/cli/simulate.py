# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import dataclasses
import functools

import click
from click.core import ParameterSource

from crestacoll import __version__
from crestacoll_tools.base import outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.sizes import Sizes
from crestacoll_tools.base.ui import USAGE, Problem, err, out, status_line
from crestacoll_tools.bench import options
from crestacoll_tools.builds.builds import choose_builds
from crestacoll_tools.simulate import arguments, machines

EPILOG = """\b
crestacoll simulate allreduce -n 4096 --per-node 32 --machine FILE
crestacoll simulate alltoall -n 256,1024,4096 --per-node 16 --bytes 8,1K --machine FILE --plot a.png
crestacoll simulate --profile p.json -n 4096 --comm row=64,col=64 --machine FILE
crestacoll simulate --calibrate measured.json --check others.json --output machine.json

\b
simulated time  from when the last rank begins to when the last one ends; of one call
interface busy  share of that time in which the busiest interface, of a node or of a group,
                carried messages one way

\b
Exit codes: 0 fine; 1 no implementation could be simulated; 2 wrong usage; 125 it could not run."""

# Options that only one way to use the command has.
ONLY = {
    "COLLECTIVE": ("sizes", "root", "calls", "plot", "smpi", "topology"),
    "--profile": ("scaling", "comm_sizes", "steps", "top"),
    "--calibrate": ("output", "crowded"),
}


@click.command(
    "simulate", short_help="Simulate collectives on a machine of any size.", epilog=EPILOG
)
@click.argument("collective", required=False)
@click.option(
    "--profile",
    "profile_name",
    type=outputs.Input(),
    metavar="FILE",
    help="Simulate the calls of this profile at other numbers of ranks, instead of COLLECTIVE.",
)
@click.option(
    "-n",
    "--ranks",
    type=options.Counts(most=1 << 22),
    metavar="N[,N...]",
    help="Numbers of ranks, up to 4194304.",
)
@click.option(
    "--per-node",
    type=click.IntRange(1),
    metavar="N",
    help="Ranks of a node, one node filled after the other; default: what the machine file says.",
)
@click.option(
    "--machine",
    "machine_name",
    type=outputs.Input(),
    metavar="FILE",
    help="What messages, copies and reductions cost: docs/simulating.md.",
)
@click.option(
    "--bytes",
    "sizes",
    type=Sizes(),
    default="8",
    show_default=True,
    help="Bytes of a call, as in `crestacoll help bench`.",
)
@click.option(
    "--impl",
    "implementations",
    default="all",
    show_default=True,
    metavar="LIST",
    help="all; or p2p, hier (what they choose), p2p:ALGORITHM, hier:ALGORITHM, comma-separated.",
)
@click.option(
    "--topology",
    metavar="KIND:N",
    help="For neighbourhood collectives, as in `crestacoll help explain`: torus:1 to torus:4,"
    " stencil:2 to stencil:4, random:1 to random:64; or spikes:K, in which a cell of each rank has"
    " K connections (up to 10000) to ranks at random, each of which gets its spike once.",
)
@click.option(
    "--root",
    type=click.IntRange(0),
    metavar="N",
    default=0,
    help="Root of rooted calls; default: 0.",
)
@click.option(
    "--skew",
    type=arguments.Skew(),
    default="none",
    metavar="KIND:TIME",
    help=(
        "When ranks begin: uniform:10us, exponential:10us (mean), normal:10us (deviation); none."
        " Default: none; with --profile as late as ranks were there."
    ),
)
@click.option(
    "--seeds",
    type=click.IntRange(1),
    metavar="N",
    default=1,
    show_default=True,
    help=(
        "Simulations of each point, each with another skew; the median is shown, with --profile the"
        " mean."
    ),
)
@click.option(
    "--calls",
    type=click.IntRange(1),
    metavar="N",
    default=1,
    show_default=True,
    help="Calls one after the other, without a barrier between them.",
)
@click.option(
    "--no-queues", is_flag=True, help="All messages of a node pass its interface at once."
)
@click.option(
    "--limit",
    type=options.Duration(),
    default="60s",
    show_default=True,
    metavar="TIME",
    help="Leave out implementations that take longer to simulate.",
)
@click.option(
    "--scaling",
    type=click.Choice(["weak", "strong"]),
    default="weak",
    show_default=True,
    help="With --profile: a rank keeps its data and computation, or all ranks together do.",
)
@click.option(
    "--comm",
    "comm_sizes",
    type=arguments.CommSizes(),
    metavar="NAME=N[,...]",
    help="With --profile: sizes of communicators, by name or SIZE:STRIDE; default: all grow alike.",
)
@click.option(
    "--steps",
    type=click.IntRange(1),
    metavar="N",
    help="With --profile: time steps of the run; calls and times are of a step.",
)
@click.option(
    "--top",
    type=click.IntRange(1),
    metavar="N",
    default=20,
    show_default=True,
    help="With --profile: classes of calls to simulate, those that took longest.",
)
@click.option(
    "--calibrate",
    multiple=True,
    type=outputs.Input(),
    metavar="FILE",
    help="Find the machine that fits these results of `crestacoll bench --json`.",
)
@click.option(
    "--check",
    multiple=True,
    type=outputs.Input(),
    metavar="FILE",
    help="Compare simulated with measured times, at the points of these results that --calibrate"
    " has not seen.",
)
@click.option(
    "--crowded",
    is_flag=True,
    help="With --calibrate and --check: take points with more ranks than cores, too. The model has"
    " a core for each rank, so do so only where the network takes nearly all of the time.",
)
@click.option(
    "--output",
    type=outputs.Output(),
    metavar="FILE",
    help="The machine file that --calibrate writes.",
)
@click.option(
    "--plot",
    type=outputs.Output(),
    metavar="FILE",
    help="Draw the times: .png, .svg or .pdf.",
)
@click.option("--smpi", metavar="DIR", help="Write one point for SMPI: docs/lab/simulator.md.")
@click.option("--mpi", metavar="NAME", help="Build to use; default: the first.")
@json_option
@click.pass_context
def command(
    ctx, collective, profile_name, ranks, per_node, machine_name, sizes, implementations, topology,
    root, skew, seeds, calls, no_queues, limit, scaling, comm_sizes, steps, top, calibrate, check,
    crowded, output, plot, smpi, mpi, json_to,
):  # fmt: skip
    """Simulate COLLECTIVE with every algorithm of this library, on a machine of any size.

    The schedules are those that run on real ranks. No data move: the time of a message follows the
    model LogGP, with the costs of a machine file, messages of a node queue at its interface, and
    ranks may begin at different times. The results are as good as the machine file: each output
    names it, and how far its simulated times have been from measured ones.

    With --profile instead of COLLECTIVE, simulate the calls that a program made, at other numbers
    of ranks: which implementation would be the best for each, and what the program would take.
    """
    from crestacoll_tools.simulate import calibration, jobs, sweep

    refuse_options(ctx)
    if calibrate or check:
        files = calibration.Files(calibrate, check, crowded, output, json_to)
        calibration.run(choose_builds(mpi)[0], machine_name, files)
        return
    if not ((collective or profile_name) and ranks and machine_name):
        raise Problem(
            "expected COLLECTIVE or --profile FILE, with --ranks and --machine; or --calibrate",
            USAGE,
        )
    machine = machines.load(machine_name)
    build = choose_builds(mpi)[0]
    setting = sweep.Setting(
        machine=machine,
        per_node=per_node or machine.get("ranks_per_node", 1),
        skew=skew,
        seeds=seeds,
        calls=calls,
        queues=not no_queues,
        limits=jobs.Limits(seconds=limit),
        topology=topology,
    )
    if profile_name:
        simulate_profile(ctx, build, setting)
    else:
        simulate_collective(ctx, build, setting)


def given(ctx, name):
    return ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE


def refuse_options(ctx):
    """What does not go together."""
    params = ctx.params
    modes = [
        name
        for name, value in (
            (f"COLLECTIVE ({params['collective']})", params["collective"]),
            ("--profile", params["profile_name"]),
            ("--calibrate or --check", params["calibrate"] or params["check"]),
        )
        if value
    ]
    if len(modes) > 1:
        raise Problem(f"{' and '.join(modes)} do not go together", USAGE)
    for mine, name in ((mine, name) for mine, names in ONLY.items() for name in names):
        if given(ctx, name) and modes and not modes[0].startswith(mine):
            option = next(p.opts[-1] for p in ctx.command.params if p.name == name)
            raise Problem(f"{option} goes with {mine}, not with {modes[0]}", USAGE)


def simulate_collective(ctx, build, setting):
    """Points of one collective."""
    from crestacoll_tools.simulate import show, smpi, sweep

    asked, collective = ctx.params, ctx.params["collective"].lower()
    ranks, root, json_to, machine = asked["ranks"], asked["root"], asked["json_to"], setting.machine
    if any(root >= n for n in ranks):
        raise Problem(f"root {root} is not one of {min(ranks)} ranks, counted from 0", USAGE)
    arms = arms_of(build, collective, asked["implementations"], setting.topology)
    smpi.need_one_point(asked, arms)
    show.check_plot(asked["plot"])
    points = [
        sweep.point(build, setting, collective, n, size, arm, root)
        for n in ranks
        for size in (asked["sizes"] if collective != "barrier" else [0])
        for arm in arms
    ]
    if json_to:
        write_json(as_json(setting, points), json_to)
    if json_to != "-":
        show.print_points(points, machine)
    if asked["plot"]:
        show.save_plot(points, machine, asked["plot"])
        out.print(f"wrote {asked['plot']}", soft_wrap=True)
    if all(p["refused"] is not None for p in points):
        raise Problem("no implementation could be simulated", exit_code=1)
    smpi.write_point(build, setting, points[0], asked)


def simulate_profile(ctx, build, setting):
    """The calls of a profile at other numbers of ranks."""
    from crestacoll_tools.profile import profiles
    from crestacoll_tools.simulate import replay, replayshow

    params, file = ctx.params, ctx.params["profile_name"]
    data = profiles.load(file)
    asked = replay.Asked(
        ranks=params["ranks"],
        strong=params["scaling"] == "strong",
        sizes=params["comm_sizes"] or {},
        top=params["top"],
        skew=params["skew"] if given(ctx, "skew") else None,
        seeds=params["seeds"],
    )
    arms = arms_of_profile(build, params["implementations"])
    with told_on_terminal() as say:
        found = replay.run(replay.Replay(build, setting, asked, arms, say), data, file)
    told = {
        **common(setting, "crestacoll-simulate-profile-1"),
        "skew": dataclasses.asdict(asked.skew) if asked.skew else "as recorded",
        "seeds": asked.seeds,
        "profile": {k: data[k] for k in ("ranks", "mpi", "wall_s")} | {"file": file},
        "scaling": params["scaling"],
        "steps": params["steps"],
        **found,
    }
    if params["json_to"]:
        write_json(told, params["json_to"])
    if params["json_to"] != "-":
        replayshow.print_replay(told)
    if all(c["best"] is None for scale in told["scales"] for c in scale["classes"]):
        raise Problem("no implementation could be simulated", exit_code=1)


@contextlib.contextmanager
def told_on_terminal():
    """A function that shows what is being simulated, until the end."""
    if not err.is_terminal:
        yield lambda text: None
        return
    with err.console.status("simulating") as status:
        yield lambda text: status.update(status_line(f"simulating {text}"))


def arms_of_profile(build, wanted):
    """The implementations of a collective; the presets are always simulated."""
    from crestacoll_tools.simulate.replay import PRESETS

    if wanted == "all":
        return functools.cache(lambda collective: arms_of(build, collective, wanted))
    for arm in wanted.split(","):
        if arm.strip() not in PRESETS:
            raise Problem(f"--impl {arm}: with --profile all, or {', '.join(PRESETS)}", USAGE)
    return lambda collective: []


def arms_of(build, collective, wanted, topology=None):
    """The implementations that are asked for, as p2p:ring."""
    from crestacoll_tools.cli.explain import ask

    near = {"topology": topology}
    asked = ask(build, [collective, 2], {"nodes": "2x1"} | near)["algorithms"]
    plain = ask(build, [collective, 2], near)["algorithms"]
    names = [a["name"] for a in plain]
    possible = [f"p2p:{n}" for n in names]
    possible += [f"hier:{a['name']}" for a in asked if a["name"] not in names]
    if wanted == "all":
        return possible
    arms = [w.strip() for w in wanted.split(",")]
    for arm in arms:
        if arm not in ("p2p", "hier") and arm.partition("?")[0] not in possible:
            raise Problem(
                f"cannot simulate '{arm}': there are p2p, hier, {', '.join(possible)}", USAGE
            )
    return arms


def common(setting, schema):
    """What each result says first."""
    return {
        "schema": schema,
        "crestacoll": __version__,
        "simulated": True,
        "machine": setting.machine,
        "per_node": setting.per_node,
        "queues": setting.queues,
    }


def as_json(setting, points):
    return {
        **common(setting, "crestacoll-simulate-1"),
        "calls": setting.calls,
        "skew": {"kind": setting.skew.kind, "seconds": setting.skew.seconds},
        "seeds": setting.seeds,
        "topology": setting.topology,
        "points": points,
    }
