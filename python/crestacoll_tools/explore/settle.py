# SPDX-License-Identifier: BSD-3-Clause
"""What is done with choices of which a race alone does not decide: long blocks for models that
short ones found faster, and another round of everything while the verdict is open.
"""

import time
from dataclasses import asdict

from crestacoll_tools.explore import arms, outcome, verdict
from crestacoll_tools.explore.state import choice_data

LONG_SHARE = 0.25  # of the time that is left, for models whose gain long blocks left open
MORE = 0.6  # of it, for what is open when nothing is ahead
MOST_LONG = 3  # models that go there
MOST_PROOFS = 4  # choices that have a proof: each makes the interval of the next one wider


def best_model(search):
    """The leader after the race of the models. Where long blocks have not said whether the best is
    as good there, or another has had none, they get long blocks together.
    """
    state = search.state
    said = verdict.confirmed(state)
    if "open" in said.values() and sum(how != "no" for how in said.values()) > 1:
        long_blocks(search, [name for name, how in said.items() if how != "no"])
    return outcome.first_leader(state)


def long_blocks(search, names):
    """A race of some models; its arms have the names that they have in the race of the models."""
    state, stage = search.state, search.state.stage("long")
    if stage["done"]:
        return
    known = outcome.differences(state, "models")
    best = sorted(names, key=lambda name: known[name].trimmed)[:MOST_LONG]
    if not stage["arms"]:
        picked = [outcome.by_name(state, "models", name) for name in best]
        stage["arms"] = [choice_data(c) for c in (arms.REFERENCE, *picked)]
        stage["stay"] = 1
    seconds = LONG_SHARE * search.left()
    options = {"drop": True, "confirm": False, "block_ms": search.long_blocks(seconds)}
    search.rounds_until("long", stage, time.monotonic() + seconds, options)
    stage["done"] = bool(state.rounds("long"))
    state.save()


def next_choice(state):
    """The best choice that no proof has ruled out; the reference without any."""
    gone = verdict.disproved(state)
    if len(state.data.get("proofs", [])) >= MOST_PROOFS:
        return arms.REFERENCE
    faster = [
        c
        for c in verdict.candidates(state)
        if c.difference is not None and c.difference.faster and c.picks not in gone
    ]
    refuted = {name for name, how in verdict.confirmed(state).items() if how == "no"}
    left = [c for c in faster if c.race != "models" or c.name not in refuted]
    best = min(left, key=lambda c: c.share * c.difference.trimmed, default=None)
    return arms.REFERENCE if best is None else arms.Choice(best.name, best.picks)


def remember_proof(state):
    """So that the choice is not tried again, and the next proof has a wider interval."""
    found, picks = verdict.proof(state), [list(p) for p in state.choice.picks]
    proofs = state.data.setdefault("proofs", [])
    if found is not None and picks not in [p["picks"] for p in proofs]:
        proofs.append({"picks": picks, "difference": asdict(found)})
        state.save()


def unless_disproved(state, choice):
    """A choice, or another one where a proof has ruled it out."""
    return next_choice(state) if choice.picks in verdict.disproved(state) else choice


def go_on(search, more_rounds):
    """After a proof, while there is time and no verdict. True: there is another choice to prove.
    `more_rounds` gets the candidates that are open.
    """
    state, runs = search.state, -1
    while state.data["runs"] > runs and search.has_time() and not verdict.rejected(state):
        said, bound = verdict.verdict_of(state)
        if said != verdict.UNDECIDED:
            return False
        if state.choice.picks and state.choice.picks not in verdict.disproved(state):
            return False  # the proof has had all the time
        remember_proof(state)
        found, runs = next_choice(state), state.data["runs"]
        if found.picks:
            search.lead(found)
            return True
        if bound["open"]:
            more_rounds(bound["open"])
    return False


def more_rounds(search, still_open):
    """For candidates that are neither faster nor excluded, race by race."""
    stages = [s for s in verdict.RACES if any(c["race"] == s for c in still_open)]
    seconds = MORE * search.left() / len(stages)
    for name in stages:
        rounds_of(search, name, seconds)


def rounds_of(search, name, seconds):
    options = {"drop": True, "confirm": name == "models"}
    search.rounds_until(name, search.state.stage(name), time.monotonic() + seconds, options)


def once_more(search):
    """Nothing is ahead yet: what time is left may show a small gain. The leader then."""
    state = search.state
    name = "points" if len(state.choices("points")) > 1 else "models"
    rounds_of(search, name, MORE * search.left())
    if name == "models":
        return outcome.first_leader(state)
    return outcome.after_points(state, arms.REFERENCE)
