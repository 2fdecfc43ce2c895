# SPDX-License-Identifier: BSD-3-Clause
"""The report of an exploration: one HTML file that needs nothing else."""

import re

from markupsafe import Markup, escape

from crestacoll_tools import pages
from crestacoll_tools.builds import machine
from crestacoll_tools.explore import draw, verdict, words
from crestacoll_tools.race import intervals


def svg(text):
    return Markup(text) if text else ""


def with_code(line):
    """A sentence, escaped; what stands between backquotes is code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(line))))


def place_of(anchor):
    """Where a step begins, as the end of a sentence."""
    if not anchor:
        return ""
    return f" by the {anchor['collective']} on {anchor['communicator'] or 'all ranks'}"


def tile(found):
    """(the verdict in few characters, what it is about)."""
    of = words.timed(found, "").strip()
    if found["verdict"] == verdict.FASTER:
        gain = words.percent(found["step"]["gain"])
        return f"\u2212{gain}", f"time of a {of}, {words.interval(found['step'])}"
    if found["verdict"] == verdict.NOT_FASTER:
        return f"\u2264 {words.at_most(found['bound']['gain'])}", "is the most that could be gained"
    return "not decided", "that needs more time"


def body(state, found, where=None):
    """All but the headline, and how to read it. Without a state, which has the rounds, the proof is
    not drawn. `where`: the machine, else this one.
    """
    names = [c.name for c in state.choices("proof")] if state else []
    rounds = verdict.proof_rounds(state) if state else []
    of = words.timed(found, "").strip()
    proof = draw.proof(rounds, names, of, found["step"]) if len(names) == 2 else None
    known = found["points"] and found["points"][0]["collective"] != "*"
    return (
        pages.template("explore-body.html.j2")
        .render(
            found=found,
            details=[with_code(line) for line in words.details(found)],
            interval=words.interval(found["step"]) if found["step"] else "",
            use=words.use(found) if found.get("use") else "",
            library=" ".join(found["mpi"].split(",")[0].split()),
            machine=machine.sentence(machine.describe()) if where is None else where,
            proof=svg(proof),
            tried=svg(draw.tried(found["arms"], "call" if found.get("by") == "calls" else "step")),
            timed=of,
            parts=svg(found["time"] and draw.parts(found["time"])),
            points=[(words.point_text(p), p) for p in found["points"]] if known else [],
            titles=words.TITLES,
            remark=words.remark,
            between=lambda low, high: intervals.with_unit(intervals.of_gain(low, high)),
            step=words.step_text(found),
            tile=tile(found),
            anchor=place_of(found["anchor"]),
        )
    )


def render(state, found):
    template = pages.template("explore.html.j2")
    made = Markup(body(state, found))
    return template.render(found=found, headline=words.headline(found), body=made)
