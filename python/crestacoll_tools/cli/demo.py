# SPDX-License-Identifier: BSD-3-Clause
import shutil
import sys
import time
from pathlib import Path

import click

from crestacoll_tools.base import outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.ui import USAGE, WRONG, Problem, err, out, show, table
from crestacoll_tools.bench import options
from crestacoll_tools.builds import machine
from crestacoll_tools.builds.builds import ROOT, need_builds
from crestacoll_tools.cli import explore
from crestacoll_tools.cli.run import Job
from crestacoll_tools.demo import demo
from crestacoll_tools.race import intervals

NAMES = [c.name for c in demo.CASES]
OURS = "cases"  # in DIR
TOO_BUSY = "the machine is shared, and too busy for it: give it a larger --budget"
LEAST = 5.0  # seconds for a case, whatever the others took


@click.command("demo", short_help="Explore a turbulence code at the edge of strong scaling.")
@options.time("220s", "Time for all cases together, such as 90s, 10m.")
@click.option(
    "--output",
    default=str(ROOT / "demo"),
    show_default="demo",
    metavar="DIR",
    help="Folder for report.html, and DIR/cases with the exploration of each case.",
)
@click.option(
    "--cases",
    default=",".join(NAMES),
    show_default=True,
    metavar="LIST",
    help="Cases to run.",
)
@json_option
def command(budget, output, cases, json_to):
    """Find the best implementations for a real application, and prove what they gain.

    Explores examples/turbulence on a grid so small that collectives take a third of a step or
    more: with 2 ranks under Open MPI and under MPICH, with 4 ranks on fewer cores, and, as root,
    with 4 ranks on two hosts made of name spaces at 1 Gbit/s. A case that cannot run here is
    skipped. Each is one `crestacoll explore`.

    Exit code 0 if all cases ended well, with or without gain; 1 if one failed or its answers
    changed.
    """
    start, chosen = time.monotonic(), chosen_cases(cases)
    need_builds()
    why = {case: case.why_not() for case in chosen}
    if all(why.values()):
        reasons = "; ".join(f"{c.name}: {w}" for c, w in why.items())
        raise Problem(f"no case can run here: {reasons}")
    folder = empty_folder(output)
    told, bodies = [], []
    for number, case in enumerate(chosen):
        if why[case]:
            told.append(demo.about(case, skipped=why[case]))
            bodies.append("")
            continue
        rest = [c for c in chosen[number:] if not why[c]]
        seconds = share(case, rest, budget - (time.monotonic() - start))
        place = f"case {number + 1} of {len(chosen)}: {case.title}"
        err.print(f"crestacoll: {place}, about {seconds:.0f} s", soft_wrap=True)
        made, body, signal = explored(case, folder / OURS / case.name, seconds)
        told.append(made)
        bodies.append(body)
        if signal:
            sys.exit(128 + signal)
    data = demo.document(told, time.monotonic() - start)
    report = write_report(folder / "report.html", data, bodies)
    if json_to:
        write_json(data, json_to)
    if json_to != "-":
        tell(data, report)
    sys.exit(0 if data["ended_well"] else WRONG)


def share(case, rest, left):
    """What earlier cases did not need goes to later ones."""
    return max(LEAST, left * case.weight / sum(c.weight for c in rest))


def chosen_cases(text):
    unknown = [n for n in text.split(",") if n not in NAMES]
    if unknown:
        raise Problem(f"no case '{unknown[0]}'; possible: {', '.join(NAMES)}", USAGE)
    return [c for c in demo.CASES if c.name in text.split(",")]


def empty_folder(output):
    """DIR without the cases of an earlier demo; other things in it are not touched."""
    folder = Path(output).absolute()
    try:
        shutil.rmtree(folder / OURS, ignore_errors=True)
        (folder / OURS).mkdir(parents=True)
    except OSError as e:
        raise Problem(f"cannot make the folder {folder / OURS}: {e.strerror}") from e
    return folder


def explored(case, folder, seconds):
    """(what came out, its report to be put into ours, number of the signal that interrupted it)."""
    from crestacoll_tools.explore import page

    asked = {"compare": [str(demo.SAME)], "keep_rounding": False, "steps": None, "mpi": None}
    number, state = 0, None
    try:
        with case.environment(), case.launch() as words:
            state = explore.open_state(folder, words, asked, resume=False)
            job = Job(tuple(words), None)
            number = explore.explore(job, job.build.description, state, seconds)
            found, report = explore.conclude(state)
    except Problem as e:
        if state is not None and too_busy(e, state):
            return demo.about(case, skipped=TOO_BUSY), "", number
        return demo.about(case, problem=e.message), "", number
    return demo.about(case, found=found, report=report), page.body(state, found), number


def too_busy(problem, state):
    """Other programs leave so little of the cores that a program comes nowhere in its time."""
    from crestacoll_tools.explore import reasons

    late = problem.exit_code == reasons.TIME_LIMIT
    return late and machine.is_shared(state.data.get("others"))


def write_report(path, data, bodies):
    from crestacoll_tools.demo import demopage

    outputs.write_text(path, demopage.render(data, bodies), errors="backslashreplace")
    return path


def tell(data, report):
    made = table("case", ">a step", ">in collectives", ">gain", ">95 % interval", "rules")
    for t in data["cases"]:
        made.add_row(*cells(t))
    show(made)
    if data["shared"]:
        out.print(
            "The machine is shared: other programs ran on these cores. Intervals are wider for it.",
            style="yellow",
            soft_wrap=True,
        )
    for t in data["cases"]:
        if not demo.ended_well(t):
            out.print(f"{t['title']}: {demo.sentence(t)}", style="bold red", soft_wrap=True)
    out.print(f"\nreport: {report}   ({data['seconds']:.0f} s in all)", soft_wrap=True)


def cells(told):
    """The row of a case."""
    from crestacoll_tools.explore import words

    found = told["result"]
    if found is None:
        return told["title"], "-", "-", "-", "-", demo.sentence(told)
    step, part = found["step"], demo.inside(told)
    gain = words.percent(step["gain"]) if step else "-"
    between = intervals.of_gain(step["low"], step["high"]) if step else "-"
    said = ", ".join(r["rule"] for r in found["rules"])
    if found["verdict"] != "faster":
        said = words.headline(found)
    return (
        told["title"],
        words.step_text(found),
        "-" if part is None else f"{100 * part:.0f} %",
        gain,
        between,
        said,
    )
