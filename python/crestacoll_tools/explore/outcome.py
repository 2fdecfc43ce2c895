# SPDX-License-Identifier: BSD-3-Clause
"""What the races of an exploration say: who leads after each, and the result of all."""


from crestacoll import __version__
from crestacoll_tools.base import outputs
from crestacoll_tools.explore import arms, calldata, verdict
from crestacoll_tools.profile import profiles
from crestacoll_tools.race import racestats

HALF = 0.5


def usable(state, stage):
    out = {f["arm"] for f in state.stage(stage)["failed"]}
    return [c for c in state.choices(stage) if c.name not in out]


def differences(state, stage, against=arms.MPI, phase=None):
    """{name: Difference or None} of the arms of a race that did not fail."""
    names = [c.name for c in usable(state, stage)]
    if against not in names:
        return {}
    return racestats.compare(state.rounds(stage, phase), names, against)


def by_name(state, stage, name):
    return next((c for c in state.choices(stage) if c.name == name), arms.REFERENCE)


def first_leader(state):
    """The model that is faster in short blocks, and that long ones have not refuted. What long
    blocks have measured counts, as far as it does.
    """
    found = differences(state, "models", phase="screen")
    names = [arms.MPI, *found]
    long = racestats.compare(verdict.long_rounds(state), names, arms.MPI)
    left = [name for name, how in verdict.confirmed(state).items() if how != "no"]
    name = min(left, key=lambda n: (long[n] or found[n]).trimmed, default=None)
    return by_name(state, "models", name)


def ranking(state):
    """The models, the best first."""
    known = {n: d for n, d in differences(state, "models").items() if d is not None}
    return sorted(known, key=lambda n: known[n].trimmed)


def without(leader, index):
    return leader.but("", index, arms.MPI).picks


def after_points(state, leader):
    """The leader without rules that bring nothing, and with another model where that is better."""
    found = differences(state, "points", leader.name)
    choices = {c.name: c for c in usable(state, "points")}
    better = {n: d for n, d in found.items() if d is not None and d.faster and n != arms.MPI}
    changes = {}
    for name in sorted(better, key=lambda n: better[n].trimmed):
        picks = dict(choices[name].picks)
        for index in range(len(state.points)):
            if picks.get(index, arms.MPI) != leader.of(index):
                changes.setdefault(index, picks.get(index, arms.MPI))
    if leader.picks and found:
        earn = {i for i, _ in leader.picks if i in changes or worth(state, leader, i)}
        earn = earn or {i for i, _ in leader.picks if seems_worth(leader, i, choices, found)}
        untried = {i for i, _ in leader.picks if i >= arms.MOST_SPLIT}
        if earn:
            for index, _ in leader.picks:
                if index not in earn | untried:
                    changes[index] = arms.MPI
    made = leader
    for index, how in changes.items():
        made = made.but("", index, how)
    return arms.Choice(arms.COMBINED, made.picks) if changes else leader


def seems_worth(leader, index, choices, found):
    """Without this rule steps are longer, as far as one can see: for when nothing is sure."""
    same = [n for n, c in choices.items() if c.picks == without(leader, index)]
    return any(found.get(n) is not None and found[n].trimmed > 0 for n in same)


def worth(state, leader, index):
    """The Difference that one rule of the leader makes, if it is faster beyond the noise."""
    names = [c.name for c in usable(state, "points")]
    same = [c.name for c in usable(state, "points") if c.picks == without(leader, index)]
    if not same or leader.name not in names:
        return None
    pair = racestats.pairs(state.rounds("points"), leader.name, same[0])
    found = racestats.difference(*pair, racestats.corrected(racestats.LEVEL, len(names) - 1))
    return found if found is not None and found.faster else None


def after_algorithms(state, leader):
    found = differences(state, "algorithms", leader.name)
    found.pop(arms.MPI, None)
    name = racestats.best(found)
    return by_name(state, "algorithms", name) if name else leader


def mean_step_s(state):
    """Seconds of a step, as the mean of all arms in all rounds so far; 0 without any."""
    rounds = [r for stage in state.data["stages"] for r in state.rounds(stage)]
    steps = [seconds for r in rounds for seconds in r.values()]
    return sum(steps) / len(steps) if steps else 0.0


# The result.


def known_difference(state):
    """How the choice differs from the MPI, by the latest race that had it; None without any."""
    for stage in ("proof", "algorithms", "points", "models"):
        for c in usable(state, stage):
            found = differences(state, stage).get(c.name)
            if c.picks == state.choice.picks and found is not None:
                return found
    return None


