# SPDX-License-Identifier: BSD-3-Clause
"""What the black boxes of a job say, in words."""

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

from crestacoll_tools.autopsy import jobs
from crestacoll_tools.autopsy.box import KINDS, Counted
from crestacoll_tools.autopsy.ends import STOPPED
from crestacoll_tools.base.text import counted, visible
from crestacoll_tools.base.ui import out
from crestacoll_tools.profile import mpitime, sites
from crestacoll_tools.profile.profiles import seconds
from crestacoll_tools.rollcall import words

SHOWN = 40  # places


class Names:
    """Places of the boxes of a job in words."""

    def __init__(self, addresses):
        """addresses: [(box, address)]"""
        self.modules, self.found = {}, {}
        for box, address in addresses:
            self.number(box, address)
        listed = [
            {"path": path, "build_id": build_id, "function": function}
            for path, build_id, function in self.modules
        ]
        self.list = listed
        asked = [{"site": site} for site in self.found.values() if site]
        self.places = sites.Places(listed, asked)

    def number(self, box, address):
        """[module, offset], as in a profile; None if it is in no file."""
        place = box.place(address)
        if place is None:
            self.found[(id(box), address)] = None
            return
        number = self.modules.setdefault(place[:3], len(self.modules))
        self.found[(id(box), address)] = [number, place[3]]

    def site(self, box, address):
        return self.found.get((id(box), address))

    def at(self, box, call):
        """', at solver.c:120 step'; '' if that is not known."""
        site = self.site(box, call.site)
        return f", at {self.places.name(site)}" if site else ""


def names_of(job):
    """Those of what each thread was in, and of its last call."""
    threads = [(box, thread) for box in job.boxes for thread in box.threads]
    calls = [(b, c) for b, t in threads for c in (t.now, t.before) if c]
    return Names([(box, call.site) for box, call in calls])


def nowhere(box):
    """How sure it is that a process is in no call."""
    if box.ahead:
        return f"or in a call that {Path(box.ahead).name} did not hand on"
    return "in no call of the MPI"


def where(names, box):
    """What a process was in, without times: the same for processes in the same place."""
    thread = box.thread
    if thread is None and box.rank >= 0:
        text = "it is not known where: there was no room for its calls"
    elif thread is None:
        text = "computing, before its first call of the MPI"
    elif thread.now:
        text = f"in {thread.now.name}{names.at(box, thread.now)}"
    else:
        last = thread.before
        text = f"computing, {nowhere(box)}; the last was {last.name}{names.at(box, last)}"
    for other in box.others[:2]:
        text += f"; another thread in {other.now.name}{names.at(box, other.now)}"
    return text


def since(job, box):
    """For how many seconds its main thread has been there; None if that is not known."""
    thread = box.thread
    if thread is None:
        return None
    return max(0.0, job.until(box) - (thread.now.start if thread.now else thread.before.end))


def span(times, known):
    """', for 58.2 s', ', for 3.1 to 58.2 s'; `known`: until when, else they are the least."""
    times = [t for t in times if t is not None]
    if not times:
        return ""
    low, high = seconds(1e6 * min(times)), seconds(1e6 * max(times))
    return f", for {'' if known else 'at least '}" + (low if low == high else f"{low} to {high}")


def ranks_of(boxes):
    """'ranks 0-2', 'process 4711 on node7'"""
    ranks = [b.rank for b in boxes if b.rank >= 0 and not b.spawned]
    parts = [f"rank{'s' * (len(ranks) > 1)} {words.ranges(ranks)}"] if ranks else []
    for b in boxes:
        if b.rank < 0:
            parts.append(f"process {b.pid} on {b.host} (not yet through MPI_Init)")
        elif b.spawned:
            parts.append(f"rank {b.rank} of a spawned world (process {b.pid} on {b.host})")
    return ", ".join(parts)


def missing_of(job):
    """The ranks that have no box here."""
    return sorted(set(range(job.ranks)) - {b.rank for b in job.boxes if not b.spawned})


def lines_of_places(job):
    """A line for each place in which processes are."""
    names, places, told = names_of(job), {}, []
    for box in job.boxes:
        places.setdefault(where(names, box), []).append(box)
    ordered = sorted(places.items(), key=lambda item: -len(item[1]))
    for place, boxes in ordered[:SHOWN]:
        times = span([since(job, b) for b in boxes], all(map(job.is_known, boxes)))
        told.append(f"    {ranks_of(boxes)}: {place}{times}")
    if len(ordered) > SHOWN:
        told.append(f"    and {len(ordered) - SHOWN} other places")
    return told


