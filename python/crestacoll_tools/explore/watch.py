# SPDX-License-Identifier: BSD-3-Clause
"""Follows a race while the program runs: who leads, and when to end the program."""

from crestacoll_tools.race import racestats

NEAR_END = 0.1  # of the run's time: so much longer a program may go on by itself after the race
STALL = 30.0  # seconds without a round before a program counts as hanging
STALL_ROUNDS = 50  # and so many times the latest round
LATE_ROUNDS = 10  # or what a round would take with the steps of earlier runs
DONE, NO_START, STALLED, NONE = "done", "no start", "stalled", "none"


class Watch:
    """Called with the seconds since the start of the program; a word ends it."""

    def __init__(
        self,
        tail,
        tell,
        start_limit,
        steps=None,
        wall_s=None,
        earlier=(),
        stall=STALL,
        step_s=0.0,
    ):
        self.tail, self.tell = tail, tell
        self.start_limit, self.steps, self.wall_s, self.stall = start_limit, steps, wall_s, stall
        self.earlier = list(earlier)  # rounds of earlier runs of this race
        self.step_s = step_s  # mean seconds of a step in earlier runs, with what interrupted them
        self.last, self.counted = 0.0, 0

    @property
    def log(self):
        return self.tail.log

    def __call__(self, seconds):
        if self.tail.read():
            self.last = seconds
            self.show()
        log = self.log
        if log.none is not None:
            return None if self.ends_soon(seconds) else NONE
        if log.start is None:
            return NO_START if seconds > self.start_limit else None
        if log.end is not None or (self.steps and log.steps >= self.steps):
            return None if self.ends_soon(seconds) else DONE
        return STALLED if seconds - self.last > self.patience() else None

    def ends_soon(self, seconds):
        """A program near its end is left in peace: it may be writing its results."""
        if self.wall_s is None or seconds > 2 * self.wall_s + 1:
            return False
        return self.wall_s - seconds < max(1.0, NEAR_END * self.wall_s)

    def patience(self):
        """A busy machine makes steps, and so a round, much longer than they were planned."""
        rounds = self.log.rounds
        latest = STALL_ROUNDS * rounds[-1].seconds if rounds else 0.0
        return max(self.stall, latest, LATE_ROUNDS * self.log.round_steps * self.step_s)

    def show(self):
        """Says who leads, from time to time: the statistics of a long race take a while."""
        log = self.log
        if log.start is None or len(log.rounds) < 1.1 * self.counted + 1:
            return
        self.counted = len(log.rounds)
        self.tell.leads(leading(self.earlier + log.means(), log.names))


def leading(rounds, names):
    """(name, Difference) of the arm that is ahead, sure or not; None if nothing is known yet."""
    found = racestats.compare(rounds, names, names[0]) if names else {}
    known = {n: d for n, d in found.items() if d is not None}
    name = min(known, key=lambda n: known[n].trimmed, default=None)
    return None if name is None else (name, known[name])
