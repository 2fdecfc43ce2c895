# SPDX-License-Identifier: BSD-3-Clause
"""The order of the work: for each point the models, the algorithms of the best one, and a proof of
what is ahead on fresh data, in longer samples.
"""

import time

from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.builds import machine
from crestacoll_tools.race import racestats
from crestacoll_tools.race.racestats import Difference
from crestacoll_tools.tune import grid
from crestacoll_tools.tune.grid import MPI
from crestacoll_tools.tune.measure import LONG_US, SHORT_US
from crestacoll_tools.tune.rules import gains
from crestacoll_tools.tune.speeds import Speeds

SHARES = {"models": 0.4, "algorithms": 0.5}  # of what the point has left
DATA = ("hot", "written")  # before each call; as crestacoll-bench names buffers
SECOND = 0.25  # share of the time for the second proofs, for each speed of the machine, and
AT_MOST = 0.6  # for all of them
PASSES = 4  # of proofs again, for rules that were not proved at each speed of the machine
LEAST = 1.5  # seconds for a job besides its launch: less shows nothing


class Changed(Problem):
    """What was measured so far holds for something else."""


class Search:
    """One command's work on a grid. `jobs.race` measures (measure.Jobs)."""

    proves_again = True

    def __init__(self, build, state, jobs, budget, tell):
        self.build, self.state, self.jobs, self.tell = build, state, jobs, tell
        self.begin, self.budget = time.monotonic(), budget
        self.earlier_s = state.data["spent_s"]

    def left(self):
        return self.budget - (time.monotonic() - self.begin)

    def work(self):
        """All points that are not done, as far as the time reaches. A point is kept when done."""
        others = machine.Others()
        all_left = self.left()
        others.look()
        try:
            while self.state.open_points and self.left() >= self.least + self.reserve(all_left):
                share = (self.left() - self.kept(all_left)) / len(self.state.open_points)
                self.try_to_tune(self.state.open_points[0], max(share, self.least))
                self.keep()
            self.prove_all_again()
        finally:
            others.look()
            self.state.data["others"] = others.found()
            self.keep()
        all_done = not self.state.open_points and not self.to_prove_again()
        self.state.data["ended"] = "done" if all_done else "time"
        self.state.save()

    def kept(self, seconds):
        """Seconds, out of so many, that are kept for repeated proofs."""
        if not self.proves_again:
            return 0.0
        most = max((len(self.speeds(p).usual()) for p in self.state.points), default=0)
        return min(AT_MOST, SECOND * max(1, most)) * seconds

    def reserve(self, seconds):
        """What is kept for proofs, once there is something to prove."""
        return self.kept(seconds) if self.to_prove_again() else 0.0

    @property
    def least(self):
        """Seconds that a point takes at least: two jobs, and those of a proof."""
        return (2 + len(DATA)) * (LEAST + self.jobs.launch_s)

    def try_to_tune(self, point, seconds):
        """A job that breaks off is the end of its point only, unless no job has worked yet."""
        try:
            self.tune(point, time.monotonic() + seconds)
        except Changed:
            raise
        except Problem as e:
            if self.jobs.header is None:
                raise
            ranks = counted(point["ranks"], "rank")
            told = f"{point['collective']} on {ranks}: {e.message.strip()}"
            point["notes"].append(told)
            point["done"] = point["short"] = True
            self.tell.note(told)

    def keep(self):
        for point in self.state.points if self.proves_again else []:
            for cell in point["cells"]:
                cell["lacks"] = self.lacks(point, cell)
        self.state.data["spent_s"] = self.earlier_s + time.monotonic() - self.begin
        self.state.save()

    def tune(self, point, end):
        """A point is done when all three parts are: what an interrupted one had is measured
        again.
        """
        cells = {b: new_cell(b) for b in grid.sizes_of(point["collective"], self.sizes)}
        point["notes"] = []
        self.models(point, cells, end)
        self.algorithms(point, cells, end)
        self.prove(point, cells, end)
        point["cells"], point["done"] = list(cells.values()), True
        point["short"] = any(
            not c["found"] or (c["candidate"] and not c["proof"]) for c in point["cells"]
        )

    @property
    def sizes(self):
        return self.state.data["options"]["sizes"]

    def race(self, point, sizes, arms, seconds, batch_us, title, data=DATA[0]):
        name = f"{point['collective']} on {counted(point['ranks'], 'rank')}: {title}"
        self.tell.tries(name, arms[1:])
        seconds = max(seconds, LEAST + self.jobs.launch_s)
        asked = (point, sizes, arms, seconds, batch_us, self.tell.tick)
        rounds, notes = self.jobs.race(*asked, data=data)
        point["notes"] += [n for n in notes if n not in point["notes"]]
        self.learn(point["ranks"])
        for line_us in self.jobs.line_us.values():
            self.speeds(point).take(line_us)
        return rounds

    def speeds(self, point):
        """Those that were met with so many ranks, which may be on other cores than fewer are."""
        return Speeds(self.state.data.setdefault("speeds", {}).setdefault(str(point["ranks"]), []))

    def learn(self, ranks):
        """On what it runs, which must stay the same; few ranks may be on fewer hosts than many."""
        header, data = self.jobs.header, self.state.data
        if header is None:
            return
        must_be("MPI", data["mpi_library"], header["mpi_library"])
        of = f"number of hosts of {counted(ranks, 'rank')}"
        must_be(of, self.state.hosts(ranks), header["hosts"])
        data["mpi_library"] = header["mpi_library"]
        data["hosts"][str(ranks)] = header["hosts"]

    def models(self, point, cells, end):
        seconds = SHARES["models"] * (end - time.monotonic())
        arms = grid.models(self.build)
        found = self.race(point, list(cells), arms, seconds, SHORT_US, "models")
        for size, rounds in found.items():
            take(cells[size], rounds, None)

    def algorithms(self, point, cells, end):
        """Those of the best model that has some, beside what is ahead already."""
        arms, model = [], best_model(self.build, point, cells)
        if model is not None:
            arms = grid.algorithms(self.build, point["collective"], model)
        if not arms:
            return
        seconds = SHARES["algorithms"] * (end - time.monotonic())
        ahead = {c["candidate"] for c in cells.values() if c["candidate"]}
        every = [MPI, *sorted(ahead), *arms]
        found = self.race(point, list(cells), every, seconds, SHORT_US, f"algorithms of {model}")
        for size, rounds in found.items():
            rounds = [{n: t for n, t in r.items() if grid.means_more(n, size)} for r in rounds]
            take(cells[size], rounds, cells[size]["candidate"])

    def prove(self, point, cells, end):
        """Against the MPI alone, in long samples, with data that is written again before each call
        and with data that is not: the gain of a rule is the smaller one of the two.
        """
        for size, (proof, at) in self.proofs(point, cells, end).items():
            cells[size] |= {"proof": proof.as_dict(), "proofs": 1, "proved_at": at}

    def proofs(self, point, cells, end):
        """{bytes: (the difference, [[kind of data, speed of the machine]])} of the candidates of
        cells; without those where the speed changed meanwhile or is not known.
        """
        asked = {}
        for cell in cells.values():
            if cell["candidate"]:
                asked.setdefault(cell["candidate"], []).append(cell["bytes"])
        jobs = [(name, data) for name in asked for data in DATA]
        proofs = {}
        for count, (name, data) in enumerate(jobs):
            seconds = (end - time.monotonic()) / (len(jobs) - count)
            found = self.race(
                *(point, asked[name], [MPI, name], seconds, LONG_US),
                f"proof, data {'' if data == 'written' else 'not '}written again",
                data,
            )
            for size, rounds in found.items():
                pair = racestats.pairs(rounds, name, MPI)
                speed = self.speeds(point).number(self.jobs.line_us.get(size))
                at = [] if speed is None else [[data, speed]]
                proofs.setdefault(size, []).append((racestats.difference(*pair), at))
        return {
            size: (least([d for d, _ in both]), [a for _, at in both for a in at])
            for size, both in proofs.items()
            if len(both) == len(DATA) and all(d for d, _ in both)
        }

    def lacks(self, point, cell):
        """The speeds at which a rule was not proved with each kind of data. A machine that has one
        speed needs no proof of it, however noisy it is.
        """
        usual = self.speeds(point).usual()
        if not gains(cell) or len(usual) < 2:
            return []
        at = cell.get("proved_at", [])
        return sorted(k for k in usual if any([d, k] not in at for d in DATA))

    def to_prove_again(self):
        """[(point, {bytes: cell})] of the rules that have one proof, or none at some speed."""
        found = []
        for point in self.state.points if self.proves_again else []:
            cells = {
                c["bytes"]: c
                for c in point["cells"]
                if gains(c) and (c.get("proofs") == 1 or self.lacks(point, c))
            }
            if cells:
                found.append((point, cells))
        return found

    def prove_all_again(self):
        """Every rule a second time, minutes after the first, and again while a speed is missing:
        machines change meanwhile, as those that are virtual do when their cores are moved. The
        worst proof counts.
        """
        for _ in range(PASSES):
            waiting = self.to_prove_again()
            for count, (point, cells) in enumerate(waiting):
                if self.left() < self.least:
                    return
                share = self.left() / (len(waiting) - count)
                self.try_to_prove(point, cells, time.monotonic() + share)
                self.keep()

    def try_to_prove(self, point, cells, end):
        try:
            found = self.proofs(point, cells, end)
        except Changed:
            raise
        except Problem as e:
            ranks = counted(point["ranks"], "rank")
            self.tell.note(f"{point['collective']} on {ranks}: {e.message.strip()}")
            return
        for size, (proof, at) in found.items():
            cell = cells[size]
            worse = least([Difference(**cell["proof"]), proof])
            at += [known for known in cell.get("proved_at", []) if known not in at]
            cell |= {"proof": worse.as_dict(), "proofs": cell.get("proofs", 1) + 1, "proved_at": at}


