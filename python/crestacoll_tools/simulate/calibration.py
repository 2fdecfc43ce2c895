# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll simulate --calibrate` and `--check`: machine files from measured times, and how far
simulated times are from measured ones.
"""

import dataclasses
import statistics
from pathlib import Path

from crestacoll import __version__
from crestacoll_tools.base.json_output import write_json
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import USAGE, Problem, err, out, show, table
from crestacoll_tools.simulate import calibrate, machines, measured
from crestacoll_tools.simulate.show import time_words


@dataclasses.dataclass(frozen=True)
class Files:
    """What the command was given: results of `crestacoll bench --json`, and where to write."""

    fitted: tuple
    checked: tuple
    crowded: bool  # points with more ranks than cores, too
    output: str | None
    json_to: str | None

    def points(self, path):
        """The points of a result; how many were skipped, and why, is printed."""
        points, skipped = measured.load(path, self.crowded)
        for why, count in skipped.items():
            err.print(f"{path}: {counted(count, 'point')} skipped: {why}", soft_wrap=True)
        return points


def run(build, machine_name, files):
    """Fits to some results if there are any, and compares at the points of others."""
    if not files.fitted and not machine_name:
        raise Problem("--check goes with --machine FILE or with --calibrate", USAGE)
    if files.output and not files.fitted:
        raise Problem("--output goes with --calibrate", USAGE)
    known = [p for path in files.fitted for p in files.points(path)]
    machine = machines.load(machine_name) if machine_name else None
    seen = {what(p) for p in known}
    others = [p for path in files.checked for p in files.points(path) if what(p) not in seen]
    if files.checked and not others:
        raise Problem("--check: no point that --calibrate has not seen", USAGE)
    if known:
        machine = found(build, known, machine, files.fitted)
    compared, refused = calibrate.compare(build, machine, others)
    if others and not compared:
        raise Problem(f"--check: no point can be simulated: {refused[0]}")
    if compared:
        machine["fit"] = summary(compared)
    if files.output:
        write_json({k: v for k, v in machine.items() if k != "file"}, files.output)
    if files.json_to:
        write_json(as_json(machine, compared), files.json_to)
    if files.json_to != "-":
        tell(machine, compared, files.output)
    for text in refused:
        err.print(f"not compared: {text}", soft_wrap=True)


def what(point):
    """All but the time."""
    return (point.collective, point.bytes, point.implementation, point.ranks, point.hosts)


def found(build, points, start, paths):
    def told(text):
        if err.is_terminal:
            err.print(text, style="dim")

    points, refused = calibrate.possible(build, start, points)
    for text in refused:
        err.print(f"not fitted to: {text}", soft_wrap=True)
    if not points:
        raise Problem("--calibrate: no point can be simulated")
    costs, errors = calibrate.fit(build, points, start, told)
    levels = {p.hosts > 1 for p in points}, {p.ranks > p.hosts for p in points}
    missing = [name for name, has in zip(("network", "node"), levels) if True not in has]
    names = ", ".join(Path(p).name for p in paths)
    source = f"fitted to {counted(len(points), 'point')} of {names}"
    if missing:
        source += f"; nothing was measured of the {missing[0]}, whose costs are assumed"
    median = calibrate.median_error(errors)
    # The error of the machine that the fit began with is not that of this one.
    return {k: v for k, v in costs.items() if k != "fit"} | {
        "schema": "crestacoll-machine-1",
        "name": f"fitted to {names}",
        "source": f"{source}, there with a median error of {100 * median:.0f} %",
        "file": "as fitted",
    }


def summary(compared):
    """`fit` of a machine file."""
    errors = [abs(error) for _, _, error in compared]
    return {
        "median": round(statistics.median(errors), 4),
        "worst": round(max(errors), 4),
        "points": len(errors),
    }


def as_json(machine, compared):
    return {
        "schema": "crestacoll-simulate-check-1",
        "crestacoll": __version__,
        "machine": machine,
        "points": [
            {
                "collective": p.collective,
                "bytes": p.bytes,
                "implementation": p.implementation,
                "ranks": p.ranks,
                "hosts": p.hosts,
                "measured_s": p.seconds,
                "simulated_s": time,
                "error": error,
            }
            for p, time, error in compared
        ],
    }


def tell(machine, compared, output):
    out.print(f"{machine['name']}: {machine['source']}", soft_wrap=True)
    if compared:
        made = table("at points it was not fitted to", ">measured", ">simulated", ">error")
        for point, time, error in compared:
            words = time_words(point.seconds), time_words(time), f"{100 * error:+.0f} %"
            made.add_row(point.name(), *words)
        show(made)
    out.print(machines.said_error(machine), soft_wrap=True)
    if output:
        out.print(f"wrote {output}", soft_wrap=True)
