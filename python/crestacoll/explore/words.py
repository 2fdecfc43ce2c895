# SPDX-License-Identifier: BSD-3-Clause
"""The result of an exploration in plain sentences."""

import shlex

from crestacoll import builds, intervals, machine
from crestacoll.explore import arms
from crestacoll.profiles import seconds as readable

TITLES = {
    "models": "models",
    "points": "rule by rule",
    "algorithms": "algorithms",
    "calls": "by calls",
    "proof": "proof",
}


def percent(fraction):
    return f"{100 * fraction:.1f} %"


def interval(gain):
    return f"95 % interval {intervals.with_unit(intervals.of_gain(gain['low'], gain['high']))}"


def headline(found):
    """One sentence that says it."""
    step = found["step"]
    rules = sum(r["implementation"] != arms.MPI for r in found["rules"])
    return {
        "faster": lambda: (
            f"With {rules} rule{'s' * (rules != 1)}, {timed(found)} of this program takes"
            f" {percent(step['gain'])} less time ({interval(step)})."
        ),
        "none": lambda: "No choice makes this program faster beyond the noise: keep the MPI's own.",
        "little": lambda: "Collectives take too little of this program's time to gain anything.",
        "failed": lambda: "The best choice broke the program: keep the MPI's own collectives.",
        "different": lambda: "The answers changed under the best choice: keep the MPI's own.",
        "unproven": lambda: probable(found)
        if step
        else "There was not enough time to prove a gain." + ahead(found),
    }[found["verdict"]]()


def probable(found):
    """Of a proof that shows a gain, but not with the certainty of a claim."""
    step, subject = found["step"], timed(found).capitalize()
    return (
        f"{subject} probably takes {percent(step['gain'])} less time under the best choice"
        f" ({interval(step)}). That is not sure enough to recommend it: a 99.5 % interval must be"
        " above 0, too. A larger --budget may prove it."
    )


def timed(found, article="a"):
    """What the proof timed."""
    return f"{article} {'whole run' if found.get('by') == 'calls' else 'time step'}"


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
    """What leads so far, if it is sure."""
    sure = [a for a in found["arms"] if claim(a["difference"]) == "faster" and not a["failed"]]
    if not sure:
        return ""
    best = min(sure, key=lambda a: a["difference"]["trimmed"])
    gain = percent(-best["difference"]["trimmed"])
    of = "the time of such a call" if found.get("by") == "calls" else "a step"
    return f" So far {best['name']} is ahead, by {gain} of {of}."


def details(found):
    """More sentences, one a line."""
    return [
        *gains(found),
        *answers(found),
        *rounding(found),
        *(why(found) if found["verdict"] != "faster" else []),
        *shared(found),
        *(f"Note: {note}." for note in found["notes"]),
        *unfinished(found),
    ]


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
    if found["verdict"] != "faster":
        return []
    if found.get("by") == "calls":
        return [
            f"Of {run['of_s']:.3g} s that is {run['gain'] * run['of_s']:.2g} s. It was shown by"
            f" {found['step']['rounds']} pairs of whole runs, plain and under the rules in turn."
        ]
    if run is None:
        return ["For a whole run the gain is not known: none came to its end."]
    return [
        f"A whole run of {run['of_s']:.3g} s takes about {run['gain'] * run['of_s']:.2g} s less:"
        f" {percent(run['gain'])} ({interval(run)}). {percent(run['share'])} of it are such steps."
    ]


def answers(found):
    told = found["answers"]
    if told is None:
        if found["verdict"] != "faster":
            return []
        return ["The answers were not compared: no whole run fitted into the budget."]
    if told.get("failed"):
        after = told.get("after")  # not known to explorations of old
        then = ", without them it did not"
        if after:
            then = f"; the plain program, run after it, {after}"
        return [f"Under the rules the program {told['failed']}{then}."]
    by = shlex.join(told["by"]) if told["by"] else ""
    if by:
        same = "the same" if told["same"] else "DIFFERENT"
        return [f"The answers with and without the rules are {same}, says `{by}`."]
    if not told["prints"]:
        return ["The program prints nothing: its answers were not compared (see --compare)."]
    if told["same"]:
        return ["The program prints the same with and without the rules, byte by byte."]
    return [
        "The program prints something else in each run, or under the rules: times, for example."
        f" Compare {told['plain']} with {told['tuned']}, or name a command by --compare."
    ]


