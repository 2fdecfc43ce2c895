# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import sys
import time
from pathlib import Path

import click

from crestacoll import demo, turbulence
from crestacoll.builds import FAMILY_NAMES, ROOT, choose_builds
from crestacoll.profile import seconds as readable
from crestacoll.ui import (
    WRONG,
    Problem,
    err,
    json_option,
    out,
    show,
    status_line,
    table,
    write_json,
)


@click.command("demo", short_help="Run a turbulence code under every implementation.")
@click.option(
    "--mpi", "mpis", default="all", show_default=True, metavar="LIST", help="Builds to use."
)
@click.option("--grid", default="64", show_default=True, help="Grid points in each direction.")
@click.option("--steps", default=20, show_default=True, help="Time steps.")
@click.option("--procs", default="1x2", show_default=True, help="Process grid: rows x columns.")
@click.option(
    "--spec", "specs", multiple=True, help="Also run under these rules (may be repeated)."
)
@click.option(
    "--budget",
    default=140.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for all runs together.",
)
@click.option(
    "--report",
    "report_to",
    default=str(ROOT / "demo" / "report.html"),
    show_default="demo/report.html",
    metavar="FILE",
    help="File for the report.",
)
@json_option
def command(mpis, grid, steps, procs, specs, budget, report_to, json_to):
    """Run a real application under every implementation, and compare times and results.

    Runs examples/turbulence with plain MPI and with crestacoll preloaded, several times and in
    turn, for every MPI that is built, and writes a report with plots. Exit code 1 if the checksum
    of any run differs from that of plain MPI.
    """
    start = time.monotonic()
    arguments = ["--grid", grid, "--steps", str(steps), "--procs", procs]
    groups = [turbulence.variants(b, specs) for b in choose_builds(mpis)]
    for group in groups:
        need_program(group[0].build)
    ranks = ranks_of(procs)
    with status() as tell:
        rounds = demo.measure(
            groups, lambda variant: variant.words(arguments), ranks, budget, tell
        )
    data = demo.result(groups, ["turbulence", *arguments], ranks, rounds, time.monotonic() - start)
    if json_to != "-":
        for m in data["mpis"]:
            print_mpi(m)
    write_report(data, report_to, json_to)
    if json_to:
        write_json(data, json_to)
    if not data["same_answer"]:
        say_different(data)
        sys.exit(WRONG)


def ranks_of(procs):
    try:
        rows, columns = (int(n) for n in procs.lower().split("x"))
    except ValueError as e:
        raise click.UsageError("--procs takes ROWSxCOLUMNS, for example 1x2") from e
    return rows * columns


def need_program(build):
    if not build.program("turbulence").exists():
        raise Problem(
            f"{build.program('turbulence')} is missing: run 'make demo' (it needs gfortran and"
            " FFTW)"
        )


@contextlib.contextmanager
def status():
    """What runs just now, on a terminal only."""
    if not err.is_terminal:
        yield lambda text: None
        return
    with err.status("starting") as line:
        yield lambda text: line.update(status_line(f"running: {text}"))


def print_mpi(m):
    out.print(
        f"\n{FAMILY_NAMES.get(m['mpi'], m['mpi'])}:"
        f" {' '.join(m['mpi_library'].split(',')[0].split())}, {m['ranks']} ranks, {m['rounds']}"
        " rounds, interleaved",
        style="bold",
        soft_wrap=True,
    )
    keys = [f"{c['collective']} {c['communicator']}" for c in m["variants"][0]["collectives"]]
    made = table("run", ">wall", ">p10-p90", *(f">{k}" for k in keys), "same answer", "")
    plain = m["variants"][0]["median_s"]
    for v in m["variants"]:
        best = (
            "<- best"
            if v["preloaded"] and v["name"] == m["best"]["wall"] and m["best"]["beyond_spread"]
            else ""
        )
        made.add_row(
            v["name"],
            f"{v['median_s']:.2f} s",
            f"{v['p10_s']:.2f}-{v['p90_s']:.2f}",
            *(readable(c["mean_s"] * 1e6) for c in v["collectives"]),
            "yes" if v["same_answer"] else "NO",
            f"{100 * (v['median_s'] / plain - 1):+.0f} % {best}",
            style="" if v["same_answer"] else "bold red",
        )
    show(made)
    for line in [*best_lines(m), *map(demo.overlap_line, m["overlap"])]:
        out.print(line, soft_wrap=True)
    for s in m["skipped"]:
        out.print(f"not run: {s['name']}: {s['why']}", style="yellow", soft_wrap=True)


def best_lines(m):
    """The best choice in words, no more certain than the spread allows."""
    best, clear = m["best"], [b for b in m["best"]["by_collective"] if b["beyond_spread"]]
    winner = f"{best['wall']}: " if best["beyond_spread"] else ""
    lines = [f"best choice: {winner}{demo.headline(best)}"]
    for b in clear:
        lines.append(
            f"  {b['collective']} on {b['communicator']}: {b['best']}, {b['gain']:.2f} times as"
            " fast as mpi"
        )
    if clear:
        lines.append(f"  as rules: CRESTA_IMPL='{best['spec']}'")
    return lines


def write_report(data, report_to, json_to):
    from crestacoll import htmlreport

    path = Path(report_to)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(htmlreport.render(data), encoding="utf-8", errors="backslashreplace")
    except OSError as e:
        raise Problem(f"cannot write {path}: {e.strerror}") from e
    if json_to != "-":
        out.print(f"\nreport: {path}   ({data['seconds']:.0f} s in all)", soft_wrap=True)


def say_different(data):
    for m in data["mpis"]:
        for b in m["broken"]:
            text = f"crestacoll: {m['mpi']}: {b['name']} broke the program: {b['why']}"
            err.print(text, style="red", soft_wrap=True)
        for v in m["variants"]:
            if not v["same_answer"]:
                checks = (
                    f"; checks that failed: {', '.join(v['failed_checks'])}"
                    if v["failed_checks"]
                    else ""
                )
                err.print(
                    f"crestacoll: WRONG ANSWER: {m['mpi']}, {v['name']}: checksum"
                    f" {', '.join(v['checksum'])}, plain MPI gives {m['answer']}{checks}",
                    style="red",
                    soft_wrap=True,
                )
