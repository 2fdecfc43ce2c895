#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""copy_rules.py - the limits of `shm?copy=auto` (src/model/shm_copy.def), from measurements.

    .venv/bin/python tools/copy_rules.py --write             measures, and renews the file
    .venv/bin/python tools/copy_rules.py FILE... [--write]   from what --keep has kept before

Measures `shm?copy=slots` against `shm?copy=single` by crestacoll-bench, interleaved in one job: on
every MPI that is built, with data that are written again before each call and that are not, on as
many ranks as fit on the cores, and on two and four times as many as there are cores (of two to
four). crestacoll-floor tells before and after each job how far apart the
cores are; a job during which that changed does not count. --keep FOLDER keeps what was measured.

A size wins at a distance if it does in every job: --by (the median) of `single` is at most --most
times that of `slots` in each, and at most --mean times in the geometric mean. A size with fewer
than --fewest samples does not count: the time ran out. Limits are ranges of neighbouring sizes that
win. With --write, rows of ranks and distances that were measured replace those that stand in the
file, those where ranks outnumber cores all of that kind; the other rows stay. Numbers of ranks
above 2 have rows of their own. Where ranks outnumber cores, those of twice as many hold for up to
three times as many, those of four times as many beyond, and a size must win at both distances.
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import re
import subprocess
import sys
from collections import Counter, defaultdict

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.base.sizes import format_size, parse_size  # noqa: E402
from crestacoll_tools.bench import benchjob  # noqa: E402
from crestacoll_tools.builds import builds

TABLE = ROOT / "src" / "model" / "shm_copy.def"
SLOTS, SINGLE = "shm?copy=slots", "shm?copy=single"
COLLECTIVES = ["allgather", "allreduce", "alltoall", "bcast", "gather", "reduce", "reduce_scatter",
               "reduce_scatter_block", "scan", "exscan", "scatter", "scatterv"]
SIZES = "32K,64K,128K,256K,512K,1M,2M,4M,8M"
BUFFERS = ("written", "hot")
CORES = len(os.sched_getaffinity(0))
FAR_LINE = 0.1  # us: FAR_LINE of src/model/shm_copy.c
ROW = re.compile(r"CCO_COPY\(\w+, (\d+, \d+), (NEAR|FAR|ANYWHERE), ")
MOST_RANKS = 64  # of a ring of slots: CCO_FLAT_RANKS


def distance(build):
    """NEAR or FAR, and the exchange of a line in us."""
    done = subprocess.run([build.program("crestacoll-floor"), "50"], capture_output=True,
                          text=True, check=True, timeout=60)
    records = map(json.loads, done.stdout.splitlines())
    line = next(r["p10_us"] for r in records if r.get("what") == "exchange")
    return ("FAR" if line >= FAR_LINE else "NEAR"), line


def job(build, ranks, buffers, o):
    batch = "500" if ranks > CORES else "50"  # ranks take turns: a short sample is all chance
    plan = benchjob.Plan(
        o.collectives.split(","), [SLOTS, SINGLE], [parse_size(s) for s in o.sizes.split(",")],
        ranks, samples=o.samples, budget=o.budget, buffers=buffers, options=["--batch-us", batch])
    before, line = distance(build)
    result = benchjob.run(build, plan, limit=3 * o.budget + 60)
    after, line_after = distance(build)
    about = {"mpi": build.name, "ranks": ranks, "buffers": buffers, "line_us": [line, line_after]}
    print(f"{about}: {'changed' if before != after else before}", file=sys.stderr)
    return {**about, "distance": before if before == after else None, "records": result.records}


def rank_counts():
    crowds = [2 * CORES, 4 * CORES] if 2 <= CORES <= 4 else []
    return [n for n in (2, 4, 8) if n <= CORES] + crowds


def of_ranks(ranks):
    """The first columns of a row: ranks from and to."""
    if ranks <= CORES:
        return f"{ranks}, {ranks}"
    return f"{CORES + 1}, {3 * CORES - 1}" if ranks < 3 * CORES else f"{3 * CORES}, {MOST_RANKS}"


def place_of(job):
    """Where ranks take turns, a row holds wherever the cores are: nothing can be measured there."""
    return "ANYWHERE" if job["distance"] and job["ranks"] > CORES else job["distance"]