def rounding(found):
    changed = [r["rule"] for r in found["rules"] if r["changes_rounding"]]
    if not changed or found["verdict"] != "faster":
        return []
    return [
        f"Sums may differ in their last digits: {', '.join(changed)}. --keep-rounding leaves"
        " reductions alone."
    ]


def why(found):
    """Why nothing is gained, as far as the profile shows it."""
    parts, lines = found["time"], []
    if found["verdict"] == "none" and found["step"]:
        lines.append(
            f"In the proof the best choice gained {percent(found['step']['gain'])} of"
            f" {timed(found)} ({interval(found['step'])})."
        )
    if found["verdict"] == "none" and found["step"] and not found["agree"]:
        lines.append(disagree(found["step"], "runs" if found.get("by") == "calls" else "steps"))
    if parts is None:
        return lines
    lines.append(
        f"Of the time of a run {percent(parts['outside'])} passes outside collectives, at least"
        f" {percent(parts['waiting'])} in waiting for late ranks, at most"
        f" {percent(parts['transfer'])} in the collectives themselves."
    )
    if parts["waiting"] > max(parts["transfer"], 0.05):
        lines.append(
            "Ranks reach the collectives at different times. Balanced work, or collectives that"
            " overlap with it (docs/split-phase.md), may gain more than an implementation does."
        )
    return lines


def disagree(step, what):
    """The trimmed mean and the plain mean of the proof say different things: which says what."""
    most = "faster" if step["gain"] > 0 else "slower"
    mean = (
        f"became {percent(abs(step['mean']))} {'faster' if step['mean'] > 0 else 'slower'}"
        if (step["mean"] > 0) != (step["gain"] > 0)
        else "is too uncertain to say so"
    )
    return (
        f"In the proof most {what} became {most}, but their mean {mean}: something interrupts ranks"
        " for long, perhaps other programs on these cores."
    )


def legend(found):
    """What the columns of the table of arms mean."""
    of = "call" if found.get("by") == "calls" else "step"
    told = [
        f"{of}: time of a {of} against the MPI's own collectives, as a trimmed mean; below 0 is"
        " faster",
        "mean: the plain mean; an arm counts as faster only if both say so beyond the noise",
    ]
    if any(a["dropped"] for a in found["arms"]):
        told.append("left early: behind the best in a run, so that it took no more of its time")
    if any(a["difference"] is None and not a["failed"] for a in found["arms"]):
        told.append("-: too few rounds to say")
    if any(a["name"].split(",")[0] == arms.COMBINED for a in found["arms"]):
        told.append(f"{arms.COMBINED}: what was best rule by rule, together")
    return "; ".join(told)


def unfinished(found):
    if found["complete"] and found["verdict"] != "unproven":
        return []
    folder = shlex.quote(found["folder"])
    return [f"`{builds.typed()} explore --resume --output {folder}` goes on."]


def use(found):
    """How to run the program so."""
    file = shlex.quote(found["use"])
    if found["use"].endswith(".json"):
        return f"{builds.typed()} run --tuning {file} -- {shlex.join(found['command'])}"
    return f"{builds.typed()} run --impl @{file} -- {shlex.join(found['command'])}"


def point_text(point):
    """A point and what it costs, for a table."""
    from crestacoll.sizes import format_class

    size = "" if point["low"] is None else f" {format_class(point['low'], point['high'])}"
    return f"{arms.Point(**point).where}{size}"


def step_text(found):
    return readable(found["step_s"] * 1e6) if found["step_s"] else "-"
