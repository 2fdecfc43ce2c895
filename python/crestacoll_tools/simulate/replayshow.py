# SPDX-License-Identifier: BSD-3-Clause
"""How `crestacoll simulate --profile` shows what it found. Each table of simulated times says that
they are simulated.
"""

from crestacoll_tools.base.sizes import format_amount
from crestacoll_tools.base.text import counted, word
from crestacoll_tools.base.ui import out, show, table
from crestacoll_tools.simulate.replay import PRESETS, time_of
from crestacoll_tools.simulate.show import caption, time_words

SHOWN = 4  # classes that are named
KEEPS = {
    "weak": "weak scaling (--scaling): a rank keeps its data of a call, and its time between calls",
    "strong": "strong scaling (--scaling): a rank's data of a call, and its time between calls, are"
    " divided by the growth of the number of ranks",
}


def print_replay(data):
    out.print(caption(data["machine"]), soft_wrap=True, style="bold")
    mpi = " ".join(data["profile"]["mpi"].split(",")[0].split())
    ranks = data["recorded"]["ranks"]
    out.print(f"{data['profile']['file']}: {counted(ranks, 'rank')}, {mpi}", soft_wrap=True)
    out.print(KEEPS[data["scaling"]], soft_wrap=True)
    unit = f"a step, 1 of {data['steps']}" if data["steps"] else "the run"
    steps = data["steps"] or 1
    print_recorded(data["recorded"], steps)
    for scale in data["scales"]:
        print_scale(scale, data["recorded"]["classes"], steps, data["machine"])
    print_run(data, unit, steps)
    for scale in data["scales"]:
        print_rules(scale)


def heading(text):
    out.print(f"\n{text}", style="bold", soft_wrap=True)


def note(text):
    out.print(text, style="dim", soft_wrap=True)


def named(c, classes):
    """'row', or 'row 4:16' where another communicator has this name and size."""
    name = word(c["communicator"]) or "-"
    mine = [o for o in classes if o["communicator"] == c["communicator"]]
    mine = {o["stride"] for o in mine if o["processes"] == c["processes"]}
    return f"{name} {c['processes']}:{c['stride']}" if len(mine) > 1 else name


def amount(c):
    return "-" if c["collective"] == "barrier" else format_amount(c["bytes"])


def number(calls):
    return f"{calls:.0f}" if calls >= 9.95 or calls == round(calls) else f"{calls:.2g}"


def time(seconds):
    return "-" if seconds is None else time_words(seconds)


def ratio(part, whole):
    if part is None or not whole:
        return "-"
    found = part / whole
    return f"{found:.2f}" if found >= 0.095 else f"{found:.1g}"


def remark(c, machine):
    """What is no difference by such simulated times."""
    p2p, best, fit = time_of(c, "p2p"), time_of(c, c["best"]), machine.get("fit")
    if fit and p2p and best < p2p and p2p - best < fit["median"] * p2p:
        return "a difference below the error"
    return ""


def print_recorded(found, steps):
    heading("A call, mean of the ranks: recorded, and simulated at the same scale")
    made = table(
        *("collective", "communicator", ">bytes", ">calls", "ran", ">recorded", ">waiting"),
        *("simulated as", ">simulated time", ">by recorded", ""),
    )
    for c in found["classes"]:
        made.add_row(
            c["collective"],
            f"{named(c, found['classes'])} ({c['processes']})",
            amount(c),
            number(c["calls"] / steps),
            word(c["ran"]),
            time(c["recorded_s"]),
            time(c["waiting_s"]),
            c["simulated_as"],
            time(c["simulated_s"]),
            ratio(c["simulated_s"], c["recorded_s"]),
            c["refused"] or "",
        )
    show(made)
    for why in dict.fromkeys(left["why"] for left in found["left_out"]):
        note(left_out([left for left in found["left_out"] if left["why"] == why], steps))


