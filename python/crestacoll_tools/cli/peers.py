# SPDX-License-Identifier: BSD-3-Clause
import datetime
import json
import time
from pathlib import Path

import click

from crestacoll import __version__
from crestacoll_tools.base import outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import WRONG, Problem, err
from crestacoll_tools.builds import machine
from crestacoll_tools.builds.builds import ROOT
from crestacoll_tools.peers import launches, mpis, series, speeds, table

STEPS = ["install", "build", "test", "run", "draw"]
USUAL = ["install", "build", "run", "draw"]

EPILOG = """\b
Exit codes: 0 fine; 1 a result differs from the MPI's own, or a C test failed; 2 wrong usage; 125 it
could not run. Missed targets are no failure: the page lists them."""


class Steps(click.ParamType):
    name = "steps"

    def convert(self, value, param, ctx):
        if isinstance(value, list):
            return value
        asked = [word for word in value.split(",") if word]
        for word in asked:
            if word not in STEPS:
                self.fail(f"no step '{word}'; there are: {', '.join(STEPS)}", param, ctx)
        return [step for step in STEPS if step in asked]


@click.command("peers", short_help="Compare crestacoll with five MPIs.", epilog=EPILOG)
@click.option(
    "--steps",
    type=Steps(),
    default=",".join(USUAL),
    show_default=True,
    metavar="LIST",
    help=f"Only these of {', '.join(STEPS)}; test: the C tests of crestacoll on every MPI.",
)
@click.option(
    "--mpi",
    "names",
    metavar="LIST",
    help=f"Only these of {', '.join(p.name for p in mpis.PEERS)}.",
)
@click.option("--quick", is_flag=True, help="One launch, fewer sizes and samples: 4 minutes.")
@click.option(
    "--launches",
    "count",
    type=click.IntRange(1),
    metavar="N",
    help="Launches of every job; default: 3, with --quick 1.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(0.1),
    metavar="N",
    help=(
        "Time limit for the measurements; fewer samples are taken if it runs out. Default: 45, with"
        " --quick 4."
    ),
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=ROOT / "build" / "peers",
    show_default="build/peers",
    help="Folder for the MPIs, their builds and the results of all jobs.",
)
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    help="Folder for page, table and plot; default: docs, with --quick build/peers/quick.",
)
@json_option
def command(steps, names, quick, count, minutes, folder, to, json_to):
    """Compare crestacoll with five MPIs: the system's two, and Open MPI 5, MPICH 5 and Intel MPI
    from PyPI.

    Installs and builds the MPIs, runs each MPI's own collectives and crestacoll on top of it in
    turn, and writes performance.md, performance.csv and a plot. If it was interrupted, the next run
    continues. Jobs whose build has changed are measured again; remove FOLDER/results to measure
    all of them again.
    """
    folder = folder.resolve()
    to = to.resolve() if to else folder / "quick" if quick else ROOT / "docs"
    at_hand, missing = chosen(names), {}
    for step in mpis.install, mpis.build:
        if step.__name__ in steps:
            at_hand = each(step, at_hand, folder, missing)
    failed = "test" in steps and test(at_hand, folder)
    if "run" in steps:
        plan = Measurement(at_hand, quick, count or (1 if quick else 3), folder)
        plan.run(60 * (minutes or (4 if quick else 45)))
        plan.write(to, missing)
    if "draw" in steps:
        draw_all(to, json_to)
    if failed or ("run" in steps and plan.wrong):
        raise SystemExit(WRONG)


def chosen(names):
    asked = names.split(",") if names else [p.name for p in mpis.PEERS]
    unknown = set(asked) - {p.name for p in mpis.PEERS}
    if unknown:
        raise Problem(
            f"no MPI '{unknown.pop()}'; there are: {', '.join(p.name for p in mpis.PEERS)}",
            exit_code=2,
        )
    return [p for p in mpis.PEERS if p.name in asked]


def each(step, peers, folder, missing):
    """Those for which the step worked. The others are said and left out."""
    worked = []
    for peer in peers:
        err.print(f"{step.__name__} {peer.name} ...")
        try:
            step(peer, folder)
            worked.append(peer)
        except mpis.Failed as e:
            missing[peer.title] = str(e)
            err.print(f"  left out: {e}", style="yellow", soft_wrap=True)
    if not worked:
        raise Problem("no MPI is left to measure")
    return worked


