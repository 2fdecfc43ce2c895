# SPDX-License-Identifier: BSD-3-Clause
"""What an exploration may say of a program, and no more: a choice is proved faster; no choice makes
it faster by more than X; or the time was not enough to say either.

A candidate is a choice that was tried, or was to be tried. The interval of a claim (racestats.py)
around its difference to the MPI says how large a gain it still allows. The second verdict takes
such an interval for every candidate, and X, the largest gain that one of them allows, must not be
above the margin.
"""

import math
from dataclasses import dataclass, replace

from crestacoll_tools.explore import arms, calldata
from crestacoll_tools.race import racestats

FASTER, NOT_FASTER, UNDECIDED = "faster", "not-faster", "undecided"
MARGIN = 0.05  # what --margin is by default
RACES = ("models", "points", "algorithms")
ROOM = 1.5  # times what the scatter asks for: rounds do not fill all of the time
LEAST_MORE_S = 10.0


@dataclass(frozen=True)
class Candidate:
    """Its Difference to the MPI, in fractions of a step or of a call. `share`: the part of what the
    verdict is about that this is. None for the Difference: not measured, or by too few rounds.
    """

    race: str
    name: str
    picks: tuple
    difference: racestats.Difference | None
    share: float = 1.0

    @property
    def allows(self):
        """The largest gain that is not excluded; None if nothing is known. Where the plain mean is
        far beyond the interval, rare long interruptions may be what an implementation gains.
        """
        if self.difference is None:
            return None
        low, high = self.difference.surely_within
        far = low - (high - low)
        gain = -min(low, self.difference.mean if self.difference.mean < far else 0.0)
        return self.share * max(0.0, gain)

    def needed(self, margin):
        """Rounds after which its interval leaves out the margin or 0, wherever in the present one
        the mean comes to lie: halfway between both takes the most.
        """
        d = self.difference
        low, high = (math.log1p(x) for x in d.surely_within)
        room = -math.log1p(-min(margin / self.share, 0.99))
        centre = min(max(-room / 2, low), high)
        return d.rounds * ((high - low) / 2 / max(-centre, room + centre)) ** 2


# Candidates.


def long_rounds(state):
    """Rounds of models in long blocks: what an implementation does in the long run."""
    return state.rounds("models", "confirm") + state.rounds("long")


def confirmed(state):
    """{name: "yes", "no" or "open"} of the models that are faster in short blocks. Long blocks
    refute a gain if they exclude half of it; those that were too few to say leave it open.
    """
    names = [c.name for c in racing(state, "models")]
    if arms.MPI not in names:
        return {}
    short = racestats.compare(state.rounds("models", "screen"), names, arms.MPI)
    long = racestats.compare(long_rounds(state), names, arms.MPI)
    found = {}
    for name, d in short.items():
        if d is None or not d.faster:
            continue
        again = long[name]
        refuted = again is not None and not again.faster and again.low > d.trimmed / 2
        found[name] = "no" if refuted else "yes" if again and again.faster else "open"
    return found


def racing(state, stage):
    """The arms of a race that did not fail."""
    out = {f["arm"] for f in state.stage(stage)["failed"]}
    return [c for c in state.choices(stage) if c.name not in out]


def measured(state, stage):
    """{name: Difference or None} of the arms of a race to the MPI."""
    names = [c.name for c in racing(state, stage)]
    if arms.MPI not in names:
        return {}
    if stage != "models":
        return racestats.compare(state.rounds(stage), names, arms.MPI)
    found = racestats.compare(state.rounds(stage) + state.rounds("long"), names, arms.MPI)
    long = racestats.compare(long_rounds(state), names, arms.MPI)
    refuted = {name for name, said in confirmed(state).items() if said == "no"}
    return {name: long[name] if name in refuted else d for name, d in found.items()}


def left_behind(state, stage):
    """Arms that the library found slower than the MPI's own, in too few rounds for an interval of
    ours, but far beyond its own.
    """
    return {
        name
        for log in state.logs(stage)
        for name, event in log.dropped.items()
        if (event.get("low") or 0.0) > 0.0
    }


def candidates(state):
    """All that a verdict is about. What a proof said of a choice counts for it, wherever it was
    tried.
    """
    if calldata.is_on(state):
        found = of_calls(state)
    else:
        found = [c for stage in RACES for c in of_race(state, stage)]
    proofs = dict(proved(state))
    gone = [rejected(state) and state.choice.picks]
    return [
        replace(c, difference=proofs[c.picks], share=1.0) if c.picks in proofs else c
        for c in found
        if c.picks not in gone
    ]


def of_race(state, stage):
    found, behind = measured(state, stage), left_behind(state, stage)
    return [
        Candidate(stage, c.name, c.picks, found.get(c.name))
        for c in racing(state, stage)
        if c.picks and not (found.get(c.name) is None and c.name in behind)
    ]


