# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll explain FILE` in the terminal: a list of points, or all of one."""

from crestacoll_tools.base.text import word
from crestacoll_tools.base.ui import out, show, table
from crestacoll_tools.explain.explanation import NOT_MEASURED
from crestacoll_tools.race import intervals
from crestacoll_tools.rules.points import size_text


def percent(fraction):
    return "-" if fraction is None else f"{100 * fraction:.1f} %"


def between(low, high):
    if low is None or intervals.is_vague(low, high):
        return "-" if low is None else intervals.TOO_WIDE
    return f"{percent(low)} to {percent(high)}"


def show_list(entries):
    made = table(
        *("collective", ">bytes", ">ranks", "communicator", "implementation"),
        *(">of run", ">waiting", "decided by"),
    )
    for e in entries:
        p = e["point"]
        made.add_row(
            p.collective,
            size_text(p),
            "-" if p.ranks is None else str(p.ranks),
            word(p.communicator or "-"),
            word(e["implementation"]),
            percent(e["share"]),
            percent(e["waiting"]),
            word(e["decided"]),
        )
    show(made)
    if not entries:
        out.print("no calls, no rules: nothing to explain")
    else:
        out.print(
            "waiting: part of that time; --point 'COLLECTIVE SIZE bytes N ranks comm NAME' explains"
            " one point",
            style="dim",
            soft_wrap=True,
        )


def show_one(e, others):
    out.print(word(str(e["point"])), style="bold", soft_wrap=True)
    lines = [
        ("implementation", e["implementation"]),
        ("decided by", e["decided"]),
        ("not as ruled", e["refused"]),
        ("of the run", e["share"] is not None and cost(e)),
        *(("remark", text) for text in e["remarks"]),
        *(("behind it", f"{text} (an earlier rule wins)") for text in e["behind"]),
    ]
    for name, text in lines:
        if text:
            out.print(f"  {name:15} {word(text)}", soft_wrap=True)
    if others:
        out.print(f"{others} more match --point; this one costs most", style="dim")
    show_measured(e["measured"], e["of"])


def cost(e):
    waiting = "" if e["waiting"] is None else f", {percent(e['waiting'])} of that waiting"
    return percent(e["share"]) + waiting


def show_measured(rows, of):
    """`of`: what was timed, a step or a call."""
    out.print("\nWhat else was possible", style="bold")
    if not rows:
        out.print(f"  {NOT_MEASURED}", soft_wrap=True)
        return
    made = table(
        *("implementation", "race", f">{of} against the MPI", ">interval"),
        *(">slower than the choice", "remarks"),
    )
    for r in rows:
        made.add_row(
            word(r["implementation"]),
            r["race"],
            percent(r["against_mpi"]),
            between(r["low"], r["high"]),
            "-" if r["chosen"] and not r["others"] else percent(r["against_choice"]),
            word("; ".join(remarks(r))),
        )
    show(made)
    out.print("Other implementations: not measured.", style="dim")


def remarks(r):
    if r["failed"]:
        yield r["failed"]
    if r["chosen"]:
        yield "the choice"
    if r["others"]:
        yield "other points changed, too"


def as_json(e):
    p = e["point"]
    return e | {
        "point": {
            "collective": p.collective,
            "bytes": None if p.low is None else [p.low, p.high],
            "ranks": p.ranks,
            "communicator": p.communicator,
        }
    }
