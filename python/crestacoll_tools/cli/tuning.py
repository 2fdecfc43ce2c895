# SPDX-License-Identifier: BSD-3-Clause
import sys

import click

from crestacoll_tools.base import outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.optional import Group
from crestacoll_tools.base.text import counted, word
from crestacoll_tools.base.ui import WRONG, Problem, out, show, table
from crestacoll_tools.builds.builds import all_builds, choose_builds
from crestacoll_tools.explore import progress
from crestacoll_tools.race import intervals
from crestacoll_tools.rules import tuning
from crestacoll_tools.tune import export as exports, measure, native_file

EPILOG = """\b
crestacoll tuning check crestacoll.json
crestacoll tuning show crestacoll.json
crestacoll run --tuning crestacoll.json -- mpirun -n 4 ./app

\b
Exit codes: 0 fine; 1 check: the file cannot be used, diff: the files differ; 2 wrong usage;
125 a file cannot be read or written."""

file_argument = click.argument("file", type=outputs.Input(exists=True, dir_okay=False))


@click.group(
    "tuning",
    cls=Group,
    short_help="Check, show, compare and merge tuning files.",
    epilog=EPILOG,
)
def command():
    """Check, show, compare and merge tuning files: JSON files with rules that were measured on one
    machine, for one MPI. CRESTA_TUNING=FILE or `crestacoll run --tuning FILE` uses one.

    With --json[=FILE] each sub-command writes its result as JSON.
    """


@command.command("check", short_help="Check a tuning file.")
@file_argument
@click.option("--mpi", metavar="LIST", help="Builds to ask, or all.  [default: all]")
@json_option
def check(file, mpi, json_to):
    """Check FILE: schema, rules, and whether programs on this machine would use it.

    Each build is asked what its ranks would do with the file. Rules that never win, because an
    earlier rule takes all of their calls, are listed. A file that was made elsewhere is no error.
    Exit code 1 if the file is wrong.
    """
    wrong, hidden = [], []
    try:
        hidden = tuning.shadowed(tuning.read(file)["rules"])
    except Problem as e:
        wrong.append(e.message)
    builds = choose_builds(mpi) if mpi else all_builds()
    verdicts = {build.name: build.tuning(file) for build in builds}
    # What a build lacks matters only where the file is used.
    wrong += [v["error"] for v in verdicts.values() if v["error"] and v.get("used", True)]
    data = {
        "schema": "crestacoll-tuning-check-1",
        "file": file,
        "problems": list(dict.fromkeys(wrong)),
        "never_win": [[tuning.rule_text(rule) for rule in pair] for pair in hidden],
        "builds": verdicts,
    }
    if json_to:
        write_json(data, json_to)
    if json_to != "-":
        print_check(data)
    sys.exit(WRONG if wrong else 0)


def print_check(data):
    for problem in data["problems"]:
        out.print(problem, soft_wrap=True)
    for rule, earlier in data["never_win"]:
        out.print(f"never wins: {rule}, because of {earlier}", soft_wrap=True)
    for name, verdict in data["builds"].items():
        if "used" in verdict:
            out.print(f"{name}: {sentence(verdict)}", soft_wrap=True)
    if not data["builds"]:
        out.print("nothing is built: only the schema was checked", soft_wrap=True)


def sentence(verdict):
    if verdict["used"]:
        return "error" if verdict["error"] else f"would use {counted(verdict['rules'], 'rule')}"
    error = f"; force:FILE would fail: {verdict['error']}" if verdict["error"] else ""
    return f"would not use it: {verdict['why']}{error}"


@command.command("show", short_help="Show a tuning file as a table.")
@file_argument
@json_option
def show_file(file, json_to):
    """Show FILE as a table: the rules in their order, and what each gains.

    The gain is that of a step of the program (explore) or of a call (tune), with its confidence
    interval.
    """
    data = tuning.read(file)
    if json_to:
        write_json(data, json_to)
    if json_to != "-":
        print_head(data["head"])
        print_rules(data["rules"])


def print_head(head):
    about = head["machine"]
    out.print(
        f"made on {about['cpu']} with {counted(about['cores'], 'core')}, for {head['mpi']}, on"
        f" {head['date']} by crestacoll {head['crestacoll']}",
        soft_wrap=True,
    )


def print_rules(rules):
    made = table(
        *(">rule", "collective", "bytes", "ranks", "communicator", "implementation"),
        *(">gain", ">interval", ">blocks", "compared", "remarks"),
    )
    for number, rule in enumerate(rules, 1):
        collective, sizes, ranks, communicator = tuning.columns(rule)
        rounding = ["other rounding"] if rule.get("changes_rounding") else []
        made.add_row(
            *(str(number), collective, sizes, ranks, word(communicator)),
            *(word(rule["implementation"]), *earned(rule.get("earned"))),
            word("; ".join([*rounding, *([rule["note"]] if rule.get("note") else [])])),
        )
    show(made)


def between(low, high):
    return intervals.TOO_WIDE if intervals.is_vague(-high, -low) else f"{low:.1%} to {high:.1%}"


