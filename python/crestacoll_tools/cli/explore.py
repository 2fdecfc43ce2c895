# SPDX-License-Identifier: BSD-3-Clause
import os
import shlex
import shutil
import sys

import click

from crestacoll_tools.base import outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.ui import WRONG, Problem, out, show, table
from crestacoll_tools.bench import options as shared
from crestacoll_tools.cli.run import Job
from crestacoll_tools.profile import validation
from crestacoll_tools.race import intervals

EPILOG = """\b
Exit code: 0 with any of the three verdicts: a choice is proved faster; no choice makes the
  program faster by more than X %, which is named; the time was not enough to say either. Or
  1    the answers changed, or the program failed, under the best rules: they are not kept
  2    wrong usage of crestacoll
  10   the program itself crashes, or ends with another exit code than 0
  11   the program itself ends by MPI_Abort
  12   the program neither ended nor repeated a step in its share of the budget
  13   the program calls no (blocking) collective, or runs on one rank
  14   the program shows no rhythm, no time step that repeats, and too few calls to compare these
  123  the program itself hangs; the calls of its ranks are shown
  124  no rank loaded crestacoll, or the program does not reach MPI_Finalize
  125  crestacoll could not start it; 127: the launcher or program does not exist
  130  interrupted by Ctrl-C (128+n: by signal n); --resume goes on

\b
Everything is in DIR: report.html, the rules to use, state.json and the output of all runs. DIR
has to be on a file system that all hosts of the job see. The program runs several times, in this
folder, and long runs are ended early: it must not matter if it leaves files half-written."""


@click.command(
    "explore",
    short_help="Find the best implementations for a program, and prove it.",
    epilog=EPILOG,
    context_settings={"allow_interspersed_args": False},
)
@shared.time(
    "2m",
    "Time for everything, such as 90s, 2m, 1h. More time finds smaller gains. The last run of the"
    " program may go on after it, for at most as long as a plain run takes.",
)
@shared.folder(
    "crestacoll-explore",
    "Folder for report, rules and all intermediate results.",
    ("state.json", "lock", "input", "report.html", "rules", "tuning.json", "runs/*/*"),
)
@click.option(
    "--compare",
    metavar="CMD",
    help=(
        "Command that gets two files with what the program printed, and ends with 0 if the answers"
        " are the same. Default: the words printed are compared, numbers by their value."
    ),
)
@shared.keep_rounding
@shared.resume
@click.option(
    "--steps",
    type=click.IntRange(1),
    metavar="N",
    help="End each run of the program after about N time steps of racing.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0.1, 50),
    metavar="PERCENT",
    help=(
        "Say that no choice makes the program faster only where a gain above PERCENT is excluded."
        " Default: 5."
    ),
)
@click.option("--mpi", metavar="NAME", help="MPI family of the program, as in `crestacoll run`.")
@json_option
@click.argument("command", nargs=-1, type=outputs.Command(), metavar="[-- COMMAND...]")
def command(budget, output, compare, keep_rounding, resume, steps, margin, mpi, json_to, command):
    """Find the best choice of implementations for a program, prove it, and explain it.

    The program runs as it is. While it runs, crestacoll changes the implementations of its
    collectives between time steps and compares the steps. The result is rules, their gain with its
    uncertainty, and a report.

    \b
    crestacoll explore -- mpirun -n 4 ./app input.dat
    crestacoll explore --budget 10m --compare 'numdiff -r 1e-9' -- srun -n 64 ./app
    crestacoll explore --resume
    """
    options = {
        "compare": shlex.split(compare) if compare else None,
        "keep_rounding": keep_rounding,
        "steps": steps,
        "margin": margin and margin / 100,
        "mpi": mpi,
    }
    if options["compare"] and shutil.which(options["compare"][0]) is None:
        raise click.UsageError(f"--compare: there is no command '{options['compare'][0]}'")
    if not command and not resume:
        raise click.UsageError("name the command of the program, such as mpirun -n 2 ./app")
    leave_out_checks()
    with open_state(output, command, options, resume) as state:
        job = Job(tuple(state.data["command"]), state.data["options"]["mpi"])
        number = explore(job, job.build.description, state, budget)
        code = finish(state, json_to)
    sys.exit(128 + number if number else code)


def leave_out_checks():
    """Checks of calls would count as time of the implementations that they check."""
    if validation.is_on(os.environ):
        del os.environ["CRESTA_VALIDATE"]
        out.print("The runs are without CRESTA_VALIDATE: its checks would be timed, too.")


def open_state(output, command, options, resume):
    from crestacoll_tools.explore import state

    if not resume:
        return state.new(output, command, options)
    found = state.resumed(output, command)
    for name in ("compare", "steps", "margin", "mpi"):  # these may change on the way
        found.data["options"][name] = options[name] or found.data["options"].get(name)
    return found


def explore(job, description, state, budget):
    """Does the work; the number of the signal that interrupted it, or 0."""
    from crestacoll_tools.explore import progress, runs, search

    state.data["ended"] = ""
    try:
        with progress.shown(budget) as tell, runs.interruptible():
            search.Search(job, description, state, budget, tell).work()
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
    """Rules, report and text; the exit code."""
    found, report = conclude(state)
    if json_to:
        write_json(found, json_to)
    if json_to != "-":
        tell(found, report)
    return WRONG if found["rejected"] else 0


def conclude(state):
    """Leaves rules and report; (result, report)."""
    from crestacoll_tools.explore import outcome, page

    found = outcome.result(state)
    if found["verdict"] == "faster":
        rules = state.choice.rules(state.points, state.data["options"]["keep_rounding"])
        found["use"] = str(outcome.write_tuning(state.folder, found, rules))
    else:
        outcome.remove_tuning(state.folder)
    state.data["result"] = found
    state.save()
    report = state.folder / "report.html"
    text = page.render(state, found)
    outputs.write_text(report, text, errors="backslashreplace")
    return found, report


def tell(found, report):
    from crestacoll_tools.explore import words

    style = "bold green" if found["verdict"] == "faster" else "bold"
    out.print(words.headline(found), style=style, soft_wrap=True)
    for line in words.details(found):
        out.print(line, soft_wrap=True)
    if found["arms"]:
        out.print()
        show_arms(found["arms"], "call" if found.get("by") == "calls" else "step")
        out.print(words.legend(found), style="dim", soft_wrap=True)
    if found.get("use"):
        out.print("\nTo use it:", soft_wrap=True)
        for r in found["rules"]:
            out.print(f"  {r['rule']}", soft_wrap=True)
        out.print(f"  {words.use(found)}", soft_wrap=True)
    out.print(f"\nreport: {report}   ({found['seconds']:.0f} s in all)", soft_wrap=True)


def show_arms(arms, of):
    from crestacoll_tools.explore import words

    made = table("arm", "race", f">{of}", ">interval", ">mean", ">rounds", "")
    for a in arms:
        d = a["difference"]
        note = words.remark(a)
        if d is None:
            made.add_row(a["name"], words.TITLES[a["race"]], "-", "-", "-", "-", note)
            continue
        made.add_row(
            a["name"],
            words.TITLES[a["race"]],
            f"{100 * d['trimmed']:+.1f} %",
            intervals.of_difference(d["low"], d["high"]),
            f"{100 * d['mean']:+.1f} %",
            str(d["rounds"]),
            note,
        )
    show(made)