def measure(o):
    jobs = [job(build, ranks, buffers, o) for build in builds.need_builds()
            for ranks in o.ranks for buffers in BUFFERS]
    if o.keep:
        name = datetime.datetime.now().strftime("copy-%Y%m%d-%H%M%S.json")
        o.keep.mkdir(parents=True, exist_ok=True)
        (o.keep / name).write_text(json.dumps(jobs), encoding="utf-8")
    return jobs


def ratios(jobs, o):
    """{(distance, ranks, collective): {bytes: [single by slots]}}, in all jobs that count."""
    found = defaultdict(lambda: defaultdict(list))
    for one in jobs:
        times = {(r["collective"], r["bytes"], r["implementation"]): r[o.by + "_us"]
                 for r in one["records"] if r["verified"] and r["samples"] >= o.fewest}
        for (collective, size, arm), us in times.items():
            slots = times.get((collective, size, SLOTS))
            if arm == SINGLE and slots and place_of(one):
                found[place_of(one), one["ranks"], collective][size].append(us / slots)
    return found


def wins(measured, jobs, o):
    """Times of all jobs are there, and fine."""
    mean = math.exp(sum(map(math.log, measured)) / len(measured))
    return len(measured) == jobs and max(measured) <= o.most and mean <= o.mean


def ranges(sizes, jobs, o):
    """[(first, last)] of neighbouring sizes that win."""
    runs = [[]]
    for size, measured in sorted(sizes.items()):
        if wins(measured, jobs, o):
            runs[-1].append(size)
        else:
            runs.append([])
    return [(run[0], run[-1]) for run in runs if len(run) >= o.least]


def rows(found, jobs, o):
    """{(ranks, distance): lines of C}; what was measured and has no winners has none."""
    count = Counter((place_of(j), j["ranks"]) for j in jobs)
    lines = {(of_ranks(ranks), place): [] for place, ranks, _ in found}
    for (place, ranks, collective), sizes in sorted(found.items()):
        for first, last in ranges(sizes, count[place, ranks], o):
            lines[of_ranks(ranks), place].append(
                f"CCO_COPY({collective.upper()}, {of_ranks(ranks)}, {place}, "
                f"{first >> 10} << 10, {last >> 10} << 10)")
    return lines


def show(found):
    for (place, ranks, collective), sizes in sorted(found.items()):
        cells = "  ".join(f"{format_size(size)} " + "/".join(f"{r:.2f}" for r in measured)
                          for size, measured in sorted(sizes.items()))
        print(f"{place} {ranks} ranks {collective:21} {cells}")


def head(o):
    options = "".join(f" --{n} {getattr(o, n)}" for n in ("by", "most", "mean", "least"))
    return f"""\
/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of shm?copy=auto (model/shm_copy.h): where one copy by the kernel was faster than two
 * through slots. Written on {datetime.date.today()} by
 *     tools/copy_rules.py{options}
 * Collective, ranks from and to, where the cores are (ANYWHERE: of more ranks than cores), bytes
 * from and to. */
"""


def write(lines, o):
    kept = [text for text in TABLE.read_text(encoding="utf-8").splitlines()
            if (row := ROW.match(text)) and row.groups() not in lines
            and (row[2] != "ANYWHERE" or row[2] not in [place for _, place in lines])]
    new = sorted(kept + [line for some in lines.values() for line in some])
    TABLE.write_text(head(o) + "".join(line + "\n" for line in new), encoding="utf-8")


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE")
    p.add_argument("--write", action="store_true")
    p.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    p.add_argument("--by", choices=["median", "p10"], default="median")
    p.add_argument("--most", type=float, default=1.05)
    p.add_argument("--mean", type=float, default=0.95)
    p.add_argument("--least", type=int, default=2)
    p.add_argument("--fewest", type=int, default=10, help="samples of a time that counts")
    p.add_argument("--collectives", default=",".join(COLLECTIVES))
    p.add_argument("--sizes", default=SIZES)
    p.add_argument("--samples", type=int, default=60)
    p.add_argument("--ranks", type=lambda t: [int(n) for n in t.split(",")], default=rank_counts())
    p.add_argument("--budget", type=float, default=120.0, help="seconds for each job")
    o = p.parse_args()
    jobs = [j for f in o.files for j in json.loads(f.read_text("utf-8"))] or measure(o)
    found = ratios(jobs, o)
    show(found)
    lines = rows(found, jobs, o)
    for some in lines.values():
        print(*some, sep="\n")
    if o.write:
        write(lines, o)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
