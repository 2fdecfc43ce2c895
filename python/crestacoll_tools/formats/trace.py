# SPDX-License-Identifier: BSD-3-Clause
"""The timelines of profiles in the trace event format of Chrome, for Perfetto (ui.perfetto.dev).

A profile has no single calls, but the time that each rank, or group of neighbours, spends in
collectives in each bin of time. So a slice is as long as that time, and begins where its bin does.
"""

import json
import math

from crestacoll_tools.base.text import counted, encodable, visible
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.profile import profiles

BUSY, WAITING = "in collectives", "waiting for the last rank"
SHARES = "share of the time of a rank (%)"


def render(sources):
    """A process for each profile, a thread for each rank or group of ranks."""
    events = [event for pid, s in enumerate(sources, 1) for event in events_of(s, pid)]
    kept = {"traceEvents": events, "displayTimeUnit": "ms", "otherData": {"about": ABOUT}}
    # One event a line: readable, and half the size of an indented file.
    head, tail = json.dumps(kept | {"traceEvents": []}).split("[]", 1)
    return f"{head}[\n" + ",\n".join(map(json.dumps, events)) + f"\n]{tail}\n"


ABOUT = (
    "Profiles have times in bins, not single calls: a slice is as long as the time in collectives"
    " in a bin, and begins where the bin does."
)


def events_of(source, pid):
    line = timeline(source)
    yield named("process", pid, None, title(source))
    yield sorted_as("process", pid, None, pid)
    for row in line["rows"]:
        tid = row["rank"]
        yield named("thread", pid, tid, label(row))
        yield sorted_as("thread", pid, tid, tid)
        yield from slices(row, line["bin_us"], {"pid": pid, "tid": tid})
    yield from counters(line, {"pid": pid})


def timeline(source):
    if source.data["timeline"] is None:
        raise Problem(f"{source.name} has no timeline, which a trace shows")
    return source.data["timeline"]


def title(source):
    data = source.data
    return f"{source.name}: {counted(data['ranks'], 'rank')}, {profiles.mpi_name(data)}"


def label(row):
    if row["ranks"] == 1:
        return f"rank {row['rank']}"
    return f"ranks {row['rank']} to {row['rank'] + row['ranks'] - 1}, mean"


def metadata(kind, pid, tid, args):
    where = {"pid": pid} if tid is None else {"pid": pid, "tid": tid}
    return {"ph": "M", "name": kind, **where, "args": args}


def named(what, pid, tid, name):
    return metadata(f"{what}_name", pid, tid, {"name": visible(encodable(name))})


def sorted_as(what, pid, tid, number):
    return metadata(f"{what}_sort_index", pid, tid, {"sort_index": number})


def ticks(us):
    """A time that stays exact in sums and as nanoseconds, lest slices overlap: eighths."""
    return math.floor(8 * us) / 8


def slices(row, bin_us, where):
    """Complete events of a rank; the time before the last rank has come is a part of the rest."""
    for i, (busy, waiting) in enumerate(zip(row["busy_us"], row["waiting_us"], strict=True)):
        start = ticks(i * bin_us)
        length = min(ticks(busy), ticks((i + 1) * bin_us) - start)
        if not length:
            continue
        at = {"ph": "X", "cat": "collective", "ts": start, **where}
        shown = {"bin": i, "bin_us": bin_us} | ({"waiting": "not known"} if waiting is None else {})
        yield at | {"name": BUSY, "dur": length, "args": shown}
        if ticks(waiting or 0):
            yield at | {"name": WAITING, "dur": min(ticks(waiting), length), "args": {"bin": i}}


def counters(line, where):
    """How much of the time of a rank each collective takes, mean over all ranks: a counter each."""
    bin_us = line["bin_us"]
    for name, bins in line["collectives_us"].items():
        at = {"ph": "C", "name": f"{visible(encodable(name))}: {SHARES}", **where}
        for i, us in enumerate([*bins, 0.0]):
            yield at | {"ts": ticks(i * bin_us), "args": {"%": round(100 * us / bin_us, 3)}}
