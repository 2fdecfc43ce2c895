# SPDX-License-Identifier: BSD-3-Clause
import json
import subprocess

import click

from crestacoll import __version__
from crestacoll.builds import choose_builds, clean_environment
from crestacoll.sizes import Size, format_size
from crestacoll.ui import CANNOT, TEXT, WRONG, Problem, json_option, out, show, table, write_json

MODEL = "p2p"  # the model whose algorithms are schedules

EPILOG = """\b
crestacoll explain alltoall --bytes 4K -n 7
crestacoll explain alltoall --bytes 4K -n 7 --impl 'p2p:bruck?k=3' --schedule 0

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


@click.command("explain", short_help="Show the messages and steps of an algorithm.", epilog=EPILOG)
@click.argument("collective")
@click.option(
    "-n", "--ranks", default=8, show_default=True, type=int, help="Number of ranks, up to 512."
)
@click.option("--bytes", "size", type=Size(), default="1K", show_default=True, help="Bytes.")
@click.option(
    "--impl",
    "implementation",
    default=MODEL,
    show_default=True,
    metavar="p2p[:ALGORITHM[?PARAM=VALUE]]",
    help="One algorithm; default: all of them are compared.",
)
@click.option("--root", type=int, help="Root of rooted calls; default: 0.")
@click.option("--schedule", type=int, metavar="RANK", help="Also show the steps of this rank.")
@click.option("--mpi", metavar="NAME", help="Build to use; default: the first.")
@json_option
def command(collective, ranks, size, implementation, root, schedule, mpi, json_to):
    """Show what the algorithms of COLLECTIVE do: rounds, messages, bytes, and the steps of a rank.

    Nothing is timed and no MPI runs: a simulator runs the schedules of all ranks and counts.
    Without an algorithm, a table compares all algorithms of the collective.
    """
    build = choose_builds(mpi)[0]
    algorithm = algorithm_of(build, implementation)
    if schedule is not None and not algorithm:
        raise Problem("--schedule needs one algorithm: --impl p2p:ALGORITHM", exit_code=2)
    found = ask(
        build,
        [collective.lower(), ranks],
        {"bytes": size, "algorithm": algorithm, "root": root, "schedule": schedule},
    )
    data = {"schema": "crestacoll-explain-1", "crestacoll": __version__, **found}
    data["bytes_asked"] = size
    if json_to:
        write_json(data, json_to)
    if json_to != "-":
        print_found(data, one=bool(algorithm))
    say_errors(data["algorithms"])


def algorithm_of(build, implementation):
    """'p2p:bruck?k=3' -> 'bruck?k=3'; 'p2p' -> ''."""
    model, colon, algorithm = implementation.partition(":")
    known = [m["name"] for m in build.description["models"]]
    if model.partition("?")[0] in known and not model.startswith(MODEL):
        raise Problem(
            f"{model} has no schedule: only the algorithms of {MODEL} have one", exit_code=2
        )
    if model.startswith(f"{MODEL}?") or (colon and not algorithm.partition("?")[0]):
        raise Problem(f"'{implementation}' names no algorithm: write {MODEL}:NAME", exit_code=2)
    if model != MODEL:
        raise Problem(
            f"no implementation '{model}'; {MODEL} and {MODEL}:ALGORITHM have a schedule",
            exit_code=2,
        )
    return algorithm


def ask(build, words, options):
    """What crestacoll-explain answers; what it refuses is wrong usage."""
    program = build.program("crestacoll-explain")
    given = [(f"--{k}", str(v)) for k, v in options.items() if v not in (None, "")]
    command = [str(program), *map(str, words), *(word for pair in given for word in pair)]
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
        raise Problem(f"{program} does not work ({e}); build again with 'make'") from e
    if done.returncode == 2:
        raise Problem(done.stderr.strip(), exit_code=2)
    try:
        return json.loads(done.stdout)
    except ValueError as e:
        raise Problem(f"{program} failed: {done.stderr.strip() or done.returncode}") from e


def print_found(data, one):
    root = "" if data["root"] is None else f", root {data['root']}"
    size = f" of {format_size(data['bytes'])} bytes" if data["bytes"] else ""
    if data["element"] > 1:
        size += f" in elements of {data['element']} bytes"
        if data["bytes"] != data["bytes_asked"]:
            size += f" (rounded up from {data['bytes_asked']})"
    out.print(f"{data['collective']}{size}, {data['processes']} ranks{root}", style="bold")
    if one:
        print_one(data["algorithms"][0])
    else:
        print_comparison(data["algorithms"])


def full_name(algorithm):
    params = "&".join(f"{p['name']}={p['value']}" for p in algorithm["params"])
    return f"{MODEL}:{algorithm['name']}" + (f"?{params}" if params else "")


def print_comparison(algorithms):
    made = table(
        "implementation",
        ">rounds",
        ">chain",
        ">busiest: messages",
        ">busiest: bytes",
        ">all: messages",
        ">all: bytes",
        ">scratch",
        "what it is",
    )
    for a in algorithms:
        if not has_figures(a):
            made.add_row(full_name(a), *"-------", refusal(a), style="yellow")
            continue
        made.add_row(
            full_name(a),
            str(a["rounds"]),
            str(a["chain"]),
            str(a["busiest"]["messages"]),
            format_size(a["busiest"]["bytes_sent"]),
            str(a["messages"]),
            format_size(a["bytes"]),
            format_size(a["scratch"]),
            a["doc"],
        )
    show(made)


def has_figures(algorithm):
    return algorithm["usable"] and not algorithm["error"]


def refusal(algorithm):
    return algorithm["error"] or algorithm["reason"]


def print_one(algorithm):
    out.print(f"{full_name(algorithm)}: {algorithm['doc']}\n", soft_wrap=True)
    if not algorithm["usable"]:
        out.print(f"{algorithm['name']} {refusal(algorithm)}", style="yellow")
    if not has_figures(algorithm):
        return
    rank = algorithm.get("rank")
    if rank:
        print_steps(rank)
    print_summary(algorithm, rank)


LABELS = {
    "rounds": "rounds with messages",
    "messages_sent": "messages sent",
    "messages_received": "messages received",
    "bytes_sent": "bytes sent",
    "bytes_received": "bytes received",
    "bytes_copied": "bytes copied",
    "bytes_reduced": "bytes reduced",
    "scratch": "scratch",
}


def print_summary(algorithm, rank):
    """Each figure of the rank that was asked for, of a rank at least and at most, and of all."""
    made = table("", *([f">rank {rank['rank']}"] if rank else []), ">each rank", ">all ranks")
    whole = {
        "rounds": str(algorithm["rounds"]),
        "messages_sent": str(algorithm["messages"]),
        "bytes_sent": format_size(algorithm["bytes"]),
    }
    for key, label in LABELS.items():
        write = format_size if "bytes" in key or key == "scratch" else str
        low, high = (write(algorithm["ranks"][key][end]) for end in ("min", "max"))
        mine = [write(rank[key])] if rank else []
        made.add_row(label, *mine, low if low == high else f"{low}..{high}", whole.get(key, ""))
    made.add_row("longest chain of messages", *([""] if rank else []), "", str(algorithm["chain"]))
    show(made)


def print_steps(rank):
    made = table(">round", "step", "what", ">bytes", title=f"schedule of rank {rank['rank']}")
    for s in rank["steps"]:
        made.add_row(str(s["round"]), s["kind"], what(s), str(s["bytes"]))
    show(made)
    out.print()


def what(step):
    """As src/sched/print.c shows it; places are bytes from the begin of a buffer."""
    source, target = (place(step[end]) if end in step else "" for end in ("from", "to"))
    return {
        "send": f"{source} -> {step.get('peer')}",
        "recv": f"{target} <- {step.get('peer')}",
        "copy": f"{source} to {target}",
        "reduce": f"{source} into {target}",
        "expose": f"{source} as slot {step.get('slot')}",
        "put": f"{source} -> {step.get('peer')} slot {step.get('slot')} at {step.get('at')}",
        "get": f"{target} <- {step.get('peer')} slot {step.get('slot')} at {step.get('at')}",
        "notify": f"-> {step.get('peer')}",
        "await": f"<- {step.get('peer')}",
    }[step["kind"]]


def place(span):
    return f"{span['base']}[{span['begin']}..{span['end']}]"


def say_errors(algorithms):
    wrong = [a for a in algorithms if a["error"]]
    if wrong:
        code = CANNOT if all(a["too_large"] for a in wrong) else WRONG
        raise Problem("; ".join(f"{a['name']}: {a['error']}" for a in wrong), exit_code=code)
