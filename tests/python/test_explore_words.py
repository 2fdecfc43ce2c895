# SPDX-License-Identifier: BSD-3-Clause
"""What an exploration says of its arms, in the terminal and on its page."""

import math
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import report_data
from conftest import ROOT
from crestacoll_tools import schemas
from crestacoll_tools.builds import builds
from crestacoll_tools.explain import explainshow
from crestacoll_tools.explore import arms, calldata, draw, outcome, page, progress, verdict, words
from crestacoll_tools.race import intervals, racestats
from crestacoll_tools.race.racestats import Difference

sys.path.insert(0, str(ROOT / "tools"))

import explore_judge  # noqa: E402

FASTER = Difference(-0.2, -0.25, -0.15, -0.2, True, 30)
SLOWER = Difference(0.1, 0.05, 0.15, 0.1, True, 30)

def arm(name, dropped=False):
    return {"name": name, "dropped": dropped, "difference": None, "failed": "", "race": "models"}


def undecided(more_s=None, **gains):
    """A result that leaves these gains open, None or (low, high)."""
    ends = {name: gain or (None, None) for name, gain in gains.items()}
    still = [{"race": "models", "name": n, "low": a, "high": b} for n, (a, b) in ends.items()]
    bound = {"margin": 0.05, "of": "step", "gain": None, "candidates": len(still), "open": still}
    bound["more_s"] = more_s
    found = {"verdict": "undecided", "bound": bound, "rejected": None, "step": None, "rules": []}
    found |= {"arms": [], "points": [], "time": None, "notes": [], "others": None, "answers": None}
    return found | {"complete": True, "folder": "x", "run": None, "by": "steps"}


def without_time():
    """What a page shows of an exploration that ran out of time."""
    found = undecided(shm=None) | {"complete": False, "seconds": 3.0, "runs": 1, "step_s": None}
    return found | {"anchor": None, "date": "", "crestacoll": "", "by": "steps"}


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
    assert "; left early: its interval is" in told and "; -: too few rounds to say; combi" in told


def rounds(arms_, count):
    """Blocks that scatter by 5 %, and become a little longer as time goes on."""
    chance = np.random.default_rng(3)
    slower = np.linspace(0, 0.05, count)
    return [
        {name: factor * math.exp(chance.normal(0, 0.05)) * (1 + late) for name, factor in arms_}
        for late in slower
    ]


ARMS = [("mpi", 1.0), ("best", 0.9), ("slower", 1.2), ("near", 0.92), ("noise", 1.0)]


def test_what_left_early_says_is_true_of_the_intervals_beside_it(monkeypatch):
    """By calls: an implementation left if its interval shows it. By steps the library decides by
    pairs of blocks of one run, which the intervals, of all runs, do not show.
    """
    known = racestats.compare(rounds(ARMS, 60), [name for name, _ in ARMS], "mpi")
    known |= {"few": None, "split": replace(SLOWER, agree=False)}
    assert known["near"].low < known["best"].high < 0, "their intervals overlap"
    state = SimpleNamespace(points=[arms.Point("bcast")], stage=lambda name: {"failed": []})
    monkeypatch.setattr(calldata, "differences", lambda state: [known])
    left = {a["name"].partition("=")[2] for a in calldata.tried(state) if a["dropped"]}
    ahead = min([0.0, *(d.high for d in known.values() if d is not None and d.faster)])
    assert left == {n for n, d in known.items() if d is not None and d.low > min(0.0, ahead)}
    assert {"slower", "split", "noise"} <= left and not left & {"best", "near", "few"}
    told = words.legend({"by": "steps", "arms": [arm("near", True)]})
    assert "slower than those of the arm that led" in told and "clearly" not in told


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


def leading(rounds, picks=((0, "shm"),), proofs=()):
    """verdict.leader of a race of the models with these rounds."""
    race_arms = [arms.REFERENCE, arms.Choice("shm", picks)]
    state = SimpleNamespace(
        data={"points": [], "options": {}, "proofs": list(proofs)},
        choice=arms.REFERENCE,
        stage=lambda name: {"failed": [], "arms": []},
        choices=lambda name: race_arms if name == "models" else [],
        logs=lambda name: [],
        rounds=lambda name, phase=None: rounds if name == "models" and phase != "confirm" else [],
    )
    return verdict.leader(state)


