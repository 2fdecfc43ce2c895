# SPDX-License-Identifier: BSD-3-Clause
"""An exploration ends within its budget and one run of the program, whatever the program does, and
says what it had no time for. Nothing is launched: a clock that only these programs move.
"""

import json
from types import SimpleNamespace

import fake_racer
import pytest
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.explore import (
    bycalls,
    outcome,
    progress,
    reasons,
    runs,
    search,
    settle,
    state,
    words,
)
from crestacoll_tools.race import race

MODELS = ("mpi", "nonblock", "persist", "p2p", "shm", "os")
START, STEP = 0.5, 0.1
OPTIONS = {"compare": None, "keep_rounding": False, "steps": None, "margin": None, "mpi": None}
FOREVER = 1e6


class Program:
    """Its runs last `wall` seconds of the clock; those under rules `tuned`, all from the time
    `later` on `slower` times as long. `kind`: with steps, without any, or crashes under shm, and
    whether it prints something else each time.
    """

    def __init__(self, wall, tuned=None, kind="steps", later=FOREVER, slower=1.0):
        self.wall, self.tuned, self.kind = wall, tuned or wall, kind
        self.later, self.slower, self.now, self.longest = later, slower, 0.0, 0.0

    def monotonic(self):
        return self.now

    def run(self, job, variables, folder, limit, watch=lambda seconds: None, stdin=None):
        begin, rules = self.now, "CRESTA_IMPL" in variables
        lasts = (self.tuned if rules else self.wall) * (self.slower if begin > self.later else 1.0)
        (folder / "loaded").write_text("0.1.0\n")
        (folder / "stdout").write_text(f"{begin}\n" if "times" in self.kind else "answer 42\n")
        how, code = "ended", 0
        if race.VARIABLE in variables:
            how, code = self.race(variables[race.VARIABLE], begin, min(lasts, limit), watch)
        elif lasts > limit:
            how = "limit"
        if how == "ended" and code == 0:
            self.now = begin + min(lasts, limit)
        elif how == "limit":
            self.now = begin + limit
        how = "limit" if how == "ended" and code == 0 and lasts > limit else how
        if how == "ended" and "CRESTA_PROFILE" in variables:
            self.profile(variables["CRESTA_PROFILE"], lasts)
        if how == "ended" and not rules and race.VARIABLE not in variables:
            self.longest = max(self.longest, lasts)
        return runs.Ended(code, self.now - begin, how, folder)

    @staticmethod
    def profile(path, wall):
        fake_racer.write_profile(path)
        with open(path, encoding="utf-8") as file:
            data = json.load(file) | {"wall_s": wall}
        for record in data["records"]:
            record["time_us"] = {key: us * wall for key, us in record["time_us"].items()}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(data, file)

    def race(self, path, begin, lasts, watch):
        """(how it ended, exit code)"""
        values, arms = fake_racer.asked(path)
        if "calls" in values:
            fake_racer.turns(path)
            return "ended", 0
        with open(values["output"], "a", encoding="utf-8") as file:

            def write(**event):
                file.write(json.dumps(event | {"at_s": self.now - begin}) + "\n")
                file.flush()

            self.now = begin + min(START, lasts)
            if "calls" in self.kind:
                write(event="none", why="no collective repeats")
                return "ended", 0
            if lasts < START:
                return "ended", 0
            write(event="start", mpi="x", ranks=2, arms=[a[0] for a in arms],
                  anchor={"communicator": "", "collective": "allreduce", "bytes": 8})  # fmt: skip
            for number in range(len(arms)):
                write(event="first", arm=number)
                if "breaks" in self.kind and "=shm" in arms[number][1]:
                    return "ended", 9
            order = [*range(len(arms)), *reversed(range(len(arms)))]
            steps = [STEP * (1 + fake_racer.effect(rules)) for _, rules in arms]
            count = 0
            while self.now - begin + 2 * sum(steps) <= lasts:
                count += 1
                self.now += 2 * sum(steps)
                noise = [1 + 0.01 * ((7 * count + 3 * i) % 11 - 5) / 5 for i in order]
                write(event="round", phase="screen", steps=1, order=order,
                      step_s=[steps[i] * n for i, n in zip(order, noise)])  # fmt: skip
                if self.now - begin > START + float(values["seconds"]):
                    write(event="end", why="seconds")
                said = watch(self.now - begin)
                if said:
                    return said, 0
        return "ended", 0


