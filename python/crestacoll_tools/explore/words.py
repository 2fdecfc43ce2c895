# SPDX-License-Identifier: BSD-3-Clause
"""The result of an exploration in plain sentences."""

import math
import shlex

from crestacoll_tools.base.text import counted
from crestacoll_tools.builds import builds, machine
from crestacoll_tools.explore import arms
from crestacoll_tools.explore.verdict import FASTER, NOT_FASTER, UNDECIDED
from crestacoll_tools.profile.profiles import seconds as readable
from crestacoll_tools.race import intervals

TITLES = {
    "models": "models",
    "long": "long blocks",
    "points": "rule by rule",
    "algorithms": "algorithms",
    "calls": "by calls",
    "proof": "proof",
}


MOST_NAMED = 5  # candidates that a sentence names


def percent(fraction):
    return f"{100 * fraction:.1f} %"


def at_most(fraction):
    """A bound in per cent, rounded up."""
    return f"{max(0.1, math.ceil(1000 * fraction - 1e-9) / 10):.1f} %"


def interval(gain):
    return f"95 % interval {intervals.with_unit(intervals.of_gain(gain['low'], gain['high']))}"


def headline(found):
    """The verdict in one sentence. What was wrong under the best choice comes before it."""
    told = {FASTER: faster, NOT_FASTER: not_faster, UNDECIDED: undecided}[found["verdict"]](found)
    return f"{not_kept(found)} {told}".strip()


def faster(found):
    step = found["step"]
    rules = sum(r["implementation"] != arms.MPI for r in found["rules"])
    return (
        f"With {counted(rules, 'rule')}, {timed(found)} of this program takes"
        f" {percent(step['gain'])} less time ({interval(step)})."
    )


def not_faster(found):
    bound = found["bound"]
    calls = ", by the time of its calls" if found.get("by") == "calls" else ""
    other = "other " if found["rejected"] else ""
    return (
        f"No {other}choice makes {timed(found)} of this program more than {at_most(bound['gain'])}"
        f" faster{calls}: keep the MPI's own collectives."
    )


def nothing_to_try(found):
    """Why there were no candidates: what the collectives cost in the run that was profiled."""
    bound, calls = found["bound"], (found["time"] or {}).get("calls")
    run = f" ({counted(calls, 'call')} on {counted(found['ranks'], 'rank')})" if calls else ""
    cost = (
        "the collectives for which there is a choice took"
        f" {at_most(bound['gain'])} of the time of the profiled run{run}"
    )
    if found["verdict"] == NOT_FASTER:
        return (
            f"Nothing had to be tried: {cost}, so even collectives that take no time would save"
            " no more."
        )
    return (
        f"Nothing was tried: {cost}, but no kind of call took {percent(arms.SHARE)}. No choice can"
        f" save more; --margin {math.ceil(100 * bound['gain'])} would take that as the answer."
    )


def undecided(found):
    step = found["step"]
    if step and step["low"] > 0 and found.get("agree") is not False and not found["rejected"]:
        return (
            f"Not enough time to be sure: {timed(found)} of this program probably takes"
            f" {percent(step['gain'])} less time under the best choice ({interval(step)}), but"
            f" {lacking(found)}"
        )
    bound = found["bound"]
    if bound["candidates"] and not bound["open"] and bound["gain"] is not None:
        return (
            f"Not enough time: at most {at_most(bound['gain'])} can be gained by what was"
            " tried, but not everything was."
        )
    other = "another" if found["rejected"] else "a"
    told = f"Not enough time to say whether {other} choice makes this program faster."
    return told + ahead(found)


def lacking(found):
    """What a proof of the gain needs beside its 95 % interval."""
    low, high = (found["step"].get(key) for key in ("sure_low", "sure_high"))
    needed = "a proof needs a 99.5 % interval above 0, too."
    if low is None or low > 0:  # an exploration of old
        return needed
    claim = intervals.with_unit(intervals.of_gain(low, high))
    return f"{needed} That one is {claim}: it also allows for slow changes of the machine."


def not_kept(found):
    """What happened under the best choice."""
    why = found["rejected"]
    if why is None:
        return ""
    if why["why"] == "different":
        return "The answers changed under the best choice: it is not kept."
    return f"Under the best choice the program {why['text']}: it is not kept."


def timed(found, article="a"):
    """What the proof timed, or the profile where nothing had to be tried."""
    whole = found.get("by") == "calls" or (found["bound"] or {}).get("of") == "run"
    return f"{article} {'whole run' if whole else 'time step'}"


def claim(difference):
    """What is said of an arm: faster, slower, or nothing. That takes more than its interval."""
    if difference is None or not (difference["agree"] and difference.get("sure", True)):
        return ""
    return "faster" if difference["high"] < 0 else "slower" if difference["low"] > 0 else ""


def remark(arm):
    """The last column of the table of arms."""
    if arm["failed"]:
        return f"the program {arm['failed']}"
    return "left early" if arm["dropped"] else ""