def left_out(classes, steps):
    """What was not simulated, for one reason."""
    names = [
        f"{c['collective']} of {format_amount(c['bytes'])} bytes on"
        f" {word(c['communicator']) or '-'} ({c['processes']})"
        for c in classes
    ]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    seconds = time(sum(c["recorded_s"] for c in classes) / steps)
    return f"not simulated, {seconds}: {classes[0]['why']}: {', '.join(names[:SHOWN])}{more}"


def print_scale(scale, then, steps, machine):
    heading(f"Simulated time of a call at {counted(scale['ranks'], 'rank')}, mean of the ranks")
    made = table(
        *("collective", "communicator", ">bytes", ">calls", ">waiting", ">p2p", ">hier", "best"),
        *(">its time", ">by p2p", ""),
    )
    for old, c in zip(then, scale["classes"]):
        p2p, best = time_of(c, "p2p"), time_of(c, c["best"])
        made.add_row(
            c["collective"],
            f"{named(old, then)} ({old['processes']} -> {c['processes']})",
            amount(c) if amount(old) == amount(c) else f"{amount(old)} -> {amount(c)}",
            number(c["calls"] / steps),
            time(c["waiting_s"]),
            time(p2p),
            time(time_of(c, "hier")),
            c["best"] or "-",
            time(best),
            ratio(best, p2p),
            remark(c, machine),
        )
    show(made)
    note("waiting: for late ranks, a part of each time beside it; none where it is unknown")
    for collective in dict.fromkeys(c["collective"] for c in scale["classes"]):
        print_candidates([c for c in scale["classes"] if c["collective"] == collective], then)
    for reason in refusals(scale["classes"]):
        note(f"not simulated: {reason}")


def print_candidates(classes, then):
    """All implementations of a collective."""
    names = [t["implementation"] for t in classes[0]["times"]]
    names = [n for n in names if n not in PRESETS]
    if not names:
        return
    made = table(f"{classes[0]['collective']}, simulated", ">bytes", *(f">{n}" for n in names))
    for c in classes:
        times = [time(time_of(c, n)) for n in names]
        made.add_row(f"{named(c, classes)} ({c['processes']})", amount(c), *times)
    out.print("")
    show(made)


def refusals(classes):
    """What was refused, and why, each reason once."""
    found = {}
    for c in classes:
        for t in c["times"]:
            if t["refused"]:
                what = f"{c['collective']} {t['implementation']} of {amount(c)} bytes"
                found.setdefault(t["refused"], []).append(what)
    return [f"{', '.join(what)}: {why}" for why, what in found.items()]


def print_run(data, unit, steps):
    recorded, run = data["recorded"], data["recorded"]["run"]
    heading(f"Time of a rank in {unit}")
    made = table("", "implementations", ">outside", ">these calls", ">other calls", ">together")

    def row(what, implementations, *seconds):
        made.add_row(what, implementations, *(time(s if s is None else s / steps) for s in seconds))

    outside, others = run["outside_s"], run["left_out_s"]
    ranks = f"{counted(recorded['ranks'], 'rank')}"
    row(f"recorded, {ranks}", "those of the run", outside, run["classes_s"], others, run["wall_s"])
    simulated = run["simulated_classes_s"], others, run["simulated_wall_s"]
    row(f"simulated, {ranks}", "as above", outside, *simulated)
    for scale in data["scales"]:
        for name, seconds in (
            ("p2p", scale["run"]["p2p_s"]),
            ("hier", scale["run"]["hier_s"]),
            ("the best of each", scale["run"]["best_s"]),
        ):
            other, all_ = scale["run"]["outside_s"], seconds
            together = None if all_ is None else other + all_
            simulated = f"simulated, {counted(scale['ranks'], 'rank')}"
            row(simulated, name, other, seconds, None, together)
    show(made)
    note("outside: recorded time that is not in collectives, scaled; it is not simulated")
    note("simulated calls are not compared with the MPI's own: what those cost there is not known")
    if others:
        note("other calls: those that were not simulated; other numbers of ranks are without them")


def print_rules(scale):
    heading(f"Rules for the best of each by simulated times, {counted(scale['ranks'], 'rank')}")
    for rule in scale["rules"]:
        out.print(word(rule), soft_wrap=True)