def test_an_arm_without_a_proof_is_ahead_only_at_every_look():
    """A claim of its race alone is not enough, and a proof that it had says more."""
    few, many = rounds_of(0.2, number=12), rounds_of(0.2, number=40)
    for rounds in (few, many):
        seconds = racestats.pairs(rounds, "shm", "mpi")
        assert racestats.difference(*seconds).surely_faster
    assert leading(few) is None and leading(rounds_of(0.0, number=40)) is None
    best = leading(many)
    assert best["name"] == "shm" and best["low"] < 0.2 < best["high"]
    had = {"picks": [[0, "shm"]], "difference": replace(FASTER, sure=False).as_dict()}
    assert leading(many, proofs=[had]) is None
    found = undecided(shm=None)
    assert "ahead" not in words.headline(found | {"arms": [arm("shm")]})
    told = words.headline(found | {"ahead": best})
    assert "So far shm is ahead: a step takes 19." in told and "There is no proof yet." in told
    truth = {"late_us": {"shm": 4000.0}, "step_us": 20000.0}
    assert explore_judge.complaints(truth, told, found | {"step_s": None}) == []
    truth["late_us"]["shm"] = 0.0
    assert explore_judge.complaints(truth, told, found | {"step_s": None}) != []


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
    assert shown in ("shortest so far: mpi", "shortest so far: p2p")
    assert progress.leads_text(("p2p", FASTER)).endswith("p2p, -20.0 % ± 5.0 %, not proved")
    assert explainshow.between(few.low, few.high) == "too wide to tell"
    assert draw.tried([arm("p2p") | {"difference": few.as_dict()}]).startswith("<svg")


def proved(found, margin=None, **more):
    """A state whose choice has this Difference in the proof, and nothing else was tried."""
    stages = {"profile": {"done": True}, "proof": {"failed": [], "answers": {"ok": True}} | more}
    empty = {"done": True, "failed": [], "arms": ["mpi"]}
    state = SimpleNamespace(
        data={"points": [1], "ended": "done", "options": {"margin": margin}},
        choice=SimpleNamespace(picks=((0, "shm"),)),
        stage=lambda name: stages.get(name, empty),
        choices=lambda name: [arms.REFERENCE, arms.Choice("shm", ((0, "shm"),))]
        if name in ("models", "proof")
        else [],
        logs=lambda name: [],
        rounds=lambda name, phase=None: list(found) if name == "proof" else [],
    )
    return verdict.verdict_of(state)


def rounds_of(gain, scatter=0.004, number=60):
    return [
        {"mpi": 1.0, "shm": (1 - gain) * math.exp(scatter * math.cos(2.4 * n))}
        for n in range(number)
    ]


def test_a_proof_decides_only_what_it_shows():
    """Faster; not faster by more than the margin; anything else takes more time."""
    assert proved(rounds_of(0.2)) == ("faster", None)
    said, bound = proved(rounds_of(0.0))
    assert said == "not-faster" and 0 < bound["gain"] < 0.01 and bound["candidates"] == 1
    said, bound = proved(rounds_of(0.0, scatter=1.0))
    assert said == "undecided" and bound["open"][0]["high"] > 0.05
    assert proved(rounds_of(0.0, scatter=1.0), margin=0.5)[0] == "not-faster"
    said, bound = proved(rounds_of(0.2)[:4])
    assert said == "undecided" and bound["open"][0]["high"] is None


def test_a_choice_that_broke_the_program_is_no_candidate():
    said, bound = proved(rounds_of(0.2), answers={"ok": False, "failed": "was ended by SIGSEGV"})
    assert said == "undecided" and bound["candidates"] == 0


def test_a_proof_that_is_not_sure_goes_on():
    within = {"sure_low": -0.25, "sure_high": -0.15}
    assert verdict.ended_proof(replace(FASTER, **within))
    assert not verdict.ended_proof(replace(FASTER, sure=False)) and not verdict.ended_proof(None)
    none = Difference(0.0, -0.004, 0.004, 0.0, True, 30, False, -0.006, 0.006)
    assert verdict.ended_proof(none) and not verdict.ended_proof(replace(none, sure_low=-0.06))
    rare = replace(none, mean=-0.2)  # interruptions that the trimmed mean leaves out
    assert not verdict.ended_proof(rare)
    told = words.headline(undecided() | {"step": outcome.gain_of(FASTER)})
    assert told.startswith("Not enough time to be sure: a time step of this program probably takes")


