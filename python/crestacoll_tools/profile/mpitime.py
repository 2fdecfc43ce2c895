# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a run goes, by the member `calls` of a profile: all that the ranks do in the
MPI, and what is left.
"""

from crestacoll_tools.base.sizes import format_amount
from crestacoll_tools.base.text import counted, word
from crestacoll_tools.base.ui import out, show as show_table, table
from crestacoll_tools.profile import efficiency, origin, profiles, sites
from crestacoll_tools.profile.profiles import percent, seconds

OUTSIDE = "outside MPI"
COLLECTIVES, MESSAGES = "collectives", "point-to-point"
RMA, FILES, SET_UP = "one-sided (RMA)", "files (MPI-IO)", "set-up and end"
SEVERAL, SUSPENDED = "waits for requests of several kinds", "not recorded (MPI_Pcontrol)"
WAITING, ITSELF, EITHER = "waiting for the last rank", "themselves", "waiting or not: not known"
BEGUN = "begun ones: start, test, wait"

# Group and line of each part; waits and tests belong to what they wait for.
LINES = {
    "collective": (COLLECTIVES, None),
    "begin": (COLLECTIVES, BEGUN),
    "send": (MESSAGES, "sends"),
    "receive": (MESSAGES, "receives, probes and waits"),
    "start": (MESSAGES, "starts and tests"),
    "begin-flush": (MESSAGES, "starts and tests"),
    "request": (MESSAGES, "starts and tests"),
    "rma": (RMA, "transfers"),
    "synchronize": (RMA, "synchronization"),
    "io": (FILES, "data"),
    "begin-io": (FILES, "begun ones: start, test, wait"),
    "file": (FILES, "opening, closing, views"),
    "job": (SET_UP, "MPI_Init and MPI_Finalize"),
    "communicator": (SET_UP, "communicators"),
    "begin-communicator": (SET_UP, "communicators"),
    "window": (SET_UP, "windows"),
    "control": (SET_UP, "communicators"),
}
WAITED = {
    "collectives": (COLLECTIVES, BEGUN),
    "io": LINES["begin-io"],
    "rma": LINES["rma"],
    "communicators": LINES["communicator"],
    "several": (SEVERAL, None),
}
LINE_ORDER = list(
    dict.fromkeys([WAITING, ITSELF, EITHER, *(line for _, line in LINES.values() if line)])
)
ORDER = [OUTSIDE, COLLECTIVES, MESSAGES, RMA, FILES, SET_UP, SEVERAL, SUSPENDED]


def line_of(call):
    """(group, line) of a row of the list."""
    if call["part"] in ("wait", "test", "request") and call["requests"] != "messages":
        return WAITED[call["requests"]]
    if call["part"] == "wait":
        return LINES["receive"]
    return LINES["start" if call["part"] == "test" else call["part"]]


def of_job(call, ranks):
    """Its time as a mean over all ranks of the job."""
    return call["time_us"]["mean"] * call["ranks"] / ranks


def split_collectives(data, total):
    """{line: us} of the time in blocking collectives: the records know how much of theirs is
    waiting, and a rank alone waits for nobody. What they do not have is the set-up of communicators
    by crestacoll. They alone have the collectives of a program that is statically linked to
    crestacoll.
    """
    recorded = known = waiting = 0.0
    for r in data["records"]:
        if r["mode"] != "blocking":
            continue
        share = r["ranks"] / data["ranks"]
        recorded += share * r["time_us"]["mean"]
        if r["wait_us"]:
            known += share * r["time_us"]["mean"]
            waiting += share * min(r["wait_us"]["mean"], r["time_us"]["mean"])
        elif r["processes"] == 1:
            known += share * r["time_us"]["mean"]
    total = max(total, recorded)
    if data["ranks"] == 1:
        return {ITSELF: total}
    scale = min(1.0, total / known) if known else 0.0
    return {
        WAITING: scale * waiting,
        ITSELF: scale * (known - waiting),
        EITHER: max(0.0, total - scale * known),
    }


def picture(data):
    """[(group, us, {line: us})], which add up to the run, means over the ranks: what the thread
    that called MPI_Init does.
    """
    groups = {group: {} for group in ORDER}
    for call in data["calls"]["list"]:
        if call["main_thread"]:
            group, line = line_of(call)
            us = of_job(call, data["ranks"])
            groups[group][line] = groups[group].get(line, 0.0) + us
    blocking = groups[COLLECTIVES].pop(None, 0.0)
    groups[COLLECTIVES] = split_collectives(data, blocking) | groups[COLLECTIVES]
    groups[SUSPENDED] = {None: data["calls"]["suspended_us"]}
    sums = {group: sum(lines.values()) for group, lines in groups.items()}
    sums[OUTSIDE] = max(0.0, data["calls"]["wall_us"]["mean"] - sum(sums.values()))
    ordered = {g: {k: us[k] for k in LINE_ORDER if us.get(k, 0) > 0} for g, us in groups.items()}
    return [(group, sums[group], ordered[group]) for group in ORDER if sums[group] > 0]


def shares(parts):
    """Percentages with one digit that add up to 100.0."""
    total = sum(parts) or 1.0
    tenths = [1000 * part / total for part in parts]
    rounded = [int(t) for t in tenths]
    missing = 1000 - sum(rounded) if any(parts) else 0
    for i in sorted(range(len(parts)), key=lambda i: rounded[i] - tenths[i])[:missing]:
        rounded[i] += 1
    return [r / 10 for r in rounded]


def other_threads(data):
    """Their time in the MPI, mean over the ranks."""
    return sum(of_job(c, data["ranks"]) for c in data["calls"]["list"] if not c["main_thread"])


def cells(data):
    """[(group, seconds, of run, [(line, seconds, of run)])] as text."""
    groups = picture(data)
    wall = sum(us for _, us, _ in groups)
    return [
        (
            group,
            f"{us / 1e6:.3f}",
            f"{share:.1f} %",
            [(line, f"{part / 1e6:.3f}", percent(part, wall)) for line, part in lines.items()],
        )
        for (group, us, lines), share in zip(
            groups, shares([us for _, us, _ in groups]), strict=True
        )
    ]


def threads_beside(data):
    """A sentence on threads that are not in the picture; "" if there are none."""
    others = other_threads(data)
    return others and (
        f"Other threads (up to {data['calls']['threads'] - 1} of a rank) spent {seconds(others)} of"
        " a rank in MPI, beside this."
    )


def ahead(data):
    """A sentence for each file that may keep calls from being counted. A file that crestacoll has
    seen to hand one of its functions on hands on all of them.
    """
    calls = data["calls"]
    files = {}
    for name, path in calls.get("ahead", {}).items():
        files.setdefault(path, []).append(name)
    for call in calls["list"]:
        path = call["site"] and calls["modules"][call["site"][0]]["path"]
        if call["call"] in files.get(path, []):
            del files[path]
    return [
        f"{word(path)} defines {some_of(names)} ahead of crestacoll: calls that it does not hand"
        " on are not counted, and their time is outside MPI here."
        for path, names in files.items()
    ]


def some_of(names):
    """'MPI_Recv, MPI_Send, MPI_Wait and 26 more'"""
    more = len(names) - 3
    return ", ".join(names[:3]) + (f" and {more} more" if more > 0 else "")


def notes(data):
    """Sentences on what the picture does not show."""
    return [sentence for sentence in (threads_beside(data), *ahead(data)) if sentence]


def show_picture(data):
    """Ten lines: where the time of a rank goes."""
    made = table(*PICTURE)
    for group, time, share, lines in cells(data):
        made.add_row(group, time, share)
        for line, part, of_run in lines:
            made.add_row(f"  {line}", part, f"({of_run})")
    show_table(made)
    for sentence in notes(data):
        out.print(sentence, soft_wrap=True)


def show_efficiency(data):
    """How well the ranks share the work; nothing where that is not known."""
    made = table(*efficiency.HEADS)
    for depth, name, value in efficiency.cells(data):
        made.add_row("  " * depth + name, value)
    if made.row_count:
        out.print()
        show_table(made)
        for sentence in efficiency.notes(data):
            out.print(sentence, soft_wrap=True)
        out.print(efficiency.LEGEND, style="dim", soft_wrap=True)


DISTANCES = {None: "-", "node": "on node", "between": "between", "unknown": "not known"}
HEADS = ("call", "where", ">calls", ">bytes", ">a call", ">longest", ">time", ">max", ">of run")
PICTURE = ("time of a rank", ">seconds", ">of run")


LEGEND = (
    "calls: of the rank with the most; bytes: of a call, as sent, or as the receiver has room for"
    "{}; time: mean over all ranks; max: of one rank"
)


def legend(data):
    return LEGEND.format(" (collectives: below)" if data["records"] else "")


def heads(data):
    """The heads of the table of calls, with `peer` if some are on other nodes, or may be."""
    several = any(c["distance"] in ("between", "unknown") for c in data["calls"]["list"])
    return (*HEADS, "peer") if several else HEADS


def lines_of_calls(data, top=None):
    """The cells of each row of the list, the most expensive first, and where its peer is."""
    ranks, wall = data["ranks"], data["calls"]["wall_us"]["mean"]
    calls = sorted(data["calls"]["list"], key=lambda c: -of_job(c, ranks))[:top]
    places = sites.Places(data["calls"]["modules"], calls)
    for c in calls:
        t = c["time_us"]
        yield (
            c["call"].removeprefix("MPI_") + ("" if c["main_thread"] else " (thread)"),
            word(places.name(c["site"])),
            str(c["calls_max"]),
            format_amount(c["bytes"] // c["calls"]) if c["bytes"] else "-",
            seconds(t["mean"] * c["ranks"] / c["calls"]),
            seconds(t["longest"]),
            seconds(of_job(c, ranks)),
            seconds(t["max"]),
            percent(of_job(c, ranks), wall),
            DISTANCES[c["distance"]],
        )


def show_calls(data, top=None):
    """The calls, by function and place."""
    made = table(*heads(data))
    for cells_of_call in lines_of_calls(data, top):
        made.add_row(*cells_of_call[: len(heads(data))])
    show_table(made)
    more = len(data["calls"]["list"]) - (top or len(data["calls"]["list"]))
    if more > 0:
        out.print(f"... and {more} more (--all)")
    out.print(legend(data), style="dim", soft_wrap=True)


def share_in_mpi(data):
    """'91.4 %'"""
    sums = {group: us for group, us, _ in picture(data)}
    inside = sum(us for group, us in sums.items() if group not in (OUTSIDE, SUSPENDED))
    return percent(inside, sum(sums.values()))


def as_json(data):
    """The picture, and the calls with their places."""
    calls = sorted(data["calls"]["list"], key=lambda c: -of_job(c, data["ranks"]))
    places = sites.Places(data["calls"]["modules"], calls)
    return {
        "mpi_time": [
            {"group": group, "us": us, "lines": lines} for group, us, lines in picture(data)
        ],
        "calls": [c | {"site": places.name(c["site"]) if c["site"] else None} for c in calls],
        **efficiency.as_json(data),
    }


def heading(data):
    """'4 ranks, 16 s, Open MPI v4.1.4: 53.1 % of the time in MPI'"""
    return (
        f"{counted(data['ranks'], 'rank')}, {seconds(data['calls']['wall_us']['mean'])},"
        f" {profiles.mpi_name(data)}: {share_in_mpi(data)} of the time in MPI"
    )


def show(data, top=None):
    """What a profile says: what it is of, where the time goes and all calls, if it has them;
    collectives.
    """
    for line in origin.lines(data):
        out.print(line, soft_wrap=True)
    if "calls" in data:
        out.print(heading(data), soft_wrap=True)
        show_picture(data)
        show_efficiency(data)
        out.print()
        show_calls(data, top)
        out.print()
    profiles.show(data, top)