def test(peers, folder):
    """Whether a C test failed on some MPI."""
    any_failed = False
    for peer in peers:
        total, failing = mpis.failing_tests(peer, folder)
        err.print(f"{peer.name}: {total - len(failing)} of {total} C tests pass")
        for name in failing:
            err.print(f"  failed: {name}")
        any_failed = any_failed or bool(failing)
    return any_failed


class Measurement:
    """All jobs, and what they found."""

    def __init__(self, peers, quick, count, folder):
        self.builds = [mpis.build_of(p, folder) for p in peers]
        self.builds = [b for b in self.builds if b.program("crestacoll-bench").exists()]
        if not self.builds:
            raise Problem("nothing is built: leave out --steps, or let it have install,build")
        self.count = count
        self.results = folder / ("results-quick" if quick else "results")
        what = series.QUICK if quick else series.FULL
        self.lacking = mpis.not_ending(peers)
        built = {b.name for b in self.builds}
        here = [p for p in peers if p.name in built]
        settings = mpis.settings_of(here, folder, self.lacking)
        self.jobs = launches.all_jobs(self.builds, what, count, self.results, settings)
        self.speeds = speeds.Speeds(self.builds[-1].program("crestacoll-floor"), self.results)

    def run(self, seconds):
        end = time.monotonic() + seconds
        for k in range(1, self.count + 1):
            mine = [job for job in self.jobs if (job.launch - k) % self.count == 0]
            left = (end - time.monotonic()) / (self.count + 1 - k)
            launches.run(mine, left, tell, self.speeds)

    def write(self, to, missing):
        """Speeds are numbered anew: those at which a line crosses fast come first."""
        rows, floors, found = [], [], []
        for speed in self.speeds.in_order():
            if mine := launches.results(self.jobs, speed, self.speeds):
                floors.append(table.floor_of(self.speeds.floors(speed)))
                rows += table.rows_of(mine, len(floors))
                found += mine
        if not found:
            raise Problem("nothing was measured: no job came to its end")
        table.mark_incomplete(rows)
        self.wrong = table.wrong_of(found)
        for what in self.wrong:
            err.print(f"WRONG RESULT: {what}", style="red")
        head = {
            "crestacoll": __version__,
            "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "machine": machine.describe(),
            "launches": self.count,
            "mpis": {r["mpi"]: version(r["header"]["mpi_library"]) for r in found},
            "missing": [f"{title}: {why}" for title, why in {**missing, **self.lacking}.items()],
            "floors": floors,
            "notes": self.notes(found),
        }
        to.mkdir(parents=True, exist_ok=True)
        write_json(head, to / "performance.json")
        table.write_csv(rows, floors, to / "performance.csv")

    def notes(self, found):
        """What a reader of the page must know."""
        said = {f"wrong result, left out: {what}" for what in self.wrong}
        kept = launches.kept(self.jobs)
        if few := launches.missing(self.jobs, self.count):
            said.add(f"launches, where not {self.count} on each MPI: {few}")
        every, used = (sum(len(r["records"]) for r in some) for some in (kept, found))
        if used < every:
            said.add(
                f"{every - used} of {every} figures of single launches are left out: the machine"
                " changed its speed meanwhile"
            )
        spent = sum("time budget" in n["text"] for r in kept for n in r["notes"])
        if spent:
            said.add(f"the time did not suffice for {counted(spent, 'point')} of single launches")
        return sorted(said)


def version(text):
    """'MPICH Version:      5.0.2' and the like, shorter."""
    words = text.split(",")[0].replace("Version:", "").replace("for Linux* OS", "")
    return " ".join(words.split())


def tell(job, what, done, of):
    err.print(
        f"{done}/{of} launch {job.launch}, {job.series.title}, {job.build.name}: {what}",
        style="yellow" if what.startswith("FAILED") else "",
        soft_wrap=True,
    )


def draw_all(to, json_to):
    from crestacoll_tools.peers import draw, page

    try:
        head = json.loads((to / "performance.json").read_text(encoding="utf-8"))
        rows = table.read_csv(to / "performance.csv")
    except (OSError, ValueError, KeyError) as e:
        raise Problem(f"nothing to draw in {to}: {e}") from e
    for speed in range(1, len(head["floors"]) + 1):
        mine = [row for row in rows if row.speed == speed]
        draw.save(mine, to / "images" / draw.file_of(speed))
    outputs.write_text(to / "performance.md", page.page(head, rows))
    err.print(f"wrote {to / 'performance.md'}", soft_wrap=True)
    if json_to:
        write_json(page.as_json(head, rows), json_to)