def explore(monkeypatch, folder, program, budget):
    """(text, result, the Problem that ended it or None)"""
    monkeypatch.setattr(runs, "run", program.run)
    monkeypatch.setattr(runs, "plain_run", lambda *rest: program.run(*rest))
    for module in (search, settle, bycalls):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=program.monotonic))
    made = state.new(folder / "made", ["./app"], dict(OPTIONS))
    made.data["ended"] = ""
    models = [{"name": m, "works": True, "algorithms": {}} for m in MODELS]
    problem = None
    try:
        search.Search(None, {"models": models}, made, budget, progress.Lines()).work()
    except Problem as e:
        problem, made.data["ended"] = e, e.message
    found = outcome.result(made)
    return "\n".join([words.headline(found), *words.details(found)]), found, problem


BUDGET = 120.0
PROGRAMS = {
    "short runs": {"wall": 8.0},
    "a third of the budget": {"wall": 35.0},
    "tuned runs never end": {"wall": 10.0, "tuned": FOREVER},
    "becomes slower": {"wall": 12.0, "later": 60.0, "slower": 6.0},
    "becomes slower late": {"wall": 25.0, "later": 100.0, "slower": 20.0, "kind": "steps, times"},
    "never ends": {"wall": FOREVER},
    "prints other words": {"wall": 30.0, "kind": "steps, times"},
    "an arm breaks it": {"wall": 20.0, "kind": "breaks"},
    "no steps": {"wall": 6.0, "kind": "calls"},
    "no steps, slower": {"wall": 6.0, "kind": "calls", "later": 70.0, "slower": 8.0},
    "no steps, never ends under rules": {"wall": 4.0, "tuned": FOREVER, "kind": "calls"},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_budget_is_kept(name, monkeypatch, tmp_path):
    program = Program(**PROGRAMS[name])
    monkeypatch.setattr(fake_racer, "KIND", "calls" if "calls" in program.kind else "split")
    text, found, problem = explore(monkeypatch, tmp_path, program, BUDGET)
    assert program.now <= BUDGET + program.longest + 0.1, text
    assert problem is None, problem
    if name in ("short runs", "a third of the budget", "prints other words"):
        assert found["verdict"] == "faster" and found["answers"] is not None, text
    assert found["complete"]


@pytest.mark.parametrize("budget, missing", [(40.0, True), (400.0, False)])
def test_what_was_not_tried_is_named(budget, missing, monkeypatch, tmp_path):
    """Half of the budget is a single run."""
    text, found, _ = explore(monkeypatch, tmp_path, Program(15.0, kind="calls"), budget)
    assert ("Not tried, or in too few rounds: " in text) is bool(found["untried"]) is missing, text


def test_a_run_that_was_cut_short_shows_nothing(monkeypatch, tmp_path):
    """That no step was seen by then is not said of the program."""
    program = Program(20.0)
    monkeypatch.setattr(fake_racer, "KIND", "split")
    monkeypatch.setattr(program, "race", lambda path, begin, lasts, watch: ("limit", 0))
    text, found, problem = explore(monkeypatch, tmp_path, program, 50.0)
    assert problem is None and found["by"] == "steps" and found["verdict"] == "undecided", text
    assert "the race of the models" in text and "rhythm" not in text


def test_nothing_is_said_of_choices_for_a_program_that_may_hang(monkeypatch, tmp_path):
    """Neither the profile nor a race came to anything."""
    monkeypatch.setattr(fake_racer, "KIND", "split")
    _, found, problem = explore(monkeypatch, tmp_path, Program(FOREVER), 1.0)
    assert problem.exit_code == reasons.TIME_LIMIT and "Does it hang?" in problem.message
    assert found["arms"] == [] and found["verdict"] == "undecided"


def test_no_run_begins_after_the_budget(monkeypatch, tmp_path):
    program = Program(2.0)
    text, found, _ = explore(monkeypatch, tmp_path, program, 0.0)
    assert found["runs"] == 0 and program.now == 0, text