def of_calls(state):
    models = state.stage(calldata.STAGE).get("models", [])
    made = []
    for index, (point, known) in enumerate(zip(state.points, calldata.differences(state))):
        for how in sorted({*known, *arms.that_differ(models, point)}):
            if not calldata.failed(state, index, how):
                name = f"{arms.named(state.points, index)}={how}"
                share = min(1.0, point.share)
                picks = ((index, how),)
                made.append(Candidate(calldata.STAGE, name, picks, known.get(how), share))
    return made


def leader(state):
    """The candidate that is ahead, with the interval of its gain; None if none surely is. A
    candidate that had a proof is left out: the proof says what is known of it.
    """
    every, had = candidates(state), {picks for picks, _ in proved(state)}
    found = []
    for c in every:
        if c.picks not in had and c.difference is not None and c.difference.surely_faster:
            span = racestats.ahead(*racestats.pairs(*raced(state, c), arms.MPI), len(every))
            found += [(c.difference.trimmed, c, span)] if span else []
    if not found:
        return None
    _, c, (low, high) = min(found, key=lambda one: one[0])
    return {"race": c.race, "name": c.name, "low": -high, "high": -low}


def raced(state, candidate):
    """(the rounds that a candidate had beside the MPI, its name there)."""
    if candidate.race == calldata.STAGE:
        index, how = candidate.picks[0]
        return calldata.rounds_of(index, state.points[index], calldata.logs(state)), how
    if candidate.race != "models":
        return state.rounds(candidate.race), candidate.name
    if confirmed(state).get(candidate.name) == "no":
        return long_rounds(state), candidate.name
    return state.rounds("models") + state.rounds("long"), candidate.name


def proved(state):
    """[(picks, Difference)] of all choices that a proof had, the last one of each."""
    made = [
        (tuple(map(tuple, p["picks"])), racestats.Difference(**p["difference"]))
        for p in state.data.get("proofs", [])
    ]
    latest = proof(state)
    return made + ([(state.choice.picks, latest)] if latest else [])


def proof(state):
    """The Difference of the choice to the MPI in the proof, or None. Its interval is wider for
    each choice that had a proof before.
    """
    pair = state.choices("proof")
    if len(pair) < 2 or pair[1].picks != state.choice.picks:
        return None
    names = [c.name for c in pair]
    mine = [list(pick) for pick in state.choice.picks]
    earlier = sum(p["picks"] != mine for p in state.data.get("proofs", []))
    level = racestats.corrected(racestats.LEVEL, 1 + earlier)
    return racestats.difference(*racestats.pairs(proof_rounds(state), names[1], names[0]), level)


def proof_rounds(state):
    """[{name: seconds}] of a step, or of a whole run where there are no steps."""
    return calldata.pairs(state) if calldata.is_on(state) else state.rounds("proof")


def excluded(difference, margin):
    """Not faster by more than the margin, and nothing hints at less than that."""
    allows = Candidate("", "", (), difference).allows
    return allows is not None and not difference.faster and allows <= margin


def ended_proof(difference, margin=MARGIN):
    """False if more time may still prove the gain that it shows, or exclude it."""
    proven = difference is not None and difference.surely_faster
    return proven or excluded(difference, margin)


def disproved(state):
    """Picks of choices that a proof has found not to be faster by more than the margin."""
    return [picks for picks, d in proved(state) if excluded(d, margin_of(state))]


def rejected(state):
    """Why the best choice cannot be used, whatever it gains; None if nothing is known."""
    stage = state.stage("proof")
    if not state.choice.picks:
        return None
    answers = stage.get("answers") or {"ok": True}
    if answers.get("failed"):
        return {"why": "failed", "text": answers["failed"]}
    if stage["failed"] and "same" not in answers:  # the race alone failed
        return {"why": "failed", "text": stage["failed"][0]["text"]}
    return None if answers["ok"] else {"why": "different", "text": ""}


# The verdict.


def margin_of(state):
    margin = state.data["options"].get("margin")
    return MARGIN if margin is None else margin


def verdict_of(state):
    """(verdict, what the result says of the gain that is not excluded)."""
    margin, found = margin_of(state), proof(state)
    if found is not None and found.surely_faster and not rejected(state):
        return FASTER, None
    bound = {"margin": margin, "gain": None, "of": "step", "candidates": 0, "open": []}
    bound["more_s"] = None
    share = state.data.get("share")
    if state.stage("profile")["done"] and not state.data["points"] and share is not None:
        bound |= {"of": "run", "gain": share}
        return (NOT_FASTER if share <= margin else UNDECIDED), bound
    every = candidates(state)
    of = "run" if calldata.is_on(state) else "step"
    found, known = judged(every, margin, begun(state))
    if found == UNDECIDED:
        known["more_s"] = more_s(state, every, margin)
    return found, bound | {"of": of} | known


def judged(every, margin, all_begun=True):
    """(verdict, what the intervals say) of candidates of which none is proved faster."""
    gain = largest(every)
    known = {"gain": gain, "candidates": len(every)}
    if every and gain is not None and gain <= margin and all_begun:
        return NOT_FASTER, known
    return UNDECIDED, known | {"open": [as_open(c) for c in open_ones(every, margin)]}


