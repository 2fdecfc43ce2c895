# SPDX-License-Identifier: BSD-3-Clause
"""What is known of the points of a profile, an exploration, a tuning file, a bench or a tuning: the
implementation, the rule that won, what was measured against it.
"""

from dataclasses import asdict

from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.explain import measurements
from crestacoll_tools.explain.measurements import entry, row
from crestacoll_tools.explore import words
from crestacoll_tools.profile import profiles
from crestacoll_tools.report import reportfiles
from crestacoll_tools.rules import points, tuning
from crestacoll_tools.rules.points import Point
from crestacoll_tools.tune.state import State

NOT_MEASURED = "not measured: `crestacoll explore` and `crestacoll bench` measure it"
MPI = "mpi"
READ = (
    "profiles, tuning files, results of bench and explore, and the folders of explore and tune"
)


def explained(name):
    """[entry] of a file or folder: what is known of each point, the most expensive first."""
    data, schema = reportfiles.read_any(name)
    if schema == tuning.SCHEMA:
        return of_tuning(name, tuning.read(name))
    if schema == State.SCHEMA:
        return measurements.of_tune(name, data)
    kind = reportfiles.KINDS.get(schema)
    if kind not in BY_KIND:
        raise Problem(f"{name} has no points to explain: explain reads {READ}")
    return BY_KIND[kind](reportfiles.read(name).data)


# Profiles.


def of_profile(data):
    wall = data["wall_s"] * 1e6
    return [
        entry(
            Point(*sized(r), r["processes"], r["communicator"]),
            r["implementation"],
            decided_in_profile(r),
            share=r["time_us"]["mean"] * r["ranks"] / data["ranks"] / wall if wall else None,
            waiting=r["wait_us"] and r["wait_us"]["mean"] / max(r["time_us"]["mean"], 1e-9),
            refused=r.get("refused"),
            source=profiles.label(r),
        )
        for r in sorted(data["records"], key=lambda r: -r["time_us"]["mean"] * r["ranks"])
    ]


def sized(record):
    """Collective and sizes; the uneven collectives have none that all ranks know."""
    if record["collective"] in points.UNSIZED:
        return record["collective"], None, None
    return record["collective"], record["bytes_min"], record["bytes_max"]


def decided_in_profile(record):
    if record["mode"] != "blocking":
        return "a call that only starts a collective: the MPI's own, whatever rules say"
    rule = record.get("rule")
    if rule is None:
        return "not recorded" if "rule" not in record else "on an intercommunicator"
    return "no rule: the MPI's own" if rule == "no rule" else rule


# Explorations.


def of_exploration(found):
    use = found["verdict"] == "faster"
    chosen = [r["rule"] for r in found["rules"]]
    made = []
    for told in found["points"]:
        point = point_of(told)
        picked = next((r for r in found["rules"] if holds(r, point)), None)
        best = picked["implementation"] if picked else MPI
        made.append(
            entry(
                point,
                best if use else MPI,
                decided_in_exploration(found, picked if use else None),
                share=told["share"],
                waiting=told["waiting"] and told["waiting"] / told["share"],
                measured=measured_by(found, point, chosen, best),
                remarks=remarks(picked) if use else [words.headline(found)],
                source="exploration",
            )
        )
    return made


def holds(rule, point):
    parsed = points.parse_rule(rule["rule"])
    return parsed is not None and points.matches(parsed, point)


def decided_in_exploration(found, rule):
    if rule is not None:
        return f"{rule['rule']}, a rule of the exploration ({found.get('use') or found['folder']})"
    return "no rule of the exploration: the MPI's own"


def remarks(rule):
    """How a rule was earned."""
    if rule is None:
        return []
    made = []
    if rule.get("earned"):
        how = rule["earned"]
        arms = " against ".join(reversed(how["arms"]))
        made.append(
            f"earned: a step takes {words.percent(how['gain'])} less time"
            f" ({words.interval(how)}), {arms}, {counted(how['blocks'], 'round')}"
        )
    if rule.get("changes_rounding"):
        made.append("sums may differ in their last digits from those of the MPI's own collective")
    if rule.get("note"):
        made.append(rule["note"])
    return made