def seen_to_end(job):
    """[(End, box)] of the processes whose end `run` has seen, in the order in which the system told
    of them: whose connections others see closed first may be told of later.
    """
    own = {b.pid: b for b in job.boxes if b.host == job.ends.host}
    seen = [(end, own[pid]) for pid, end in job.ends.found.items() if pid in own]
    return sorted(seen, key=lambda pair: (pair[0].order, pair[1].rank))


def lines_of_ends(job):
    """By what processes ended; [] if nothing is known."""
    by_cause, seen = {}, seen_to_end(job)
    for end, box in [*(p for p in seen if p[0].is_own), *(p for p in seen if not p[0].is_own)]:
        by_cause.setdefault(end.how, []).append(box)
    parts = [f"{ranks_of(boxes)}: {how}" for how, boxes in by_cause.items() if how]
    if job.ends.for_memory:
        killed = counted(job.ends.for_memory, "process")
        parts.append(f"for lack of memory the system ended {killed} of this host meanwhile")
    return [f"crestacoll: {'; '.join(parts)}"] if parts else []


def still(job, span_s):
    """For a job that runs, of which no process has come out of a call for so many seconds."""
    told = [
        f"crestacoll: no rank on this host has come out of a call of the MPI for {span_s:.0f} s;"
        " the job goes on. Where they are:",
        *lines_of_places(job),
    ]
    if missing := missing_of(job):
        told.append(f"    {words.ranges(missing)}: no record here: perhaps on another host")
    return visible("\n".join(told)).split("\n")


def lines(job):
    """Where each process was: lines for people."""
    missing = missing_of(job)
    least = "at least " if missing else ""
    of = f"{least}{len(job.boxes)} of {counted(max(job.ranks, len(job.boxes)), 'rank')}"
    told = [
        f"crestacoll: the job runs; {of}:" if job.runs else
        f"crestacoll: {of} did not come to the end of MPI_Finalize; where they were:",
        *lines_of_places(job),
    ]  # fmt: skip
    told += lines_of_ends(job)
    aborted = [b for b in job.boxes if called_abort(b)]
    if aborted:
        told.append(f"crestacoll: {ranks_of(aborted)} called MPI_Abort, which ends the job")
    if missing:
        told.append(
            f"    {words.ranges(missing)}: no record here: through MPI_Finalize, or on another host"
        )
    told += [f"    {why}" for why in job.unread]
    return visible("\n".join(told)).split("\n")


def tell(settings, command, code, ends, shown):
    """After a job of `crestacoll run` that may have left boxes: where its processes were, and how
    they ended, unless a roll-call has `shown` it.
    """
    folder = Path(settings["CRESTA_BLACKBOX"])
    try:
        job = jobs.end(folder, command, code, ends)
        said = [] if job is None or shown else lines(job)
    except Exception as e:  # noqa: BLE001 - whatever it is, the exit code is that of the job
        print(f"crestacoll: cannot say where the processes were: {e}", file=sys.stderr)
        return
    if said:
        said.append("    `crestacoll autopsy` shows their last calls, and where the time went")
        print("\n".join(said), file=sys.stderr, flush=True)


def last_calls(job, box, count):
    """[(function, place, seconds from its begin to the end of the job, seconds that it took; None:
    it was not over)] of the last calls of a process.
    """
    thread = box.thread
    calls = thread.last[-count:] + ([thread.now] if thread.now else []) if thread else []
    names = Names([(box, c.site) for c in calls])
    return [
        (
            call.name,
            names.at(box, call).removeprefix(", at "),
            max(0.0, job.until(box) - call.start),
            call.end - call.start if call.end is not None else None,
        )
        for call in calls
    ]


def odd(job):
    """The process that is to be looked at first: one that called MPI_Abort, that ended by itself,
    the only one that SIGKILL ended in a job that nobody stopped, or one that is not where most are.
    """
    names = names_of(job)
    places = Counter(where(names, b) for b in job.boxes)
    most = places.most_common(1)[0][0]
    aborted = [b for b in job.boxes if called_abort(b)]
    failed = [b for end, b in seen_to_end(job) if end.is_own]
    killed = [b for end, b in seen_to_end(job) if end.signal == "SIGKILL"]
    if len(killed) > 1 or job.ends.stopped or job.code in STOPPED:
        killed = []
    away = [b for b in job.boxes if where(names, b) != most]
    return next(iter([*aborted, *failed, *killed, *away]), job.boxes[0])


