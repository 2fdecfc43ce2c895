# SPDX-License-Identifier: BSD-3-Clause
"""Fits a machine file to measured times: the costs with which the simulator is nearest to them.

The sum of squared logarithms of simulated by measured time becomes small, by the method of
Levenberg and Marquardt, on the logarithms of the costs. Points that are far off count less (P. J.
Huber: Robust estimation of a location parameter, Ann. Math. Statist. 35, 1964), since a measured
time may be wrong.
"""

import concurrent.futures
import copy
import math
import os
import statistics

import numpy as np

from crestacoll_tools.simulate import jobs, measured

ROUNDS = 12
FAR = 0.3  # of the logarithm: a point that is so far off, or more, counts linearly
FACTOR = 1e4  # between a cost and what it began with, at most

# What a message, a copy or a reduction costs at first, of an ordinary machine.
START = {
    "levels": {
        "node": {"latency": 3e-7, "send": 3e-7, "receive": 3e-7, "byte": 1e-11,
                 "send_byte": 1e-10, "receive_byte": 1e-10},
        "network": {"latency": 2e-5, "send": 5e-6, "receive": 5e-6, "gap": 1e-6, "byte": 1e-9,
                    "send_byte": 1e-10, "receive_byte": 1e-10},
    },
    "copy": {"each": 1e-8, "byte": 1e-10},
    "reduce": {"each": 1e-8, "byte": 1e-10},
    "round": 1e-7,
}  # fmt: skip


def complete(start):
    """A machine to begin with; copy, reduce and round are those of START where it has none."""
    made = copy.deepcopy(start or START)
    for key in ("copy", "reduce", "round"):
        made.setdefault(key, copy.deepcopy(START[key]))
    return made


class Fit:
    """Costs that are to be found, and the points that tell them."""

    def __init__(self, build, points, start=None):
        self.build, self.points = build, points
        self.start = complete(start)
        self.keys = [k for k in self.all_keys() if self.shows(k)]
        self.workers = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

    def all_keys(self):
        for level in ("node", "network"):
            for k in self.start["levels"][level]:
                yield "levels", level, k
        for what in ("copy", "reduce"):
            for k in self.start[what]:
                yield what, k
        yield ("round",)

    def shows(self, key):
        """Whether some point depends on it at all."""
        if key[:2] == ("levels", "node"):
            return any(p.ranks > p.hosts for p in self.points)
        if key[:2] == ("levels", "network"):
            return any(p.hosts > 1 for p in self.points)
        return key[0] != "reduce" or any("reduce" in p.collective for p in self.points)

    def machine(self, x):
        """The machine whose costs are exp(x) times those of the start."""
        made = copy.deepcopy(self.start)
        for key, value in zip(self.keys, x):
            inner = made
            for k in key[:-1]:
                inner = inner[k]
            inner[key[-1]] *= math.exp(value)
        return made

    def errors(self, machines):
        """A row for each machine: log of simulated by measured time, for each point."""
        tasks = [(m, p) for m in machines for p in self.points]
        times = self.workers.map(lambda t: measured.simulate(self.build, *t), tasks)
        logs = [math.log(max(t, 1e-12) / p.seconds) for t, (_, p) in zip(times, tasks)]
        return np.array(logs).reshape(len(machines), len(self.points))


def weights(errors):
    """Huber's: of squares near 0, of amounts beyond FAR."""
    far = np.abs(errors)
    return np.where(far <= FAR, 1.0, FAR / np.maximum(far, 1e-12))


def loss(errors):
    return float(np.sum(weights(errors) * errors**2))


def fit(build, points, start=None, tell=lambda text: None):
    """The machine found, and its errors at the points."""
    task = Fit(build, points, start)
    x, damping = np.zeros(len(task.keys)), 1e-1
    errors = task.errors([task.machine(x)])[0]
    for number in range(ROUNDS):
        tell(f"round {number + 1} of {ROUNDS}: median error {median_error(errors):.1%}")
        step = 0.02
        moved = [task.machine(x + step * unit) for unit in np.eye(len(x))]
        slopes = ((task.errors(moved) - errors) / step).T
        better = None
        for _ in range(6):
            w = weights(errors)[:, None]
            normal = slopes.T @ (w * slopes) + damping * np.eye(len(x))
            move = -np.linalg.solve(normal, slopes.T @ (w[:, 0] * errors))
            tried = np.clip(x + np.clip(move, -1.5, 1.5), -math.log(FACTOR), math.log(FACTOR))
            found = task.errors([task.machine(tried)])[0]
            if loss(found) < loss(errors):
                better = tried, found
                break
            damping *= 4
        if better is None:
            break
        gained = loss(errors) - loss(better[1])
        x, errors = better
        damping = max(damping / 4, 1e-4)
        if gained < 1e-3 * loss(errors):
            break
    return task.machine(x), errors


def median_error(errors):
    return statistics.median(abs(math.exp(e) - 1) for e in errors)


def compare(build, machine, points):
    """[(point, simulated seconds, simulated / measured - 1)], and what could not be simulated."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        tried = list(workers.map(lambda p: attempt(build, machine, p), points))
    refused = [f"{p.name()}: {t}" for p, t in zip(points, tried) if isinstance(t, str)]
    times = [(p, t) for p, t in zip(points, tried) if not isinstance(t, str)]
    return [(p, t, t / p.seconds - 1) for p, t in times], refused


def attempt(build, machine, point):
    """Seconds, or why there are none."""
    try:
        return measured.simulate(build, machine, point)
    except jobs.Refused as e:
        return str(e)


def possible(build, start, points):
    """The points that can be simulated, and why others cannot."""
    compared, refused = compare(build, complete(start), points)
    return [p for p, _, _ in compared], refused