def measured_by(found, point, chosen, best):
    """[row]: each arm of each race, by what it runs at the point."""
    rows = []
    for arm in found["arms"]:
        d = arm["difference"]
        rows.append(
            row(
                points.implementation_at(arm["rules"], point),
                words.TITLES.get(arm["race"], arm["race"]),
                *(d and d[name] for name in ("trimmed", "low", "high")),
                against_choice=against_choice(found, arm, chosen),
                others=any(p != point for p in different(found, arm["rules"], chosen)),
                failed=arm["failed"] and f"the program {arm['failed']}",
                chosen=points.implementation_at(arm["rules"], point) == best,
            )
        )
    return rows


def point_of(told):
    """A point as an exploration has it."""
    return Point(
        told["collective"], told["low"], told["high"], told["processes"], told["communicator"]
    )


def different(found, a, b):
    """The points at which two lists of rules choose differently."""
    every = map(point_of, found["points"])
    at = points.implementation_at
    return [p for p in every if at(a, p) != at(b, p)]


def against_choice(found, arm, chosen):
    """How much longer a step takes than under the choice, where both ran in one race."""
    mine = arm["difference"]
    for other in found["arms"]:
        theirs = other["difference"]
        if other["race"] != arm["race"] or not theirs:
            continue
        if different(found, other["rules"], chosen):
            continue
        if mine and theirs["trimmed"] > -1:
            return (1 + mine["trimmed"]) / (1 + theirs["trimmed"]) - 1
    return None


# Tuning files.


def of_tuning(name, data):
    """A point for each rule; see tuning_entry for others."""
    hidden = {id(rule): earlier for rule, earlier in tuning.shadowed(data["rules"])}
    made = []
    for number, rule in enumerate(data["rules"], 1):
        earlier = hidden.get(id(rule))
        decided = f"rule {number} of {name}: {tuning.rule_text(rule)}"
        if earlier is not None:
            decided = f"{tuning.rule_text(earlier)}: rule {number} never wins"
        won = (earlier or rule)["implementation"]
        made.append(entry(rule_point(rule), won, decided, source="tuning file"))
    return made


def rule_point(rule):
    (low, high), ranks = tuning.ends(rule, "bytes"), tuning.ends(rule, "ranks")
    everything = low == 0 and high == float("inf")
    return Point(
        rule["collective"].lower(),
        None if everything else low,
        None if high == float("inf") else high,
        ranks[0] if ranks[0] == ranks[1] else None,
        rule.get("communicator"),
    )


def tuning_entry(name, data, point):
    """The rule that wins at a point; what the point leaves open may be as the rule wants it."""
    rule, behind = points.winner(data["rules"], point)
    if rule is None:
        decided = f"no rule of {name} matches: CRESTA_Set_impl or the built-in rules decide"
        return entry(point, MPI, decided, source="tuning file")
    number = data["rules"].index(rule) + 1
    return entry(
        point,
        rule["implementation"],
        f"rule {number} of {name}: {tuning.rule_text(rule)}",
        behind=[tuning.rule_text(r) for r in behind],
        remarks=remarks(rule) + ["rules of CRESTA_IMPL come before those of a tuning file"],
        measured=earned_rows(rule),
        source="tuning file",
    )


def earned_rows(rule):
    """What the rule was compared with."""
    how = rule.get("earned")
    if not how:
        return []
    return [
        row(
            arm,
            "tuning file",
            against_choice=how["gain"] / (1 - how["gain"])
            if len(how["arms"]) == 2 and arm != rule["implementation"] and how["gain"] < 1
            else None,
            chosen=arm == rule["implementation"],
        )
        for arm in how["arms"]
    ]


BY_KIND = {
    "profile": of_profile,
    "explore": of_exploration,
    "bench": measurements.of_bench,
}


def at_point(name, asked):
    """(the entry of the point that is asked for, how many others match as well)"""
    if reportfiles.is_tuning(name):
        return tuning_entry(name, tuning.read(name), asked), 0
    found = [e for e in explained(name) if asked.covers(e["point"])]
    if not found:
        raise Problem(f"{name} has no calls of {asked}; without --point all are listed")
    first = found[0]
    point = first["point"]
    if point.collective == "*":
        first["point"] = asked
    elif asked.low is not None:
        first["point"] = Point(**asdict(point) | {"low": asked.low, "high": asked.high})
    return first, len(found) - 1