def gain_of(difference):
    """As a gain: above 0 is faster."""
    low, high = difference.told
    sure_low, sure_high = difference.surely_within
    return {
        "gain": -difference.trimmed,
        "low": -high,
        "high": -low,
        "sure_low": -sure_high,
        "sure_high": -sure_low,
        "mean": -difference.mean,
        "rounds": difference.rounds,
    }


def of_run(state, difference, data):
    """The gain of a whole run, as far as it is made of the steps that were compared; None if no
    run came to its end. What comes before the first step that was found counts as unchanged.
    """
    if calldata.is_on(state):
        walls = sorted(pair[arms.MPI] for pair in calldata.pairs(state))
        return {"of_s": walls[len(walls) // 2], "share": 1.0} | keys(gain_of(difference))
    starts = [log.start["at_s"] for log in state.logs("proof") if log.start]
    if data is None or not starts or not data["wall_s"] or "job_ranks" in data:
        return None
    wall = data["wall_s"]
    share = max(0.0, 1 - min(starts) / wall)
    covered = [log.coverage for log in state.logs("proof") if log.coverage]
    if covered and max(covered) < HALF:  # the time between rounds is no sign of anything else
        share *= max(covered)
    gain = gain_of(difference)
    return {"of_s": wall, "share": share} | {
        key: share * gain[key] for key in ("gain", "low", "high")
    }


def earned(state, difference, indices):
    """What shows that a rule is worth it: ([two names], Difference, note). Two arms of a race that
    differ in this point only, or else the proof of all rules.
    """
    choice = state.choice
    if choice.of(indices[0]) == arms.MPI:
        return [], None, "named communicators stay as they are"
    if calldata.is_on(state):
        index, how = indices[0], choice.of(indices[0])
        return [arms.MPI, how], calldata.differences(state)[index].get(how), "time per call"
    if len(choice.picks) == len(indices):
        return [arms.MPI, choice.of(indices[0])], difference, ""
    if len(indices) == 1:
        for stage in ("algorithms", "points"):
            found = alone(state, stage, indices[0])
            if found is not None:
                return *found, ""
    return [arms.MPI, "all rules"], difference, "proved together with the others"


def alone(state, stage, index):
    """The implementation that the choice has at a point against another one, best the MPI's, with
    all else equal. None if no race showed for sure that it is faster.
    """
    how, level = state.choice.of(index), racestats.LEVEL
    having = [c for c in usable(state, stage) if c.of(index) == how]
    others = [c for c in usable(state, stage) if c.of(index) != how]
    level = racestats.corrected(level, len(state.stage(stage)["arms"]) - 1)
    for other in sorted(others, key=lambda c: c.of(index) != arms.MPI):
        for chosen in having:
            if chosen.but("", index, other.of(index)).picks != other.picks:
                continue
            pair = racestats.pairs(state.rounds(stage), chosen.name, other.name)
            found = racestats.difference(*pair, level)
            if found is not None and found.surely_faster:
                return [other.of(index), how], found
    return None


def rules_of(state, difference):
    """The rules of the choice, with what the tuning file says of each."""
    points, found = state.points, []
    keep = state.data["options"]["keep_rounding"]
    if keep and any(points[i].collective == "*" for i, _ in state.choice.picks):
        found = [mpi_rule(c) for c in arms.REDUCTIONS]
    for rule, indices, high in arms.merged(state.choice.picks, points):
        p, how = points[indices[0]], state.choice.of(indices[0])
        names, shown, note = earned(state, difference, indices)
        found.append(
            {
                "rule": rule,
                "collective": p.collective,
                "bytes": None if p.low is None else [p.low, "inf" if high is None else high],
                "ranks": p.processes,
                "communicator": p.pattern,
                "implementation": how,
                "earned": shown and {"arms": names, "blocks": shown.rounds} | keys(gain_of(shown)),
                "changes_rounding": p.reduces and not (keep and p.collective == "*"),
                "note": note,
            }
        )
    return found


def keys(gain):
    return {k: gain[k] for k in ("gain", "low", "high")}


def mpi_rule(collective):
    return {
        "rule": f"{collective}={arms.MPI}",
        "collective": collective,
        "bytes": None,
        "ranks": None,
        "communicator": "",
        "implementation": arms.MPI,
        "earned": None,
        "changes_rounding": False,
        "note": "keeps its rounding",
    }


def arms_tried(state):
    """Every arm of every race, with its difference to the MPI."""
    tried = []
    for stage in ("models", "long", "points", "algorithms", "proof"):
        names = [c.name for c in state.choices(stage)]
        if not names or not state.rounds(stage):
            continue
        found = racestats.compare(state.rounds(stage), names, arms.MPI)
        failed = {f["arm"]: f["text"] for f in state.stage(stage)["failed"]}
        dropped = left_early(state.logs(stage), found)
        keep = state.data["options"]["keep_rounding"]
        for choice in state.choices(stage)[1:]:
            d = found.get(choice.name)
            tried.append(
                {
                    "race": stage,
                    "name": choice.name,
                    "rules": choice.rules(state.points, keep),
                    "difference": d and d.as_dict(),
                    "dropped": choice.name in dropped,
                    "failed": failed.get(choice.name, ""),
                }
            )
    return tried + (calldata.tried(state) if calldata.is_on(state) else [])


def left_early(logs, found):
    """The names of the arms that left a run of a race, except of the best of all runs together:
    a run that it left, on a busy machine, did not decide.
    """
    left = {name for log in logs for name in log.dropped}
    return left - {racestats.best(found)}


def recorded(state):
    """The profile of a run, or what rank 0 had counted when a long one was ended. None without."""
    stage = state.stage("profile")
    if not stage["done"]:
        return None
    path = state.run_folder(stage["runs"][-1]) / "p.json"
    if stage["why"] == "ended":
        return profiles.load(path)
    data = profiles.load_snapshot(f"{path}.so-far")
    # After the last collective the run went on.
    return data and data | {"wall_s": max(data["wall_s"], stage["seconds"])}


def result(state):
    """All that the report says, as data."""
    data, difference = recorded(state), verdict.proof(state)
    said, bound = verdict.verdict_of(state)
    logs = [log for s in state.data["stages"] for log in state.logs(s) if log.start]
    started = logs[-1].start if logs else {}
    return {
        "schema": verdict.SCHEMA,
        "crestacoll": __version__,
        "date": state.data["date"],
        "command": state.data["command"],
        "folder": str(state.folder),
        "mpi": data["mpi"] if data else started.get("mpi", ""),
        "ranks": data.get("job_ranks", data["ranks"]) if data else started.get("ranks"),
        "runs": state.data["runs"],
        "seconds": round(state.data["spent_s"], 1),
        "complete": state.data["ended"] == "done",
        "verdict": said,
        "bound": bound,
        "ahead": verdict.leader(state) if said == verdict.UNDECIDED else None,
        "untried": verdict.untried(state),
        "rejected": verdict.rejected(state),
        "by": "calls" if calldata.is_on(state) else "steps",
        "step": difference and gain_of(difference),
        "step_s": next((log.step_s for log in logs if log.step_s), None),
        "agree": difference.agree if difference else None,
        "sure": difference.sure if difference else None,
        "anchor": started.get("anchor"),
        "run": of_run(state, difference, data) if difference else None,
        "rules": rules_of(state, difference) if state.choice.picks else [],
        "points": state.data["points"],
        "arms": arms_tried(state),
        "answers": state.stage("proof").get("answers"),
        "time": arms.time_parts(data) if data else None,
        "others": state.data.get("others"),
        "notes": state.data.get("notes", []),
    }


def write_tuning(folder, found, rules):
    """The files with the rules. Returns the name of the one to use: a tuning file, or the rules
    alone where the module that writes it is missing.
    """
    outputs.write_text(folder / "rules", rules_text(found, rules))
    try:
        from crestacoll_tools.rules import tuning
    except ImportError:
        return folder / "rules"
    head = tuning.head(found["mpi"]) | {"ranks": found["ranks"], "command": found["command"]}
    tuning.write(folder / "tuning.json", head, [tuning_rule(r) for r in found["rules"]])
    return folder / "tuning.json"


def tuning_rule(rule):
    """As the file has it: what says nothing is not there."""
    ranks = rule["ranks"]
    made = {k: v for k, v in rule.items() if k != "rule" and v not in (None, "")}
    return made if ranks is None else made | {"ranks": [ranks, ranks]}


def rules_text(found, rules):
    command = " ".join(found["command"]).replace("\n", " ")
    return f"# crestacoll explore, {found['date']}: {command}\n" + "\n".join(rules) + "\n"


def remove_tuning(folder):
    """Rules that did not prove themselves are not left for use."""
    for name in ("rules", "tuning.json"):
        (folder / name).unlink(missing_ok=True)
