#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scale.py - the runs of docs/lab/scale.md, simulated: its table, its pictures.

    .venv/bin/python tools/scale.py             all, ten minutes on two cores
    .venv/bin/python tools/scale.py --draw      only tables and pictures, of the csv that is there

Writes scale.csv, images/scale-*.svg and the tables of scale.md, all in docs/lab, and into the
machine files how far simulated times are from published ones. What is simulated is in
scale_points.py, what the documents say in scale_claims.py.
"""
import argparse
import csv
import json
import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools")]

import scale_claims  # noqa: E402
import scale_points  # noqa: E402
from crestacoll_tools.base.ui import Problem  # noqa: E402
from crestacoll_tools.builds.builds import choose_builds  # noqa: E402
from crestacoll_tools.simulate import jobs, machines  # noqa: E402

LIMITS = jobs.Limits(seconds=1800, memory=12 << 30)
COLUMNS = ["curve", "line", "nodes", "ranks", "bytes", "seconds", "messages", "machine"]


def simulate(build, point):
    """The line of the table."""
    found = jobs.run(build, point.job(), LIMITS)
    print(f"{point.curve}: {point.line}, {point.nodes} nodes, {point.bytes} bytes", flush=True)
    seconds = point.parts * found["end"][-1][2]
    return {
        "curve": point.curve,
        "line": point.line,
        "nodes": point.nodes,
        "ranks": point.ranks,
        "bytes": point.bytes,
        "seconds": f"{seconds:.6g}",
        "messages": point.parts * found["messages"],
        "machine": point.machine["file"],
    }


def simulate_all(build, cores, small=False):
    with ThreadPoolExecutor(cores) as pool:
        rows = list(pool.map(lambda p: simulate(build, p), scale_points.first(small)))
        return rows + list(pool.map(lambda p: simulate(build, p), scale_points.beside(rows)))


def write(rows, path):
    with open(path, "w", encoding="utf-8", newline="") as f:
        made = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        made.writeheader()
        made.writerows(rows)


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def write_errors(rows):
    """Into the machine files."""
    for name, both in scale_claims.errors(rows).items():
        path = machines.FOLDER / f"{name}.json"
        found = json.loads(path.read_text(encoding="utf-8"))
        found["fit"] = scale_claims.fit(sum(both, []))
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--draw", action="store_true", help="of the csv that is there")
    parser.add_argument("--small", action="store_true", help="small runs only, for a test")
    parser.add_argument("--cores", type=int, default=2, help="simulations at a time")
    parser.add_argument("--docs", type=pathlib.Path, default=ROOT / "docs/lab", help="folder")
    args = parser.parse_args()
    table = args.docs / "scale.csv"
    if not args.draw:
        table.parent.mkdir(parents=True, exist_ok=True)
        write(simulate_all(choose_builds(None)[0], args.cores, args.small), table)
    rows = read(table)
    if not args.small:
        write_errors(rows)
    import scale_draw

    scale_draw.save_all(rows, args.docs / "images")
    if not args.small:
        page = args.docs / "scale.md"
        page.write_text(scale_claims.filled(page.read_text(encoding="utf-8"), rows), "utf-8")


if __name__ == "__main__":
    try:
        main()
    except (Problem, jobs.Refused) as e:
        sys.exit(f"scale.py: {e}")