def earned(how):
    if how is None:
        return "-", "-", "-", "-"
    return (
        f"{how['gain']:.1%}",
        between(how["low"], how["high"]),
        str(how["blocks"]),
        word(", ".join(how["arms"])),
    )


@command.command("diff", short_help="Compare two tuning files.")
@click.argument("a", type=outputs.Input(exists=True, dir_okay=False))
@click.argument("b", type=outputs.Input(exists=True, dir_okay=False))
@json_option
def diff(a, b, json_to):
    """List the points where tuning files A and B have different implementations.

    A point is a collective with its ranges of bytes and ranks and its communicator. Exit code 0 if
    there is no such point, 1 otherwise.
    """
    found = tuning.diff(tuning.read(a), tuning.read(b))
    lines = [(ours or theirs, of(ours), of(theirs)) for _, ours, theirs in found]
    if json_to:
        rows = [
            {"point": list(tuning.columns(rule)), "a": ours, "b": theirs}
            for rule, ours, theirs in lines
        ]
        write_json({"schema": "crestacoll-tuning-diff-1", "differences": rows}, json_to)
    if json_to != "-" and lines:
        made = table("collective", "bytes", "ranks", "communicator", word(a), word(b))
        for rule, ours, theirs in lines:
            cells = [*tuning.columns(rule), ours or "-", theirs or "-"]
            made.add_row(*map(word, cells))
        show(made)
    sys.exit(WRONG if lines else 0)


def of(rule):
    return rule["implementation"] if rule else None


@command.command("merge", short_help="Merge two tuning files.")
@click.argument("a", type=outputs.Input(exists=True, dir_okay=False))
@click.argument("b", type=outputs.Input(exists=True, dir_okay=False))
@click.option(
    "-o",
    "--output",
    "to",
    required=True,
    type=outputs.Output(),
    metavar="FILE",
    help="File to write.",
)
@json_option
def merge(a, b, to, json_to):
    """Write the rules of A, and then those of B, into FILE.

    Where both files have a rule for one point, that of A is kept. Where other rules overlap, A's
    wins, because it comes first; these pairs are listed. Both files must be for the same machine
    and MPI.
    """
    merged, left_out, pairs = tuning.merge(tuning.read(a), tuning.read(b))
    tuning.write(to, merged["head"], merged["rules"])
    data = {
        "schema": "crestacoll-tuning-merge-1",
        "file": to,
        "rules": len(merged["rules"]),
        "left_out": [tuning.rule_text(rule) for rule in left_out],
        "overlaps": [[tuning.rule_text(rule) for rule in pair] for pair in pairs],
    }
    if json_to:
        write_json(data, json_to)
    if json_to == "-":
        return
    for rule in data["left_out"]:
        out.print(f"left out of {b}: {rule}", soft_wrap=True)
    for ours, theirs in data["overlaps"]:
        out.print(f"overlap: {ours} wins over {theirs}", soft_wrap=True)
    out.print(f"wrote {counted(data['rules'], 'rule')} to {to}", soft_wrap=True)


@command.command("export", short_help="Write native winners in the format of their MPI.")
@file_argument
@click.option(
    "--format",
    "form",
    required=True,
    type=click.Choice(sorted(exports.FORMATS)),
    help=(
        "openmpi: a file of rules for coll_tuned, and FILE.env with the variables that load it;"
        " mpich: a file with environment variables."
    ),
)
@click.option(
    "-o",
    "--output",
    "to",
    required=True,
    type=outputs.Output(),
    metavar="FILE",
    help="File to write.",
)
@click.option("--mpi", metavar="NAME", help="Build to prove it with; default: that of the format.")
@json_option
def export(file, form, to, mpi, json_to):
    """Write the algorithms of FILE, the native.json of `crestacoll tune --native`, in the format of
    their MPI, so that programs without crestacoll use them.

    Each is proved by runs of the file first: that it is in force, and not slower than the MPI's own
    choice. What is not proved is left out; exit code 1 if nothing remains.
    """
    data, build = native_file.read(file), choose_builds(mpi or form)[0]
    exports.check(data, build, form)
    target = exports.FORMATS[form](build, data, to)
    budget = 2.0 * exports.ROUNDS * len(target.choices) + 1
    with progress.shown(budget) as tell:
        found = exports.export(target, measure.Jobs(build, None), tell)
    tell_exported(found, target, json_to)
    sys.exit(0 if any(fine for *_, fine in found) else WRONG)


def tell_exported(found, target, json_to):
    rows = [
        {"choice": native_file.words(choice), "seen": seen, "written": fine}
        for choice, seen, fine in found
    ]
    files = [str(path) for path in target.files if path.exists()]
    if json_to:
        write_json({"schema": "crestacoll-export-1", "files": files, "choices": rows}, json_to)
    if json_to == "-":
        return
    for row in rows:
        left = "" if row["written"] else "left out: "
        out.print(f"{left}{row['choice']}: {row['seen']}", soft_wrap=True)
    out.print(f"wrote {' and '.join(files)}" if files else "nothing to write", soft_wrap=True)
    if files:
        out.print(f"To use it: . {files[-1]}, then start programs as before", soft_wrap=True)
