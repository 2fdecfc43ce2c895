# SPDX-License-Identifier: BSD-3-Clause
"""What races by calls have shown of each point, and whole runs in turn: for programs without steps.

A run of such a race has arms that are sets of rules; what counts is what an arm picks at a point.
"""

from crestacoll_tools.explore import arms
from crestacoll_tools.race import racestats, turns

STAGE = "calls"


def is_on(state):
    return state.data.get("mode") == STAGE


def row_of(point):
    """How the library names the calls of a point."""
    return point.collective, point.low or 0, point.processes


def logs(state):
    """[(what each arm of a run picks at each point, Turns)] of all runs."""
    stage = state.stage(STAGE)
    return [
        (
            [dict(picks) for picks in stage["picks"][str(number)]],
            turns.read(state.run_folder(number) / "race.jsonl"),
        )
        for number in stage["runs"]
        if str(number) in stage.get("picks", {})
    ]


def rounds_of(index, point, found):
    """[{implementation: seconds per call}] of a point. Arms that pick the same are one."""
    rounds = []
    for picks, log in found:
        for by_arm in log.of(row_of(point)):
            seconds = {}
            for arm, value in by_arm.items():
                if arm < len(picks):
                    seconds.setdefault(picks[arm].get(index, arms.MPI), []).append(value)
            rounds.append({how: sum(v) / len(v) for how, v in seconds.items()})
    return rounds


def differences(state):
    """[{implementation: Difference to the MPI's own, or None}] of the points, time per call."""
    found, result = logs(state), []
    for index, point in enumerate(state.points):
        rounds = rounds_of(index, point, found)
        names = sorted({how for r in rounds for how in r} - {arms.MPI})
        result.append(racestats.compare(rounds, [arms.MPI, *names], arms.MPI))
    return result


def slower(found):
    """Implementations of a point whose interval is above 0, or above that of a faster one."""
    known = {how: d for how, d in found.items() if d is not None}
    least = min([0.0, *(d.high for d in known.values() if d.faster)])
    return {how for how, d in known.items() if d.low > least}


def best(state):
    """The choice that is faster by time per call, point by point."""
    picks = []
    for index, found in enumerate(differences(state)):
        how = racestats.best(found)
        if how is not None and not failed(state, index, how):
            picks.append((index, how))
    return arms.Choice("by calls", tuple(picks)) if picks else arms.REFERENCE


def failed(state, index, how):
    return [index, how] in [f["pick"] for f in state.stage(STAGE)["failed"]]


def tried(state):
    """Every implementation of every point, as the result lists it."""
    stage, found = state.stage(STAGE), []
    for index, (point, known) in enumerate(zip(state.points, differences(state))):
        broke = {f["pick"][1]: f["text"] for f in stage["failed"] if f["pick"][0] == index}
        left = slower(known)
        for how in sorted({*known, *broke}):
            d = known.get(how)
            found.append(
                {
                    "race": STAGE,
                    "name": f"{arms.named(state.points, index)}={how}",
                    "rules": [point.rule(how)],
                    "difference": d and d.as_dict(),
                    "dropped": how in left,
                    "failed": broke.get(how, ""),
                }
            )
    return found


def pairs(state):
    """[{name: seconds}] of whole runs, plain and under the choice."""
    names = [c.name for c in state.choices("proof")]
    return [dict(zip(names, pair)) for pair in state.stage("proof").get("pairs", [])]
