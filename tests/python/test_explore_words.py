# SPDX-License-Identifier: BSD-3-Clause
"""What an exploration says of its arms, in the terminal and on its page."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from crestacoll import builds, explainshow, intervals, racestats
from crestacoll.explore import draw, outcome, page, progress, words
from crestacoll.racestats import Difference

FASTER = Difference(-0.2, -0.25, -0.15, -0.2, True, 30)
SLOWER = Difference(0.1, 0.05, 0.15, 0.1, True, 30)

WITHOUT_TIME = {"verdict": "unproven", "step": None, "arms": [], "points": [], "time": None}
WITHOUT_TIME |= {"notes": [], "others": None, "answers": None, "complete": False, "folder": "x"}
WITHOUT_TIME |= {"seconds": 3.0, "runs": 1, "step_s": None, "run": None, "rules": []}
WITHOUT_TIME |= {"anchor": None, "date": "", "crestacoll": "", "by": "steps"}


def arm(name, dropped=False):
    return {"name": name, "dropped": dropped, "difference": None, "failed": "", "race": "models"}


def test_the_best_arm_has_not_left_early():
    """One run of a race may drop on a busy machine what all runs together show as the best."""
    logs = [SimpleNamespace(dropped=["shm", "p2p"]), SimpleNamespace(dropped=["p2p", "os"])]
    found = {"shm": FASTER, "p2p": SLOWER, "os": None}
    assert outcome.left_early(logs, found) == {"p2p", "os"}
    assert outcome.left_early(logs, {"shm": SLOWER}) == {"shm", "p2p", "os"}


def test_the_table_of_arms_is_explained():
    told = words.legend({"arms": [arm("shm")]})
    assert told.startswith("step: time of a step against the MPI's own collectives")
    assert "left early" not in told and "combined" not in told
    told = words.legend({"by": "calls", "arms": [arm("p2p", True), arm("combined,bcast=shm")]})
    assert told.startswith("call: time of a call")
    assert "; left early: behind the best" in told and "; -: too few rounds to say; combi" in told


def test_what_is_said_of_an_arm_is_sure():
    """That its 95 % interval is beyond 0 is not enough, on the page and in the terminal."""
    sure = arm("shm") | {"difference": FASTER.as_dict()}
    unsure = arm("shm") | {"difference": replace(FASTER, sure=False).as_dict()}
    slower = arm("os", True) | {"difference": SLOWER.as_dict()}
    claims = [words.claim(a["difference"]) for a in (sure, unsure, slower)]
    assert claims == ["faster", "", "slower"]
    split = replace(FASTER, agree=False).as_dict()
    assert words.claim(split) == "" and words.claim(None) == ""
    colours = [draw.colour_of(a["difference"]) for a in (sure, unsure, slower)]
    assert colours == [draw.FASTER, draw.MUTED, draw.SLOWER]
    found = {"arms": [unsure], "verdict": "unproven"}
    assert "ahead" not in words.headline(found | {"step": None, "rules": []})
    assert "shm is ahead" in words.headline(found | {"arms": [sure], "step": None, "rules": []})


def test_an_interval_that_says_nothing_is_not_shown_in_numbers():
    """Six rounds of calls that scatter: the upper end would be some million per cent."""
    few = racestats.difference([1, 1e-3, 30, 1e3, 2, 1e-2], [1] * 6)
    assert few.high > 1e3 and not few.faster and not few.slower
    assert intervals.of_difference(few.low, few.high) == "too wide to tell"
    told = words.interval(outcome.gain_of(few))
    assert told == "95 % interval too wide to tell"
    assert words.interval(outcome.gain_of(FASTER)) == "95 % interval 15.0 to 25.0 %"
    assert intervals.of_difference(-0.1, 0.2) == "-10.0 to +20.0"
    assert intervals.of_difference(40, 60) == "+4000.0 to +6000.0"  # wide, but it is known
    shown = progress.leads_text(("p2p", few))
    assert shown == "nothing is ahead of mpi" or "not yet sure" in shown
    assert explainshow.between(few.low, few.high) == "too wide to tell"
    assert draw.tried([arm("p2p") | {"difference": few.as_dict()}]).startswith("<svg")


def test_a_proof_that_is_not_sure_recommends_nothing():
    state = SimpleNamespace(
        data={"points": [1], "ended": "done"},
        choice=SimpleNamespace(picks=((0, "shm"),)),
        stage=lambda name: {"done": True, "failed": [], "answers": {"ok": True}},
    )
    assert outcome.verdict_of(state, FASTER) == "faster"
    assert outcome.verdict_of(state, replace(FASTER, sure=False)) == "unproven"
    told = words.headline({"verdict": "unproven", "step": outcome.gain_of(FASTER), "rules": []})
    assert told.startswith("A time step probably takes 20.0 % less time")
    assert "not sure enough" in told
    assert outcome.verdict_of(state, replace(FASTER, low=-0.25, high=0.1, sure=False)) == "none"
    assert outcome.ended_proof(FASTER) and not outcome.ended_proof(replace(FASTER, sure=False))
    assert not outcome.ended_proof(None)


def test_one_round_far_away_leaves_room_for_the_others():
    values = np.array([-50.0, -60.0, 3700.0, -70.0, -72.0, -58.0, -46.0])
    low, high = draw.drawn(values)
    assert low == -72 and -46 < high < 100
    assert draw.drawn(np.array([1.0, 1.5, 2.0])) == (1, 2)
    pairs = [{"mpi": 100.0, "shm": 100.0 + value} for value in values]
    assert draw.proof(pairs, ["mpi", "shm"]).startswith("<svg")


@pytest.mark.parametrize(
    "anchor, told",
    [
        (None, ""),
        ({"collective": "alltoall", "communicator": "row"}, " by the alltoall on row"),
        ({"collective": "alltoall", "communicator": ""}, " by the alltoall on all ranks"),
    ],
)
def test_where_a_step_begins(anchor, told):
    assert page.place_of(anchor) == told


def test_commands_in_sentences_are_code_and_names_are_escaped():
    made = page.with_code("`crestacoll explore --output '<b>'` goes on.")
    assert made == "<code>crestacoll explore --output &#39;&lt;b&gt;&#39;</code> goes on."


def test_what_is_not_proved_is_not_called_proved():
    """A page of an exploration that ran out of time."""
    found = WITHOUT_TIME | {"command": ["./a"], "ranks": 2, "mpi": "MPI 1"}
    told = page.body(None, found, "")
    assert "not proved" in told and "nothing gained" not in told
    assert f"<code>{builds.typed()} explore --resume --output x</code> goes on" in told
    assert "nothing gained" in page.body(None, found | {"verdict": "none"}, "")


def test_which_mean_of_the_proof_says_what():
    step = outcome.gain_of(Difference(-0.05, -0.08, -0.02, 0.03, False, 30))
    assert words.disagree(step, "steps").startswith(
        "In the proof most steps became faster, but their mean became 3.0 % slower: "
    )
    step = outcome.gain_of(Difference(0.05, 0.02, 0.08, -0.01, False, 30))
    told = words.disagree(step, "runs")
    assert "most runs became slower, but their mean became 1.0 % faster" in told
    step = outcome.gain_of(Difference(-0.05, -0.08, -0.02, -0.001, False, 30))
    assert "faster, but their mean is too uncertain to say so" in words.disagree(step, "steps")


def test_one_rank_is_one_rank():
    found = {"command": ["./a"], "ranks": 1, "mpi": "MPI 1"}
    made = page.body(None, WITHOUT_TIME | found, "")
    assert "1 rank," in made and "1 ranks" not in made
