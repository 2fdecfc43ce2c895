# SPDX-License-Identifier: BSD-3-Clause
"""Racing the algorithms of the MPI below: in jobs that alternate with jobs of its own choice. A
round is a job of each; the median of a job counts.
"""

import random
import statistics
import time

from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.race import racestats
from crestacoll_tools.tune import grid, native, search
from crestacoll_tools.tune.grid import MPI
from crestacoll_tools.tune.measure import SHORT_US

MOST_CANDIDATES = 3
ROUNDS = 2 * racestats.FEWEST  # more than these add little: jobs differ by themselves
JOB_S = 0.4  # of measuring in a job, at least
SCREEN_SHARE = 0.3  # of the time of a point


class NativeSearch(search.Search):
    """As Search; implementations are names of the MPI's own algorithms."""

    order = random.Random(1)
    proves_again = False  # its rounds are spread over the time of a point

    @property
    def least(self):
        """Seconds of a point with four algorithms of which two remain."""
        return (5 + 3 * racestats.FEWEST) * (JOB_S + self.jobs.launch_s)

    def tune(self, point, end):
        begin = time.monotonic()
        cells = {b: search.new_cell(b) for b in grid.sizes_of(point["collective"], self.sizes)}
        point["notes"] = []
        arms = native.algorithms(self.build, point["collective"], point["ranks"])
        until = begin + SCREEN_SHARE * (end - begin)
        candidates = self.screen(point, list(cells), arms, until)
        rounds = {size: [] for size in cells}
        if candidates:
            self.alternate(point, cells, candidates, rounds, end)
        for size, cell in cells.items():
            judge(cell, rounds[size], candidates, arms)
        point["cells"], point["done"] = list(cells.values()), True
        point["short"] = any(len(r) < racestats.FEWEST for r in rounds.values()) and bool(
            candidates
        )

    def job(self, point, sizes, name, seconds):
        """{bytes: median} under an algorithm; None if the MPI refuses it or gives wrong results."""
        forced = {} if name == MPI else native.forced(self.build, point["collective"], name)
        try:
            rounds, notes = self.jobs.race(
                point, sizes, [MPI], seconds, SHORT_US, self.tell.tick, forced
            )
        except Problem as e:
            if name == MPI:
                raise
            point["notes"].append(f"{point['collective']} {name}: {last_line(e.message)}")
            return None
        self.learn(point["ranks"])
        medians = {b: statistics.median(r[MPI] for r in rs) for b, rs in rounds.items() if rs}
        point["notes"] += [n for n in notes if n not in point["notes"]]
        return medians if set(medians) == set(sizes) else None

    def screen(self, point, sizes, arms, until):
        """One job of each: those that are ahead of the MPI's choice somewhere, the best first."""
        ranks = counted(point["ranks"], "rank")
        self.tell.tries(f"{point['collective']} on {ranks}: algorithms", arms)
        found = {}
        for count, name in enumerate([MPI, *arms]):
            left = (until - time.monotonic()) / (len(arms) + 1 - count)
            found[name] = self.job(point, sizes, name, max(left, JOB_S + self.jobs.launch_s))
        reference = found.pop(MPI)
        if reference is None:
            return []
        best = {
            name: min(us[b] / reference[b] for b in sizes) for name, us in found.items() if us
        }
        return sorted((n for n in best if best[n] < 1), key=best.get)[:MOST_CANDIDATES]

    def alternate(self, point, cells, candidates, rounds, end):
        title = f"{point['collective']} on {counted(point['ranks'], 'rank')}: alternating jobs"
        self.tell.tries(title, candidates)
        for count in range(ROUNDS):
            round_s = (len(candidates) + 1) * (JOB_S + self.jobs.launch_s)
            if count >= racestats.FEWEST and end - time.monotonic() < round_s:
                return
            left = (end - time.monotonic()) / ((ROUNDS - count) * (len(candidates) + 1))
            seconds = max(left, JOB_S + self.jobs.launch_s)
            names = [MPI, *candidates]
            self.order.shuffle(names)
            us = {name: self.job(point, list(cells), name, seconds) for name in names}
            for size in cells:
                rounds[size].append({n: us[n][size] for n in names if us[n]})


def judge(cell, rounds, candidates, arms):
    """The winner of one size, in the data of the alternating jobs alone."""
    cell["arms"] = [MPI, *arms]
    found = racestats.compare(rounds, [MPI, *candidates], MPI)
    cell["found"] = {n: d.as_dict() for n, d in found.items() if d is not None}
    cell["candidate"] = racestats.best(found)
    cell["proof"] = cell["found"].get(cell["candidate"])


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "the job failed"
