# SPDX-License-Identifier: BSD-3-Clause
"""Which arm is told to be at fault where a program crashes or hangs."""

from types import SimpleNamespace

import pytest
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.explore import blame, whole
from crestacoll_tools.explore.arms import Choice
from crestacoll_tools.race import race
from crestacoll_tools.race.turns import Turns

COMPETING = ["shm", "os"]
CRASHED = SimpleNamespace(
    why="ended",
    how=lambda: "was ended by SIGSEGV",
    said=lambda: "",
    aborted=False,
    loaded=True,
    failed=True,
)
HANGS = SimpleNamespace(why="stalled", hang="", loaded=True, failed=False)
AGAIN = "the plain program, run again, did not fail"


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """What it does when it runs again; the calls of that."""
    done = []

    def clear_of(search, ended, what):
        done.append(what)
        return AGAIN

    monkeypatch.setattr(whole, "clear_of", clear_of)
    return done


def log(*events):
    made = race.Log(["mpi", "shm", "os"])
    made.on_start({"arms": ["0:mpi", "1:shm", "2:os"], "at_s": 0.1})
    for event in events:
        made.add_line(event)
    return made


def first(arm):
    return f'{{"event": "first", "arm": {arm}, "at_s": 0.2}}'


WARM = '{"event": "warm", "arm": 0, "first_s": 0.1, "at_s": 0.3}'


class Search:
    def __init__(self):
        self.notes, self.state = [], SimpleNamespace(save=lambda: None)

    def note(self, text):
        self.notes.append(text)


def broke(found, competing=COMPETING, ended=CRASHED, stage=None):
    search = Search()
    stage = stage or {"suspects": [], "failed": [], "missed": 0}
    blame.broke(search, stage, competing, ended, found)
    return stage, search.notes


def test_an_arm_in_its_first_steps(plain):
    """What came before is named, too: its damage may show late."""
    stage, notes = broke(log(first(0), first(1), first(2)))
    assert [f["arm"] for f in stage["failed"]] == ["os"]
    told = f"os: the program was ended by SIGSEGV in its first steps, after those of shm; {AGAIN}"
    assert notes == [told] and plain == ["os"]
    stage, notes = broke(log(first(0), first(1)), ended=HANGS)
    told = f"shm: the program did not go on in its first steps, after those of mpi; {AGAIN}"
    assert notes == [told]


def test_nobody_is_accused_if_all_have_run():
    stage, notes = broke(log(first(0), first(1), first(2), WARM))
    assert stage["suspects"] == COMPETING
    assert stage["failed"] == [] and notes == []


def test_one_that_ran_with_the_reference_alone():
    stage, notes = broke(log(first(0), first(2), WARM), ["os"])
    assert [f["arm"] for f in stage["failed"]] == ["os"]
    told = "os: the program was ended by SIGSEGV under it, with only the MPI's own beside it"
    told += f"; {AGAIN}"
    assert notes == [told]


def test_no_arm_is_accused_of_what_the_reference_does():
    stage, notes = broke(log(first(0)), ["os"])
    assert stage["failed"] == [] and stage["suspects"] == []
    assert "before another arm than the MPI's own had run" in notes[0]
    stage["missed"] = blame.MOST_MISSED - 1
    with pytest.raises(Problem, match="was ended by SIGSEGV before the race"):
        broke(log(first(0)), stage=stage)


def test_a_race_that_never_began():
    with pytest.raises(Problem):
        broke(race.Log(["mpi", "shm"]))


def test_ranks_at_different_calls():
    """Each rank writes for itself: what one did last is not what another did."""
    row = ("bcast", 8, 2)
    competing = [Choice("mpi", ()), Choice("1", ((0, "shm"),)), Choice("2", ((0, "os"),))]
    one = Turns(last={(2, row)})
    assert blame.of_calls(one, competing, [row]) == [(0, "os")]
    two = Turns(last={(1, row), (2, row)})
    assert blame.of_calls(two, competing, [row]) == [(0, "os"), (0, "shm")]
    reference = Turns(last={(0, row), (1, ("scan", 8, 2))})
    assert blame.of_calls(reference, competing, [row]) == []