def ahead(found):
    """What leads so far, if that is sure. An exploration of old does not say."""
    best = found.get("ahead")
    if not best:
        return ""
    of = "such a call" if found.get("by") == "calls" else "a step"
    gain = intervals.with_unit(intervals.of_gain(best["low"], best["high"]))
    return (
        f" So far {best['name']} is ahead: {of} takes {gain} less time (a 99.9 % interval that"
        " allows for all candidates and for stopping at any time). There is no proof yet."
    )


def details(found):
    """More sentences, one a line."""
    return [
        *gains(found),
        *excluded(found),
        *untried(found),
        *answers(found),
        *rounding(found),
        *(why(found) if found["verdict"] != FASTER else []),
        *shared(found),
        *(f"Note: {note}." for note in found["notes"]),
        *unfinished(found),
    ]


def excluded(found):
    """What intervals say of the candidates, where no choice is proved faster."""
    bound = found["bound"]
    if bound is None or not bound["candidates"]:
        return [nothing_to_try(found)] if bound and bound["gain"] is not None else []
    if found["verdict"] == NOT_FASTER:
        tried = counted(bound["candidates"], "choice")
        return [f"Tried: {tried}. The 99.5 % interval of each excludes a larger gain."]
    told = []
    if known := [c for c in bound["open"] if c["low"] is not None]:
        named = listed(f"{c['name']} ({most_of(c)})" for c in known)
        told.append(f"A gain above {at_most(bound['margin'])} is not excluded for {named}.")
    if unknown := [c["name"] for c in bound["open"] if c["low"] is None]:
        told.append(f"Not measured, or in too few rounds: {listed(unknown)}.")
    return [" ".join(told)] if told else []


def untried(found):
    """What has no result, or too few rounds for one; not known to explorations of old."""
    names = found.get("untried")
    return [f"Not tried, or in too few rounds: {listed(names)}."] if names else []