def begun(state):
    """Every race has its arms: none is still to come."""
    if calldata.is_on(state):
        return bool(state.stage(calldata.STAGE)["done"])
    return all(state.stage(s)["done"] or state.stage(s)["arms"] for s in RACES)


TITLES = {
    "models": "the race of the models",
    "points": "the race rule by rule",
    "algorithms": "the race of algorithms",
}


def untried(state):
    """What an exploration that was not interrupted did not come to, or in too few rounds for a
    result, as a sentence lists it.
    """
    if state.data["ended"] != "done" or not state.data["points"]:
        return []
    if calldata.is_on(state):
        names = [] if state.stage(calldata.STAGE)["done"] else ["the comparison of single calls"]
    else:
        names = [TITLES[s] for s in RACES if not state.stage(s)["done"] and is_open(state, s)]
    if state.choice.picks and proof(state) is None and not rejected(state):
        names.append(f"a proof of {state.choice.name}")
    return names


def is_open(state, stage):
    """It has not begun, or an arm of it has not failed."""
    return not state.stage(stage)["arms"] or len(racing(state, stage)) > 1


def largest(every):
    """The gain that all candidates together allow: at different points those add up."""
    if any(c.allows is None for c in every):
        return None
    by_point = {}
    for c in every:
        key = c.picks[0][0] if c.race == calldata.STAGE else None
        by_point[key] = max(by_point.get(key, 0.0), c.allows)
    return min(1.0, sum(by_point.values()))


def open_ones(every, margin):
    """Those that keep the verdict open, the largest gain first."""
    by_calls = [c for c in every if c.race == calldata.STAGE]
    limit = margin / max(1, len({c.picks[0][0] for c in by_calls}))
    left = [c for c in every if c.allows is None or c.allows > limit]
    return sorted(left, key=lambda c: -(math.inf if c.allows is None else c.allows))


def as_open(c):
    if c.difference is None:
        return {"race": c.race, "name": c.name, "low": None, "high": None}
    low, high = c.difference.surely_within
    return {"race": c.race, "name": c.name, "low": -high * c.share, "high": -low * c.share}


# Time.


def more_s(state, every, margin):
    """Seconds of a --budget that would decide, if rounds scatter and cost as they did; None if
    nothing of that is known.
    """
    open_now = open_ones(every, margin)
    scatter = [c for c in every if c.difference is not None]
    total = 0.0
    for stage in {c.race for c in open_now}:
        mine = [c for c in open_now if c.race == stage]
        like = [c for c in scatter if c.race == stage] or scatter
        spent = state.stage(stage).get("spent_s", 0.0)
        rounds = len(calldata.logs(state)) if stage == calldata.STAGE else len(state.rounds(stage))
        if not like or not spent or not rounds:
            spent, rounds = usual_cost(state)
        if not like or not rounds:
            return None
        if stage == calldata.STAGE:  # a run of the program gives every candidate some rounds
            rounds = max(c.difference.rounds for c in like)
        usual = sorted(c.needed(margin) for c in like)[len(like) // 2]
        extra = max(
            (c.needed(margin) if c.difference else max(usual, racestats.FEWEST))
            - (c.difference.rounds if c.difference else 0)
            for c in mine
        )
        total += max(extra, 0.0) * spent / rounds
    total += for_proof(state, margin)
    return None if not open_now else max(LEAST_MORE_S, ROOM * total)


def usual_cost(state):
    """(seconds, rounds) of all races so far."""
    stages = [state.stage(s) for s in RACES]
    return sum(s.get("spent_s", 0.0) for s in stages), sum(len(state.rounds(s)) for s in RACES)


def for_proof(state, margin):
    """Seconds that the proof of the choice still takes."""
    found, rounds = proof(state), len(proof_rounds(state))
    if not state.choice.picks or found is None or not rounds or ended_proof(found, margin):
        return 0.0
    extra = Candidate("", "", (), found).needed(margin) - found.rounds
    return max(0.0, extra) * state.stage("proof").get("spent_s", 0.0) / rounds


# Results of earlier versions.

OLD = "crestacoll-explore-result-1"
SCHEMA = "crestacoll-explore-result-2"


def upgraded(found):
    """A result as this version writes it. What an earlier one called "none" had not excluded
    anything.
    """
    if not isinstance(found, dict) or found.get("schema") != OLD:
        return found
    said = found.get("verdict")
    made = found | {"schema": SCHEMA, "rejected": None, "bound": None}
    if said == FASTER:
        return made
    if said in ("failed", "different"):
        made["rejected"] = {"why": said, "text": (found.get("answers") or {}).get("failed", "")}
    bound = {"margin": MARGIN, "gain": None, "of": "step", "candidates": len(found["arms"])}
    names = [(a["race"], a["name"]) for a in found["arms"] if not a["failed"]]
    bound["open"] = [{"race": r, "name": n, "low": None, "high": None} for r, n in names]
    return made | {"verdict": UNDECIDED, "bound": bound | {"more_s": None}}