def called_abort(box):
    thread = box.thread
    return thread is not None and thread.now is not None and thread.now.name == "MPI_Abort"


def counted_by(thread, until):
    """What a thread has counted, and the call that was not over."""
    call = thread.now
    if call is None:
        return thread.counted
    us = 1e6 * max(0.0, until - call.start)
    same = [c for c in thread.counted if (c.name, c.site) == (call.name, call.site)]
    first = Counted(call.site, call.name, call.part, KINDS[0], None, 0, 0, 0.0, 0.0)
    like = same[0] if same else first
    return [*thread.counted, replace(like, calls=1, bytes=0, us=us, longest=us)]


def profile(job):
    """What was counted until then, as the parts of a profile that mpitime shows."""
    boxes = job.boxes
    threads = [(box, t, job.until(box)) for box in boxes for t in box.threads]
    every = [(box, t, c) for box, t, until in threads for c in counted_by(t, until)]
    names, rows = Names([(box, c.site) for box, _, c in every]), {}
    for box, thread, c in every:
        site = names.site(box, c.site)
        key = (c.name, c.part, c.requests, c.distance, thread.main, site and tuple(site))
        rows.setdefault(key, []).append((box, c))
    listed = [row(key, found) for key, found in rows.items()]
    walls = [1e6 * (job.until(box) - box.begin) for box in boxes]
    calls = {
        "wall_us": {"mean": sum(walls) / len(walls), "min": min(walls), "max": max(walls)},
        "suspended_us": 0.0,
        "threads": max(len(box.threads) for box in boxes),
        "modules": names.list,
        "ahead": {},
        "list": listed,
    }
    return {"ranks": len(boxes), "records": [], "calls": calls}


def row(key, found):
    """A row of a profile's list of calls."""
    name, part, requests, distance, main, site = key
    by_rank = {}
    for box, c in found:
        calls, us = by_rank.get(id(box), (0, 0.0))
        by_rank[id(box)] = (calls + c.calls, us + c.us)
    times = [us for _, us in by_rank.values()]
    return {
        "call": name,
        "part": part,
        "requests": requests,
        "distance": distance,
        "main_thread": main,
        "site": list(site) if site else None,
        "ranks": len(by_rank),
        "calls": sum(c.calls for _, c in found),
        "calls_max": max(calls for calls, _ in by_rank.values()),
        "bytes": sum(c.bytes for _, c in found),
        "time_us": {
            "mean": sum(times) / len(times),
            "min": min(times),
            "max": max(times),
            "longest": max(c.longest for _, c in found),
        },
    }


def data(job, count):
    """As JSON, with so many of the last calls, of schema crestacoll-autopsy-1."""
    names = names_of(job)
    return {
        "schema": "crestacoll-autopsy-1",
        "folder": str(job.folder),
        "command": job.command,
        "exit_code": job.code,
        "ranks": job.ranks,
        "processes": [
            {
                "rank": b.rank,
                "pid": b.pid,
                "host": b.host,
                "place": where(names, b),
                "seconds": since(job, b),
                "end": end_of(job, b),
                "calls": [
                    {"call": call, "site": site or None, "before_end_s": before, "took_s": took}
                    for call, site, before, took in last_calls(job, b, count)
                ],
            }
            for b in job.boxes
        ],
    }


def end_of(job, box):
    """How a process ended, for JSON; None if `run` has not seen it."""
    end = next((end for end, b in seen_to_end(job) if b is box), None)
    if end is None:
        return None
    return {"signal": end.signal, "exit_code": end.exit_code}


def show_time(job, top):
    """Where the time of the ranks went until then."""
    found = profile(job)
    out.print(
        f"{counted(found['ranks'], 'rank')}, {seconds(found['calls']['wall_us']['mean'])} from"
        f" MPI_Init on: {mpitime.share_in_mpi(found)} of the time in MPI",
        soft_wrap=True,
    )
    mpitime.show_picture(found)
    out.print()
    mpitime.show_calls(found, top)
