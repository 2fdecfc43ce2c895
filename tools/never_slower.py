#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""never_slower.py - is `auto`, or a tuned choice, anywhere slower than the MPI's own collectives?

    .venv/bin/python tools/never_slower.py [--impl auto] [--tuning FILE] [--output FILE]

Measures candidates beside the MPI on all collectives but those of neighborhoods, sizes, numbers of
ranks and MPIs: 5 minutes for a run, on a machine that does nothing else. In one job take turns,
sample by sample: `mpi`; `mpi` once more, the control; each candidate. A round is one sample of
each. A sample is a batch of calls that lasts 0.1 ms or more, so that 40 ns of a call can be seen.
`--buffers written`: each rank writes what it gives again before each call, within the time.

For each point in a run, in microseconds a call:
* excess: the median over the rounds of candidate - mpi, both of one round.
* noise: what the same figure is for mpi against mpi. The rounds of the job are drawn again at
  random, in blocks of neighbours (a circular moving-block bootstrap, as many rounds as there are,
  blocks of the root of that), and of each draw the median of control - mpi is taken. The 95th
  percentile of these medians, each with both signs, since neither of the two is the first, is the
  noise. It holds what differs between two communicators of the MPI all through the job, too.
* shortfall: excess - noise - the larger of 3 % of the median of mpi and 0.04.

A point falls short if the median of its shortfalls over the runs (--runs, fixed beforehand) is
above 0, or if some result was wrong. The gain is the geometric mean over the points of the ratio
of the medians of candidate and mpi, of which the median over the runs is taken.

