# SPDX-License-Identifier: BSD-3-Clause
"""The report of the demo: one sentence for each case, then what its exploration found."""

from markupsafe import Markup

from crestacoll_tools import pages
from crestacoll_tools.builds import builds, machine
from crestacoll_tools.demo import demo
from crestacoll_tools.explore import verdict, words


def render(data, bodies):
    """`bodies`: of the reports of the cases, from explore/page.py."""
    cases = [
        {
            **told,
            "sentence": demo.sentence(told),
            "tile": tile(told),
            "inside": demo.inside(told),
            "step": words.step_text(told["result"]) if told["result"] else "-",
            "body": Markup(body),
        }
        for told, body in zip(data["cases"], bodies, strict=True)
    ]
    template = pages.template("demo.html.j2")
    return template.render(
        data=data,
        cases=cases,
        machine=machine.sentence(data["machine"]),
        headline=headline(data),
        typed=builds.typed(),
    )


def headline(data):
    """What all cases say together, also those that failed."""
    tried = [t["result"] for t in data["cases"] if not t["skipped"]]
    better = sum(found is not None and found["verdict"] == verdict.FASTER for found in tried)
    plural = "s" * (len(tried) != 1)
    unclear = sum(found is not None and found["verdict"] == verdict.UNDECIDED for found in tried)
    still = f"; {unclear} {'is' if unclear == 1 else 'are'} not decided" if unclear else ""
    return f"A turbulence code gains in {better} of {len(tried)} case{plural}{still}"


def tile(told):
    """The gain in few characters."""
    found = told["result"]
    if found is None:
        return "not run" if told["skipped"] else "failed"
    if found["rejected"]:
        return {"different": "answers differ", "failed": "failed"}[found["rejected"]["why"]]
    if found["verdict"] == verdict.FASTER:
        return f"\u2212{words.percent(found['step']['gain'])}"
    if found["verdict"] == verdict.UNDECIDED:
        return "not decided"
    return f"\u2264 {words.at_most(found['bound']['gain'])}"