def least(both):
    """That of two differences which is not sure, or else gains less."""
    return max(both, key=lambda d: (not d.surely_faster, d.trimmed))


def must_be(what, before, now):
    if before not in (None, now):
        raise Changed(
            f"this tuning was begun with {before} as {what}, and now it is {now}; --output OTHER"
            " begins another"
        )


def new_cell(size):
    return {"bytes": size, "found": {}, "candidate": None, "arms": [], "proof": None}


def take(cell, rounds, leader):
    """What a race says of one size. A leader from the race before stays unless another is faster
    than it, beyond the noise.
    """
    names = list(rounds[0]) if rounds else []
    if MPI not in names:
        return
    found = racestats.compare(rounds, names, MPI)
    cell["found"] |= {n: d.as_dict() for n, d in found.items() if d is not None}
    cell["arms"] = list(dict.fromkeys([*cell["arms"], *names]))
    best = racestats.best(found)
    if leader in names and best not in (None, leader):
        level = racestats.corrected(racestats.LEVEL, len(names) - 1)
        ahead = racestats.difference(*racestats.pairs(rounds, best, leader), level)
        best = best if ahead is not None and ahead.faster else leader
    if best is not None or leader in names:
        cell["candidate"] = best


def best_model(build, point, cells):
    """The model with algorithms that is ahead at most sizes; else the one that is behind least."""
    having = [m for m in grid.models(build) if grid.algorithms(build, point["collective"], m)]
    ahead = [c["candidate"] for c in cells.values() if c["candidate"] in having]
    if ahead:
        return max(having, key=ahead.count)
    known = {
        m: [Difference(**c["found"][m]) for c in cells.values() if m in c["found"]] for m in having
    }
    open_ones = {m: ds for m, ds in known.items() if ds and not all(d.slower for d in ds)}
    return min(open_ones, key=lambda m: min(d.trimmed for d in open_ones[m]), default=None)