def test_what_is_not_excluded_is_named_with_its_gain():
    found = undecided(95.0, shm=(-0.012, 0.082), os=None)
    assert "whether a choice makes this program faster" in words.headline(found)
    told = words.details(found)
    still = "A gain above 5.0 % is not excluded for shm (up to 8.2 %)."
    assert f"{still} Not measured, or in too few rounds: os." in told
    assert any("explore --resume --budget 2m --output x` should be enough" in line for line in told)
    many = undecided(**{f"arm{n}": None for n in range(9)})
    assert any(line.endswith("and 4 more.") for line in words.details(many))


def test_a_bound_is_rounded_up():
    found = undecided(shm=None, os=None) | {"verdict": "not-faster"}
    found["bound"] |= {"gain": 0.01201, "open": []}
    assert "a time step of this program more than 1.3 % faster" in words.headline(found)
    assert words.at_most(0.013) == "1.3 %"


def test_a_bound_without_candidates_is_one_of_the_three_verdicts():
    """What the collectives cost in the run that was profiled, and in how many calls."""
    found = undecided() | {"verdict": "not-faster", "ranks": 4}
    found["bound"] |= {"gain": 0.0001, "of": "run"}
    told = words.headline(found)
    assert told.startswith("No choice makes a whole run of this program more than 0.1 % faster")
    assert explore_judge.said(told) == [("not-faster", ("0.1",))]
    found["time"] = {"outside": 0.9999, "waiting": 0.0, "transfer": 0.0001, "calls": 800}
    rests = "took 0.1 % of the time of the profiled run (800 calls on 4 ranks), so even"
    assert rests in words.details(found)[0]
    found |= {"verdict": "undecided"}
    found["bound"] |= {"gain": 0.072}
    assert "Not enough time to say whether a choice" in words.headline(found)
    assert "took 7.2 % of the time of the profiled run" in words.details(found)[0]
    assert "no kind of call took 1.0 %" in words.details(found)[0]
    assert "--margin 8 would" in words.details(found)[0]


@pytest.mark.parametrize("gain, scatter", [(0.0, 0.05), (0.0, 0.2), (0.1, 0.2)])
def test_the_budget_that_is_named_decides(gain, scatter):
    """After so many rounds the interval excludes a gain above the margin, or leaves 0 out."""
    noise = np.random.default_rng(5).standard_normal(100000)

    def after(rounds):
        values = (1 - gain) * np.exp(scatter * noise[: int(rounds)])
        found = racestats.difference(values, np.ones(len(values)))
        return verdict.Candidate("models", "shm", ((0, "shm"),), found)

    few, margin = after(16), 0.02
    assert few.allows > margin and not few.difference.surely_faster
    needed = few.needed(margin)
    assert 16 < verdict.ROOM * needed < 100000
    later = after(verdict.ROOM * needed)
    assert later.difference.surely_faster if gain else later.allows <= margin


def confirmations(short, long):
    """What long blocks say of models with these gains in short and in long blocks."""
    names = ["mpi", *short]
    made = {"screen": rounds_with(short, 60), "confirm": rounds_with(long, 12)}
    state = SimpleNamespace(
        stage=lambda name: {"failed": []},
        choices=lambda name: [arms.Choice(n, () if n == "mpi" else ((0, n),)) for n in names],
        rounds=lambda name, phase=None: made.get(phase, []) if name == "models" else [],
    )
    return verdict.confirmed(state), outcome.first_leader(state).name


def rounds_with(gains, number):
    """{arm: (gain, scatter)}."""
    return [
        {"mpi": 1.0} | {n: (1 - g) * math.exp(s * math.cos(2.4 * k + len(n)))
                        for n, (g, s) in gains.items()}
        for k in range(number)
    ]  # fmt: skip


