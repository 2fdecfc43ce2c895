# SPDX-License-Identifier: BSD-3-Clause
"""The judge of tools/explore_trials.py finds what is false in the words of an exploration."""

import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import explore_judge  # noqa: E402
import explore_trials  # noqa: E402

FASTER = {"late_us": {"nonblock": 2000.0, "again": 0.0}, "step_us": 20000.0}
NONE = {"late_us": {"nonblock": -500.0, "again": 0.0}, "step_us": 20000.0}
SAYS_FASTER = (
    "With 1 rule, a time step of this program takes 10.1 % less time (95 % interval 9.5 to 10.6 %)."
)
SAYS_NOT = "No choice makes a time step of this program more than 1.3 % faster: keep the MPI's own."
SAYS_LITTLE = "Not enough time to say whether a choice makes this program faster."
AHEAD = "So far nonblock is ahead: a step takes 3.0 to 5.0 % less time (99.9 % interval)."
OPEN = "A gain above 5.0 % is not excluded for nonblock ({}). Not measured: again."


def said(verdict, text, truth, step_s=0.02):
    return explore_judge.complaints(truth, text, {"verdict": verdict, "step_s": step_s})


@pytest.mark.parametrize(
    "truth, verdict, text",
    [
        (FASTER, "faster", SAYS_FASTER),
        (NONE, "not-faster", SAYS_NOT),
        (NONE, "undecided", SAYS_LITTLE),
        (FASTER, "undecided", f"{SAYS_LITTLE} {OPEN.format('up to 12.0 %')}"),
    ],
)
def test_true_sentences(truth, verdict, text):
    assert said(verdict, text, truth) == []


@pytest.mark.parametrize(
    "truth, verdict, text, complaint",
    [
        (NONE, "faster", SAYS_FASTER, "faster by 10.1 %"),
        (FASTER, "faster", SAYS_FASTER.replace("10.1", "19.0"), "faster by 19.0 %"),
        (FASTER, "not-faster", SAYS_NOT, "not faster than 1.3 %"),
        (FASTER, "undecided", SAYS_NOT, "the text has ['not-faster']"),
        (NONE, "undecided", f"{SAYS_LITTLE} {AHEAD}", "ahead"),
        (FASTER, "undecided", f"{SAYS_LITTLE} {AHEAD}", "ahead: nonblock, 3.0 to 5.0 %"),
        (FASTER, "undecided", f"{SAYS_LITTLE} So far it is ahead.", "this judge cannot read"),
        (FASTER, "undecided", f"{SAYS_LITTLE} {OPEN.format('up to 6.0 %')}", "up to 6.0 %"),
        (NONE, "undecided", "Not enough time: it probably takes 4.0 % less time", "probably"),
        (NONE, "undecided", f"{SAYS_LITTLE} No gain beyond the noise.", "beyond the noise"),
    ],
)
def test_false_sentences(truth, verdict, text, complaint):
    assert any(complaint in line for line in said(verdict, text, truth))


def test_a_step_that_others_made_longer_gains_less():
    """2 of 20 ms, or of 80 where other programs used the cores."""
    text = SAYS_FASTER.replace("10.1", "3.0").replace("9.5", "2.6").replace("10.6", "3.4")
    assert said("faster", text, FASTER, step_s=0.08) == []
    assert said("faster", text, FASTER, step_s=0.02) != []


def test_seeds_draw_what_is_planted():
    drawn = {explore_trials.drawn("faster", seed)[0] for seed in range(1, 6)}
    assert len(drawn) == 5 and all(late > 0 for late in drawn)
    assert explore_trials.drawn("busy", 3) == explore_trials.drawn("busy", 3)
    assert "import crestacoll" not in (ROOT / "tools/explore_judge.py").read_text()


def test_the_table_counts_what_was_said():
    rows = [
        {"kind": "none", "verdict": "faster", "holds": "0", "false": "x"},
        {"kind": "none", "verdict": "undecided", "holds": "", "false": ""},
    ]
    assert "| none | 2 | 1 | 0 | 1 | 0 | 0 of 1 | 1 |" in explore_trials.table_of(rows)