Each run of a point becomes a line of JSON in --output; what is there of the same build is not
measured again. Exit codes: 0 nothing falls short; 1 something does, or is missing; 2 wrong usage;
125 it could not run.
"""
import argparse
import datetime
import hashlib
import json
import math
import pathlib
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.base.sizes import parse_sizes  # noqa: E402
from crestacoll_tools.base.ui import USAGE, WRONG, Problem  # noqa: E402
from crestacoll_tools.bench import benchjob  # noqa: E402
from crestacoll_tools.builds import machine
from crestacoll_tools.builds.builds import choose_builds  # noqa: E402
from crestacoll_tools.peers import launches, speeds, table  # noqa: E402
from crestacoll_tools.rules import tuning
from crestacoll_tools.rules.collectives import NEIGHBORS, UNSIZED  # noqa: E402
from never_slower_report import CONTROL, MPI, POINT, figures, report  # noqa: E402

TUNED = "tuned"
BATCH_US, MOST = 100, 400  # a sample lasts at least so long; rounds
LEAST_S = 3.0  # seconds of a job
KILL = 120.0  # seconds after which a job that should have ended does not end by itself
@dataclass(frozen=True)
class Job:
    """One launch: all collectives and sizes that are still missing."""

    run: int
    build: object
    ranks: int
    buffers: str


class Grid:
    """All points, and those that are in the file."""

    def __init__(self, args):
        self.args, self.path = args, args.output
        self.builds = choose_builds(args.mpi)
        self.rules = {b.name: dict(args.rules) | tuned(b, args.tuning) for b in self.builds}
        self.versions = {b.name: self.version(b) for b in self.builds}
        self.lines, self.ran = [], {}
        if self.path.exists():
            self.lines = read(self.path)

    @property
    def sessions(self):
        return [x for x in self.lines if x.get("type") == "session"]

    def candidates(self, build):
        return [*self.args.impl, *self.rules[build.name]]

    def version(self, build):
        """Results of another build, or of other rules, are those of something else."""
        text = launches.digest(build) + json.dumps(self.rules[build.name])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def jobs(self):
        return [
            Job(run, build, ranks, buffers)
            for run in range(1, self.args.runs + 1)
            for ranks in self.args.ranks
            for buffers in self.args.buffers
            for build in self.builds
        ]

    def collectives(self, build):
        known = [c for c in build.collectives if c not in NEIGHBORS]  # which need a topology
        asked = known if self.args.collectives == ["all"] else self.args.collectives
        for name in asked:
            if name not in known:
                raise Problem(f"no collective '{name}'; there are: {', '.join(known)}", USAGE)
        return asked

    def points(self, job):
        """(candidate, collective, bytes) of a job."""
        return {
            (candidate, collective, size)
            for candidate in self.candidates(job.build)
            for collective in self.collectives(job.build)
            for size in ([0] if collective == "barrier" else self.args.sizes)
        }

    def missing(self, job):
        known = {
            (line["candidate"], line["collective"], line["bytes"])
            for line in self.current()
            if (line["run"], line["mpi"], line["ranks"], line["buffers"])
            == (job.run, job.build.name, job.ranks, job.buffers)
        }
        return self.points(job) - known

    def current(self):
        """Lines of what is there now."""
        lines = (x for x in self.lines if x.get("type") == "point")
        return [x for x in lines if self.versions.get(x["mpi"]) == x["version"]]

    def asked(self):
        """Lines of the points that the command line names."""
        where = {(job, point) for job in self.jobs() for point in self.points(job)}
        named = {b.name: b for b in self.builds}
        for line in self.current():
            job = Job(line["run"], named[line["mpi"]], line["ranks"], line["buffers"])
            if (job, (line["candidate"], line["collective"], line["bytes"])) in where:
                yield line

    def add(self, line):
        self.lines.append(line)
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as e:
            raise Problem(f"cannot write {self.path}: {e.strerror}") from e


def tuned(build, files):
    """{TUNED: rules of the tuning file that is for this build}, without one nothing."""
    for path in files:
        told = build.tuning(path)
        if told["error"]:
            raise Problem(told["error"])
        if told["used"]:
            return {TUNED: ",".join(map(tuning.rule_text, tuning.read(path)["rules"]))}
    return {}


def read(path):
    """The lines of a file; what a kill cut off is left out."""
    text, found = path.read_text(encoding="utf-8"), []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            print(f"{path}: a line that is cut off is left out", file=sys.stderr)
    if text and not text.endswith("\n"):
        path.write_text(text + "\n", encoding="utf-8")
    return found


def plan(grid, job, points, **how):
    """What crestacoll-bench is asked for; all sizes of each collective that lacks some."""
    names = {collective for _, collective, _ in points}
    collectives = [c for c in grid.collectives(job.build) if c in names]
    sizes = sorted({size for _, _, size in points} - {0}) or [0]
    rules = {CONTROL: f"*={MPI}"} | grid.rules[job.build.name]
    made = benchjob.Plan(collectives, [MPI, *grid.args.impl], sizes, job.ranks)
    made.buffers, made.samples = job.buffers, how.get("samples", MOST)
    made.budget = max(LEAST_S, grid.args.seconds * made.cells)
    made.options = ["--batch-us", str(how.get("batch_us", BATCH_US)), "--rounds", "1"]
    for name, text in rules.items():
        made.options += ["--rules", f"{name}={text}"]
    return made


def start(job, made, variables=None):
    words = benchjob.words(job.build, made)
    return benchjob.run_command(job.build, words, limit=made.budget + KILL, variables=variables)


def what_runs(grid, job, points):
    """{(candidate, collective): [(least, most bytes, implementation)]}, from the profile of a short
    job: what really ran, whatever the rules say.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "profile.json"
        start(job, plan(grid, job, points, samples=1, batch_us=0), {"CRESTA_PROFILE": str(path)})
        records = json.loads(path.read_text(encoding="utf-8"))["records"]
    found = defaultdict(list)
    for r in records:
        candidate = r["communicator"].removeprefix("bench ")
        sizes = (0, math.inf) if r["collective"] in UNSIZED else (r["bytes_min"], r["bytes_max"])
        found[candidate, r["collective"]].append((*sizes, r["implementation"]))
    return found


def ran_at(ran, candidate, collective, size):
    """The implementation at a point; None: not known."""
    names = {i for low, high, i in ran.get((candidate, collective), []) if low <= size <= high}
    return "/".join(sorted(names)) or None


def measure(grid, job, points):
    """One job for points, whose lines go into the file; what was said about it."""
    ran = grid.ran.get((job.build.name, job.ranks))
    if ran is None:
        ran = what_runs(grid, job, grid.points(job))
        grid.ran[job.build.name, job.ranks] = ran
    before = exchange(job.build)
    result = start(job, plan(grid, job, points))
    about = {"version": grid.versions[job.build.name], "date": now()}
    about["exchange_us"] = [before, exchange(job.build)]
    for line in lines_of(job, result, points):
        line["ran"] = ran_at(ran, *(line[name] for name in ("candidate", "collective", "bytes")))
        grid.add(line | about)
    return [f"{n['about']}: {n['text']}" for n in result.notes]