def test_a_confirmation_that_says_nothing_refutes_nothing():
    """The best arm was dropped for one that had no long blocks at all."""
    short = {"shm": (0.082, 0.01), "p2p": (0.025, 0.01)}
    said = confirmations(short, {"shm": (0.06, 0.3)})
    assert said == ({"shm": "open", "p2p": "open"}, "shm")
    assert confirmations(short, {"shm": (0.08, 0.01)}) == ({"shm": "yes", "p2p": "open"}, "shm")
    assert confirmations(short, {"shm": (-0.02, 0.01)}) == ({"shm": "no", "p2p": "open"}, "p2p")


def test_results_of_earlier_versions_are_read():
    """What they called "none" had excluded nothing."""
    old = report_data.explored() | {"schema": verdict.OLD}
    old = {k: v for k, v in old.items() if k not in ("bound", "rejected")}
    assert schemas.problems("explore", verdict.upgraded(old)) == []
    assert verdict.upgraded(old)["verdict"] == "faster"
    for said in ("none", "little", "unproven", "different", "failed"):
        found = verdict.upgraded(old | {"verdict": said})
        assert schemas.problems("explore", found) == [] and found["verdict"] == "undecided"
        assert bool(found["rejected"]) == (said in ("different", "failed"))
        assert "Not enough time" in words.headline(found)
    assert verdict.upgraded(found) is found


def test_one_round_far_away_leaves_room_for_the_others():
    values = np.array([-50.0, -60.0, 3700.0, -70.0, -72.0, -58.0, -46.0])
    low, high = draw.drawn(values)
    assert low == -72 and -46 < high < 100
    assert draw.drawn(np.array([1.0, 1.5, 2.0])) == (1, 2)
    pairs = [{"mpi": 100.0, "shm": 100.0 + value} for value in values]
    assert draw.proof(pairs, ["mpi", "shm"]).startswith("<svg")


def test_the_band_of_the_proof_is_the_interval_that_is_stated(monkeypatch):
    bands, pairs = [], [{"mpi": 100.0, "shm": 80.0 + i % 5} for i in range(20)]
    span = draw.plt.Axes.axhspan
    monkeypatch.setattr(
        draw.plt.Axes,
        "axhspan",
        lambda axes, low, high, **how: bands.append((low, high)) or span(axes, low, high, **how),
    )
    found = racestats.difference([pair["shm"] for pair in pairs], [100.0] * len(pairs))
    stated = outcome.gain_of(found) | {"low": 0.1, "high": 0.3}
    draw.proof(pairs, ["mpi", "shm"])
    draw.proof(pairs, ["mpi", "shm"], stated=stated)
    assert bands[0] == pytest.approx([100 * end for end in found.told])
    assert bands[0] != pytest.approx([100 * found.low, 100 * found.high])
    assert bands[1] == pytest.approx((-30, -10))


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
    found = without_time() | {"command": ["./a"], "ranks": 2, "mpi": "MPI 1"}
    told = page.body(None, found, "")
    assert "not decided" in told and "could be gained" not in told
    assert f"To go on: <code>{builds.typed()} explore --resume --output x</code>." in told
    found["bound"] |= {"gain": 0.012}
    told = page.body(None, found | {"verdict": "not-faster"}, "")
    assert "\u2264 1.2 %" in told and "is the most that could be gained" in told


def test_which_mean_of_the_proof_says_what():
    step = outcome.gain_of(Difference(-0.05, -0.08, -0.02, 0.03, False, 30))
    told = words.disagree(step)
    assert told.startswith("That is the trimmed mean. By the plain mean it took 3.0 % more: ")
    found = undecided(shm=(-0.01, 0.08)) | {"step": step, "agree": False}
    assert "probably" not in words.headline(found)
    assert "a time step took 5.0 % less time under the choice" in words.in_proof(found, step)
    step = outcome.gain_of(Difference(0.05, 0.02, 0.08, -0.01, False, 30))
    assert "By the plain mean it took 1.0 % less: " in words.disagree(step)
    step = outcome.gain_of(Difference(-0.05, -0.08, -0.02, -0.001, False, 30))
    assert "The plain mean is too uncertain to say so: " in words.disagree(step)


def test_one_rank_is_one_rank():
    found = {"command": ["./a"], "ranks": 1, "mpi": "MPI 1"}
    made = page.body(None, without_time() | found, "")
    assert "1 rank," in made and "1 ranks" not in made
