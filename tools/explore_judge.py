# SPDX-License-Identifier: BSD-3-Clause
"""Says whether what an exploration printed and wrote is true, from what was planted. It knows only
the sentences and the members of the JSON file as the documents describe them: nothing of crestacoll
is imported here.

A truth has `late_us`, what is saved in a step by each arm (below 0: what it costs more), and
`step_us`, a step of the program alone. On a machine that others use a step takes longer, so that
the saved part is a smaller one: it lies between late_us / measured step and late_us / step_us.
"""
import re

TOLERANCE = 0.01  # of a step: what implementations differ by themselves
SENTENCES = {
    "faster": r"a (?:time step|whole run) of this program takes ([\d.]+) % less time"
    r" \(95 % interval ([-\d.]+) to ([-\d.]+) %\)\.",
    "not-faster": r"No (?:other )?choice makes a (?:time step|whole run) of this program more than"
    r" ([\d.]+) % faster",
    "undecided": r"Not enough time",
}
AHEAD = re.compile(r"So far (\S+) is ahead: \S+ \S+ takes ([-\d.]+) to ([-\d.]+) % less time")
PROBABLY = re.compile(r"probably takes ([\d.]+) % less time")
OPEN = re.compile(r"(\S+) \(up to ([-\d.]+) %\)")
LARGER = re.compile(r"A gain above .*? is not excluded for (.*?)\.(?: |$)")
NEVER = ("beyond the noise", "nothing is faster", "has no rhythm", "broke the program")


def gains(truth, measured_step_us):
    """{arm: (least, most)} that it gains, in fractions of a step."""
    longest = max(truth["step_us"], measured_step_us or 0.0)
    found = {}
    for arm, saved in truth["late_us"].items():
        found[arm] = tuple(sorted((saved / longest, saved / truth["step_us"])))
    return found


def arm_of(name):
    """The implementation of a rule or of the name of an arm: alltoall@x=nonblock, nonblock."""
    return name.replace("*", "").split("=")[-1].split(",")[-1]


def said(text):
    """(which of the sentences the text has, what it names) of all that it has."""
    flat = " ".join(text.split())
    return [(kind, m.groups()) for kind, how in SENTENCES.items() for m in re.finditer(how, flat)]


def complaints(truth, text, result):
    """What is false, one sentence each; empty: nothing is."""
    flat, step_s = " ".join(text.split()), result.get("step_s")
    true = gains(truth, step_s and 1e6 * step_s)
    best = max(0.0, *(low for low, _ in true.values()))
    most = max(high for _, high in true.values())
    found, wrong = said(text), [f"says '{word}'" for word in NEVER if word in flat]
    kinds = {kind for kind, _ in found}
    if kinds != {result["verdict"]}:
        wrong.append(f"the text has {sorted(kinds)}, the file {result['verdict']}")
    for kind, values in found:
        numbers = [float(v) / 100 for v in values]
        if kind == "faster" and not least_faster(numbers, best, most):
            wrong.append(f"faster by {values[0]} %, but the truth is {best:.3f} to {most:.3f}")
        if kind == "not-faster" and numbers[0] + TOLERANCE < best:
            wrong.append(f"not faster than {values[0]} %, but one arm is by {best:.3f}")
    for name, low, high in AHEAD.findall(flat):
        least, largest = true.get(arm_of(name), (0.0, most))
        if largest <= 0 or not within(least, largest, low, high):
            wrong.append(f"ahead: {name}, {low} to {high} %, truth {least:.3f} to {largest:.3f}")
    wrong += [f"probably faster by {g} %" for g in PROBABLY.findall(flat) if most <= 0]
    for names in LARGER.findall(flat):
        for name, high in OPEN.findall(names):
            least, _ = true.get(arm_of(name), (-1.0, 1.0))
            if not within(least, least, "-inf", high):
                wrong.append(f"{name}: up to {high} %, truth {least:.3f}")
    if "is ahead" in flat and not AHEAD.search(flat):
        wrong.append("names an arm as ahead in a sentence that this judge cannot read")
    return wrong


def interval_holds(truth, result):
    """Whether the 95 % interval of the proof has a gain that may be true; None without a proof."""
    step, us = result["step"], 1e6 * (result.get("step_s") or 0.0)
    if step is None or not result["rules"]:
        return None
    arms = {arm_of(rule["rule"]) for rule in result["rules"]}
    true = [both for arm, both in gains(truth, us).items() if arm in arms]
    return any(low <= step["high"] and step["low"] <= high for low, high in true)


def least_faster(numbers, best, most):
    """The gain is there, and is what was planted: within twice the width of the interval."""
    gain, low, high = numbers
    room = max(TOLERANCE, high - low)
    return most > 0 and best - room <= gain <= most + room


def within(least, largest, low, high):
    """The truth, or a part of it, is in the interval that was printed, in per cent."""
    return largest >= float(low) / 100 - TOLERANCE and least <= float(high) / 100 + TOLERANCE