def lines_of(job, result, points):
    """What a job says about points; what it left out has none."""
    wrong = {(r["implementation"], r["collective"], r["bytes"]) for r in result.wrong}
    us = {(x["collective"], x["bytes"]): x["us"] for x in result.rounds}
    for candidate, collective, size in sorted(points):
        found = us.get((collective, size), {})
        if {MPI, CONTROL, candidate} <= found.keys() and found[MPI]:
            where = (job.build.name, job.ranks, job.buffers, candidate, collective, size)
            line = {"type": "point", "run": job.run} | dict(zip(POINT, where))
            line |= {"rounds": len(found[MPI])} | figures(found, candidate)
            yield line | {"verified": (candidate, collective, size) not in wrong}


def try_to_measure(grid, job):
    """All that is missing in one launch; what is missing then, collective by collective."""
    told = attempt(grid, job, grid.missing(job))
    for collective in sorted({c for _, c, _ in grid.missing(job)}):
        told += attempt(grid, job, {p for p in grid.missing(job) if p[1] == collective})
    left = grid.missing(job)
    return list(dict.fromkeys(told)) if left else []


def attempt(grid, job, points):
    """What was said about it; wrong usage ends the command."""
    try:
        return measure(grid, job, points)
    except Problem as e:
        if e.exit_code == USAGE:
            raise
        return [e.message.strip()]


def exchange(build):
    """Microseconds for a cache line, which tells the machine's speed; None on a single core."""
    records = speeds.measure(build.program("crestacoll-floor"))
    return table.floor_of([records])["exchange"]


def now():
    return datetime.datetime.now().astimezone().isoformat(timespec="seconds")


def measure_all(grid):
    """What the file lacks; what was said on the way."""
    jobs = grid.jobs()
    lacking = [job for job in jobs if grid.missing(job)]
    have = len(list(grid.asked()))
    print(f"{have} of {sum(len(grid.points(j)) for j in jobs)} results are in {grid.path}")
    if not lacking:
        return
    others = machine.Others()
    others.look()
    for number, job in enumerate(lacking, 1):
        told = try_to_measure(grid, job)
        what = f"run {job.run}, {job.build.name}, {job.ranks} ranks, {job.buffers} buffers"
        print(f"{number}/{len(lacking)} {what}", *told, sep="\n  ", file=sys.stderr, flush=True)
    others.look()
    about = {"machine": machine.describe(), "others": others.found()}
    grid.add({"type": "session", "date": now()} | about)


def words(text):
    return [word for word in text.split(",") if word]


def named_rules(text):
    name, sign, rules = text.partition("=")
    if not sign or name in ("", MPI, CONTROL):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=RULES")
    return name, rules


def implementations(text):
    """Names; those of mpi and of its control are taken."""
    if {MPI, CONTROL} & set(words(text)):
        raise argparse.ArgumentTypeError("mpi takes part anyhow; again: --rules 'again=*=mpi'")
    return words(text)


def numbers(text):
    return [int(word) for word in words(text)]


def parse(given):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    add = parser.add_argument
    add("--impl", type=implementations, default="auto", help="candidates; auto")
    add("--rules", type=named_rules, action="append", default=[], metavar="NAME=RULES",
        help="rules, as in CRESTA_IMPL, that are the candidate NAME")
    add("--tuning", action="append", default=[], metavar="FILE",
        help="a tuning file, whose rules are the candidate `tuned`; one for each MPI")
    add("--mpi", default="openmpi,mpich", help="builds; openmpi,mpich")
    add("-n", dest="ranks", type=numbers, default="2,4", help="numbers of ranks; 2,4")
    add("--collectives", type=words, default="all", help="all but the neighborhood ones")
    add("--sizes", type=parse_sizes, default="8,64,512,4K,32K,256K,2M")
    add("--buffers", type=words, default="hot,written", help="hot, written, cold; hot,written")
    add("--runs", type=int, default=3, help="of which the median counts; 3")
    add("--seconds", type=float, default=0.25, help="of a run for a point; 0.25")
    add("--report", action="store_true", help="measure nothing, only tell what is there")
    add("--output", type=pathlib.Path, default=ROOT / "build" / "never_slower.jsonl")
    return parser.parse_args(given)


def main(given):
    try:
        grid = Grid(parse(given))
        if not grid.args.report:
            measure_all(grid)
        missing = sum(len(grid.missing(job)) for job in grid.jobs())
        return 0 if report(list(grid.asked()), grid.sessions, missing) else WRONG
    except KeyboardInterrupt:
        print("never_slower.py: interrupted; the same command goes on", file=sys.stderr)
        return 130
    except Problem as e:
        print(f"never_slower.py: {e.message}", file=sys.stderr)
        return e.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
