# SPDX-License-Identifier: BSD-3-Clause
import re

import click

from crestacoll import __version__, options
from crestacoll.builds import choose_builds
from crestacoll.simulate import machines
from crestacoll.sizes import Sizes
from crestacoll.ui import USAGE, Problem, json_option, out, write_json

EPILOG = """\b
crestacoll simulate allreduce -n 4096 --per-node 32 --machine FILE
crestacoll simulate alltoall -n 256,1024,4096 --per-node 16 --bytes 8,1K --machine FILE --plot a.png
crestacoll simulate --calibrate measured.json --check others.json --output machine.json

\b
simulated time  from when the last rank begins to when the last one ends; of one call
interface busy  share of it in which the interface used most carried messages one way

\b
Exit codes: 0 fine; 1 no implementation could be simulated; 2 wrong usage; 125 it could not run."""


class Skew(click.ParamType):
    """exponential:10us"""

    name = "skew"
    UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}

    def convert(self, value, param, ctx):
        from crestacoll.simulate.jobs import Skew as Found

        if isinstance(value, Found):
            return value
        m = re.fullmatch(r"(uniform|exponential|normal):(\d+(?:\.\d+)?)(ns|us|ms|s)", value)
        if value != "none" and not m:
            self.fail(
                f"'{value}': expected uniform:TIME, exponential:TIME or normal:TIME, such as"
                " uniform:10us",
                param,
                ctx,
            )
        return Found(m[1], float(m[2]) * self.UNITS[m[3]]) if m else Found()


class Counts(click.ParamType):
    name = "numbers"

    def convert(self, value, param, ctx):
        if isinstance(value, list):
            return value
        if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", value):
            self.fail(f"'{value}': expected numbers of ranks such as 256,1024", param, ctx)
        return list(dict.fromkeys(int(n) for n in value.split(",")))


@click.command(
    "simulate", short_help="Time collectives on a machine that is not there.", epilog=EPILOG
)
@click.argument("collective", required=False)
@click.option(
    "-n",
    "--ranks",
    type=Counts(),
    metavar="N[,N...]",
    help="Numbers of ranks, up to 4194304.",
)
@click.option(
    "--per-node",
    type=click.IntRange(1),
    help="Ranks of a node, one node filled after the other; default: what the machine file says.",
)
@click.option(
    "--machine",
    "machine_name",
    metavar="FILE",
    help="What messages, copies and reductions cost: docs/simulating.md.",
)
@click.option("--bytes", "sizes", type=Sizes(), default="8", show_default=True, help="Sizes.")
@click.option(
    "--impl",
    "implementations",
    default="all",
    show_default=True,
    metavar="LIST",
    help="all; or p2p, hier (what they choose), p2p:ALGORITHM, hier:ALGORITHM, comma-separated.",
)
@click.option("--root", type=click.IntRange(0), default=0, help="Root of rooted calls; default: 0.")
@click.option(
    "--skew",
    type=Skew(),
    default="none",
    show_default=True,
    metavar="KIND:TIME",
    help="When ranks begin: uniform:10us, exponential:10us (mean), normal:10us (deviation).",
)
@click.option(
    "--seeds",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Simulations of each point, each with another skew; the median is shown.",
)
@click.option(
    "--calls",
    type=click.IntRange(1),
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
    "--calibrate",
    multiple=True,
    metavar="FILE",
    help="Find the machine that fits these results of `crestacoll bench --json`.",
)
@click.option(
    "--check",
    multiple=True,
    metavar="FILE",
    help="Compare simulated with measured times, at the points of these results that --calibrate"
    " has not seen.",
)
@click.option("--output", metavar="FILE", help="The machine file that --calibrate writes.")
@click.option("--plot", metavar="FILE", help="Draw the times: .png, .svg or .pdf.")
@click.option("--mpi", metavar="NAME", help="Build to use; default: the first.")
@json_option
def command(
    collective, ranks, per_node, machine_name, sizes, implementations, root, skew, seeds, calls,
    no_queues, limit, calibrate, check, output, plot, mpi, json_to,
):  # fmt: skip
    """Simulate COLLECTIVE with every algorithm of this library, on a machine of any size.

    The schedules are those that run on real ranks. No data move: a message takes what LogGP says,
    with the costs of a machine file, messages of a node queue at its interface, and ranks may begin
    at different times. What comes out is as good as the machine file: each output names it, and how
    far its simulated times have been from measured ones.
    """
    from crestacoll.simulate import calibration, jobs, show, sweep

    if calibrate or check:
        calibration.run(choose_builds(mpi)[0], machine_name, calibrate, check, output, json_to)
        return
    if not (collective and ranks and machine_name):
        raise Problem("expected COLLECTIVE, --ranks and --machine, or --calibrate", USAGE)
    machine = machines.load(machine_name)
    build = choose_builds(mpi)[0]
    if any(root >= n for n in ranks):
        raise Problem(f"root {root} is no rank of {min(ranks)}", USAGE)
    setting = sweep.Setting(
        machine=machine,
        per_node=per_node or machine.get("ranks_per_node", 1),
        skew=skew,
        seeds=seeds,
        calls=calls,
        queues=not no_queues,
        limits=jobs.Limits(seconds=limit),
    )
    arms = arms_of(build, collective.lower(), implementations)
    points = [
        sweep.point(build, setting, collective.lower(), n, size, arm, root)
        for n in ranks
        for size in (sizes if collective.lower() != "barrier" else [0])
        for arm in arms
    ]
    if json_to:
        write_json(as_json(setting, points), json_to)
    if json_to != "-":
        show.print_points(points, machine)
    if plot:
        show.save_plot(points, machine, plot)
        out.print(f"wrote {plot}", soft_wrap=True)
    if all(p["refused"] is not None for p in points):
        raise Problem("no implementation could be simulated", exit_code=1)


def arms_of(build, collective, wanted):
    """The implementations that are asked for, as p2p:ring."""
    from crestacoll.cli.explain import ask

    asked = ask(build, [collective, 2], {"nodes": "2x1"})["algorithms"]
    plain = ask(build, [collective, 2], {})["algorithms"]
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


def as_json(setting, points):
    machine = setting.machine
    return {
        "schema": "crestacoll-simulate-1",
        "crestacoll": __version__,
        "simulated": True,
        "machine": machine,
        "per_node": setting.per_node,
        "queues": setting.queues,
        "calls": setting.calls,
        "skew": {"kind": setting.skew.kind, "seconds": setting.skew.seconds},
        "seeds": setting.seeds,
        "points": points,
    }