def listed(names):
    names = list(names)
    more = len(names) - MOST_NAMED
    return ", ".join([*names[:MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


def most_of(candidate):
    """Without its lower end: the best of many often seems better than it is."""
    if intervals.is_vague(-candidate["high"], -candidate["low"]):
        return intervals.TOO_WIDE
    return f"up to {at_most(candidate['high'])}"


def shared(found):
    """Says so if other programs run on these cores."""
    others = found["others"]
    if not machine.is_shared(others):
        return []
    told = []
    if others["busy"]:
        told.append(f"other programs kept the cores busy for {percent(others['busy'])} of the time")
    if others["stolen"]:
        told.append(f"the host of this machine took {percent(others['stolen'])} of it")
    return [f"The machine is shared: {' and '.join(told)}. The intervals are wider for it."]


def gains(found):
    run = found["run"]
    if found["verdict"] != FASTER:
        return []
    if found.get("by") == "calls":
        return [
            f"That is {run['gain'] * run['of_s']:.2g} s of {run['of_s']:.3g} s. It was shown by"
            f" {counted(found['step']['rounds'], 'pair')} of whole runs, plain and under the"
            " rules in turn."
        ]
    if run is None:
        return ["For a whole run the gain is not known: none came to its end."]
    return [
        f"A whole run of {run['of_s']:.3g} s takes about {run['gain'] * run['of_s']:.2g} s less:"
        f" {percent(run['gain'])} ({interval(run)}). Such steps make up"
        f" {percent(run['share'])} of it."
    ]


def answers(found):
    told = found["answers"]
    if told is None:
        if found["verdict"] != FASTER:
            return []
        why = "no whole run fitted into the budget"
        if not found["complete"]:
            why = "the exploration was interrupted"
        return [f"The answers were not compared: {why}."]
    if told.get("failed"):
        after = told.get("after", "")  # not known to explorations of old
        then = f"; the plain program, run after it, {after}"
        if after == "":
            then = ", without them it did not"
        if after is None:
            then = "; no plain run after it came to its end in the time that was left"
        return [f"Under the rules the program {told['failed']}{then}."]
    by = shlex.join(told["by"]) if told["by"] else ""
    if by:
        same = "the same" if told["same"] else "DIFFERENT"
        return [f"The answers with and without the rules are {same}, says `{by}`."]
    if not told["prints"]:
        return ["The program prints nothing: its answers were not compared (see --compare)."]
    if told["same"] and told.get("bytes", True):
        return ["The program prints the same with and without the rules, byte by byte."]
    return [printed(told)]


def printed(told):
    """The sentence about outputs that differ in some byte."""
    files = f"Compare {told['plain']} with {told['tuned']}, or name a command by --compare."
    if "words" not in told:  # an exploration of old
        return f"The program does not print the same with and without the rules. {files}"
    count, plains = counted(told["words"], "word"), told["plain_runs"]
    out = told["left_out"]
    differ = "differs" if out == 1 else "differ"
    left = f" {out} more {differ} between plain runs as well, such as times." if out else ""
    if not told["words"]:
        return f"The answers were not compared: no two plain runs print the same. {files}"
    if told["same"]:
        return (
            f"The program prints the same with and without the rules: {count} compared, numbers by"
            f" their value.{left}"
        )
    if plains < 2:
        return (
            f"Under the rules the program prints something else: {told['difference']}. There was no"
            f" time for another plain run, to see whether that varies by itself. {files}"
        )
    return (
        f"Under the rules the program prints something else: {told['difference']}, where"
        f" {plains} plain runs print the same. {count} compared.{left} {files}"
    )


def rounding(found):
    changed = [r["rule"] for r in found["rules"] if r["changes_rounding"]]
    if not changed or found["verdict"] != FASTER:
        return []
    return [
        f"Sums may differ in their last digits: {', '.join(changed)}. --keep-rounding leaves"
        " reductions alone."
    ]


def why(found):
    """Why nothing is gained, as far as the profile shows it."""
    parts, lines, step = found["time"], [], found["step"]
    if step and (step["low"] <= 0 or not found["agree"]):
        lines.append(in_proof(found, step))
    if step and not found["agree"]:
        lines.append(disagree(step))
    if parts is None:
        return lines
    lines.append(
        f"A run spends {percent(parts['outside'])} of its time outside collectives, at least"
        f" {percent(parts['waiting'])} in waiting for late ranks, and at most"
        f" {percent(parts['transfer'])} in the collectives themselves."
    )
    if parts["waiting"] > max(parts["transfer"], 0.05):
        lines.append(
            "Ranks reach the collectives at different times. Balanced work, or collectives that"
            " overlap with it (docs/split-phase.md), may gain more than an implementation does."
        )
    return lines


def disagree(step):
    """After in_proof: the plain mean says something else."""
    mean = "The plain mean is too uncertain to say so"
    if (step["mean"] > 0) != (step["gain"] > 0):
        more = "less" if step["mean"] > 0 else "more"
        mean = f"By the plain mean it took {percent(abs(step['mean']))} {more}"
    return (
        f"That is the trimmed mean. {mean}: something interrupts ranks for long, perhaps other"
        " programs on these cores."
    )


def in_proof(found, step):
    if step["gain"] >= 0:
        return (
            f"In the proof {timed(found)} took {percent(step['gain'])} less time under the choice"
            f" ({interval(step)})."
        )
    low, high = -step["high"], -step["low"]
    between = intervals.with_unit(intervals.of_difference(low, high))
    return (
        f"In the proof {timed(found)} took {percent(-step['gain'])} more time under the choice"
        f" (95 % interval {between})."
    )


def legend(found):
    """What the columns of the table of arms mean."""
    of = "call" if found.get("by") == "calls" else "step"
    left = {
        "step": "a run went on without it, as its rounds there were slower than those of the arm"
        " that led",
        "call": "its interval is above 0, or above that of a faster one",
    }
    told = [
        f"{of}: time of a {of} against the MPI's own collectives, as a trimmed mean; below 0 is"
        " faster",
        "mean: the plain mean; an arm counts as faster only if both say so",
    ]
    if any(a["dropped"] for a in found["arms"]):
        told.append(f"left early: {left[of]}")
    if any(a["difference"] is None and not a["failed"] for a in found["arms"]):
        told.append("-: too few rounds to say")
    if any(a["name"].split(",")[0] == arms.COMBINED for a in found["arms"]):
        told.append(f"{arms.COMBINED}: what was best rule by rule, together")
    return "; ".join(told)


def unfinished(found):
    """How to go on, and for how long where the scatter says it."""
    if found["complete"] and found["verdict"] != UNDECIDED:
        return []
    folder, more = shlex.quote(found["folder"]), found["bound"] and found["bound"]["more_s"]
    if not more:
        return [f"To go on: `{builds.typed()} explore --resume --output {folder}`."]
    return [
        f"`{builds.typed()} explore --resume --budget {budget(more)} --output {folder}` should"
        " be enough to decide, if later rounds are like those so far."
    ]


def budget(seconds):
    """As --budget takes it, rounded up."""
    if seconds <= 90:
        return f"{10 * math.ceil(seconds / 10)}s"
    minutes = math.ceil(seconds / 60)
    return f"{minutes}m" if minutes <= 90 else f"{math.ceil(minutes / 60)}h"


def use(found):
    """How to run the program so."""
    file = shlex.quote(found["use"])
    if found["use"].endswith(".json"):
        return f"{builds.typed()} run --tuning {file} -- {shlex.join(found['command'])}"
    return f"{builds.typed()} run --impl @{file} -- {shlex.join(found['command'])}"


def point_text(point):
    """A point and what it costs, for a table."""
    from crestacoll_tools.base.sizes import format_class

    size = "" if point["low"] is None else f" {format_class(point['low'], point['high'])}"
    return f"{arms.Point(**point).where}{size}"


def step_text(found):
    return readable(found["step_s"] * 1e6) if found["step_s"] else "-"
