# SPDX-License-Identifier: BSD-3-Clause
"""Who is the odd one out: what follows from the answers of a roll-call, in one sentence, and what
to look at.
"""

from dataclasses import dataclass, field

from crestacoll_tools.base.text import counted
from crestacoll_tools.rollcall import words

IN_COLLECTIVE = ("collective", "set-up")


@dataclass
class Verdict:
    """`odd`: the processes that differ; `sentence` names them; `hint` says what to look at."""

    sentence: str
    odd: list = field(default_factory=list)
    hint: str = ""


def where(process):
    """The stay that a process is in now; None if it is in no call."""
    thread = process.thread if process.state == "there" else None
    return thread.now if thread is not None and thread.inside else None


def said(processes):
    """The call that processes are in, with the place in the program if that is one for all."""
    there = {words.at(p.thread) for p in processes}
    return words.call(where(processes[0])) + (there.pop() if len(there) == 1 else "")


def comm_key(process, stay):
    """What is the same for the ranks of one communicator."""
    if stay.comm_id is None or stay.comm_id.startswith("0."):
        return (process.world, stay.comm, stay.comm_size, tuple(stay.members or ()))
    return (stay.comm_id, stay.comm_size)


def call_key(process, stay):
    return (comm_key(process, stay), stay.call, stay.number, stay.root, stay.op, stay.bytes)


def groups(processes):
    """Lists of processes in the same collective, the most first."""
    found = {}
    for p in processes:
        stay = where(p)
        if stay is not None and stay.kind in IN_COLLECTIVE:
            found.setdefault(call_key(p, stay), []).append(p)
    return sorted(found.values(), key=lambda g: (-len(g), g[0].rank))


def is_whole(group):
    return len(group) >= (where(group[0]).comm_size or 0)


def belongs(process, stay):
    """Whether a process is a rank of the communicator of a stay, as far as that is known."""
    return stay.members is None or (not process.spawned and process.rank in stay.members)


def same_comm(reference, process, stay):
    return comm_key(reference, where(reference)) == comm_key(process, stay)


def differs(reference, process):
    """How a process differs from one in the collective that most are in."""
    the, stay = where(reference), where(process)
    thread = process.thread
    if process.state != "there":
        return words.NOWHERE[process.state]
    if stay is None:
        last = "; its last call was " if thread and thread.now.call else ""
        last += words.call(thread.now) + words.at(thread) if last else ""
        sees = thread is not None and thread.all_seen
        return (
            "has not arrived there: it computes"
            + ", or is in a call that crestacoll does not see" * (not sees)
            + last
        )
    if stay.kind == "finalize":
        return "is in MPI_Finalize"
    if stay.kind not in IN_COLLECTIVE:
        return f"has not arrived there: it waits in {said([process])}"
    if not same_comm(reference, process, stay):
        return f"is in {said([process])}: another communicator"
    if stay.call != the.call:
        return f"calls {said([process])}"
    if stay.number != the.number and None not in (stay.number, the.number):
        behind = the.number - stay.number
        how = "behind" if behind > 0 else "ahead"
        return f"is {abs(behind)} call{'s' * (abs(behind) > 1)} {how}: in {said([process])}"
    here = words.at(thread)
    if stay.root != the.root:
        return f"names root {stay.root}{here}, the others root {the.root}"
    if stay.op != the.op:
        return f"reduces by {stay.op}{here}, the others by {the.op}"
    return f"has {counted(stay.bytes, 'byte')}{here}, the others {the.bytes}"


def gathered(reference, others):
    """[(processes that differ in the same way, how)]"""
    found = {}
    for p in others:
        found.setdefault(differs(reference, p), []).append(p)
    return [(ranks, how) for how, ranks in found.items()]


HINTS = {
    "computes": (
        "look at where it is: gdb -p PID -batch -ex 'thread apply all bt' on its host (py-spy dump"
        " --pid PID for Python)"
    ),
    "mismatch": (
        "look for the branch of the program that leads ranks to different calls;"
        " CRESTA_DEBUG=match compares every call before it can hang"
    ),
    "calls": "look for the branch of the program that leads ranks to different calls",
    "message": "check which rank should send or receive that message, and with which tag",
    "same": (
        "the calls agree: try --impl '*=mpi'; if the program then ends, suspect the implementation"
        " first, otherwise the network and the MPI"
    ),
    "gone": "look at the output of the rank that ended, and at its exit code",
}


def hint_for(process):
    stay = where(process)
    if process.state in ("ended", "finalized"):
        return HINTS["gone"]
    if process.state != "there" or stay is None:
        return HINTS["computes"].replace("PID", str(process.pid or "PID"))
    if stay.kind == "other":
        return HINTS["calls"]
    return HINTS["mismatch" if stay.kind in IN_COLLECTIVE else "message"]


def of_tie(ours, others):
    """Two halves: neither is the odd one."""
    return Verdict(
        f"the ranks are not in the same call: {words.who(ours)} in"
        f" {said(ours)}, {words.who(others)} in {said(others)}",
        [*ours, *others],
        HINTS["mismatch"],
    )


def of_collective(processes, found):
    """From the collective that lacks ranks, the largest group first."""
    group = next((g for g in found if not is_whole(g)), None)
    if group is None:
        return of_whole(found[0])
    reference = group[0]
    the = where(reference)
    others = [p for p in processes if p not in group and belongs(p, the)]
    rivals = [g for g in found if g is not group and len(g) == len(group)]
    if len(others) == len(group) and any(all(p in g for p in others) for g in rivals):
        return of_tie(group, others)
    if not others:
        missing = (the.comm_size or 0) - len(group)
        return Verdict(
            f"missing in {said(group)}: {missing} of {the.comm_size} ranks, and no process that"
            " answered belongs to them",
            [],
            HINTS["gone"],
        )
    parts = [
        f"{words.who(ranks)} {words.of_all(ranks, how)}"
        for ranks, how in gathered(reference, others)
    ]
    sentence = f"{words.who(group)} wait in {said(group)}; " + "; ".join(parts)
    if len(group) == 1:
        sentence = sentence.replace(" wait in", " waits in", 1)
    return Verdict(sentence, others, hint_for(others[0]))


def of_whole(group):
    """All ranks are in the same call."""
    rounds = [p for p in group if p.thread.rounds]
    late = min(rounds, key=lambda p: p.thread.round, default=None)
    sentence = f"all ranks of the communicator are in {said(group)}"
    if late is not None and late.thread.round < max(p.thread.round for p in rounds):
        sentence += f"; {words.who([late])} is the furthest behind{words.step(late.thread)}"
        return Verdict(sentence, [late], HINTS["same"])
    return Verdict(sentence, [], HINTS["same"])


def waits_on(process):
    """The rank in MPI_COMM_WORLD that a process waits for in a message; None if unknown."""
    stay = where(process)
    if stay is None or stay.kind != "message":
        return None
    word = stay.source if stay.source is not None else stay.to
    if word is None or not word.isdigit():
        return None
    there = int(word)
    return stay.members[there] if stay.members and there < len(stay.members) else None


def circle(processes):
    """Ranks that wait for each other in turn; [] if there are none."""
    by_rank = {p.rank: p for p in processes if not p.spawned}
    for start in by_rank:
        path = []
        while start in by_rank and start not in path:
            path.append(start)
            start = waits_on(by_rank[start])
        if start in path:
            return [by_rank[r] for r in path[path.index(start) :]]
    return []


def is_at(processes, place):
    """'are in MPI_Win_create', 'have never answered'"""
    if processes[0].state != "there":
        return words.of_all(processes, place)
    return f"{'is' if len(processes) == 1 else 'are'} {place}"


def of_other_calls(processes):
    """From the call of windows, files or communicators that most ranks are in."""
    calls = {}
    for p in processes:
        if where(p) and where(p).kind == "other":
            calls.setdefault(where(p).call, []).append(p)
    group = max(calls.values(), key=len)
    places = {}
    for p in (p for p in processes if p not in group):
        places.setdefault(words.place(p), []).append(p)
    parts = [f"{words.who(ranks)} {is_at(ranks, at)}" for at, ranks in places.items()]
    sentence = f"{words.who(group)} {is_at(group, 'in ' + said(group))}"
    others = [p for ranks in places.values() for p in ranks]
    return Verdict("; ".join([sentence, *parts]), others, hint_for(others[0]) if others else "")


def of_messages(processes):
    ring = circle(processes)
    if ring:
        path = " -> ".join(str(p.rank) for p in [*ring, ring[0]])
        return Verdict(
            f"ranks wait for each other in a circle: {path}; rank {ring[0].rank} in"
            f" {said(ring[:1])}",
            ring,
            HINTS["message"],
        )
    waiting = [p for p in processes if where(p) and where(p).kind in ("message", "requests")]
    if any(where(p) and where(p).kind == "other" for p in processes):
        return of_other_calls(processes)
    if not waiting:
        gone = [p for p in processes if p.state in ("ended", "silent")]
        if gone:
            return Verdict(f"{words.who(gone)} {words.NOWHERE[gone[0].state]}", gone,
                           hint_for(gone[0]))
        return Verdict("no rank waits in a call that crestacoll sees")
    others = [p for p in processes if p not in waiting]
    sentence = f"{words.who(waiting[:1])} waits in {said(waiting[:1])}"
    if others:
        sentence += f"; {words.who(others)} " + (
            "is" if len(others) == 1 else "are"
        ) + " in no such call"
    return Verdict(sentence, others, HINTS["message"])


def of_begun(processes):
    """Ranks that wait for requests, and began unlike collectives in the same place; None if there
    are none.
    """
    places = {}
    for p in processes:
        stay = where(p)
        begun = p.thread.begun if stay is not None and stay.kind == "requests" else None
        if begun is not None:
            what = (begun.call, begun.root, begun.op, begun.bytes)
            calls = places.setdefault((comm_key(p, begun), begun.number), {})
            calls.setdefault(what, []).append(p)
    for calls in places.values():
        ranks = sorted(calls.values(), key=len)
        if len(ranks) > 1:
            few, many = ranks[0], ranks[-1]
            return Verdict(
                f"{words.who(few)} began {words.call(few[0].thread.begun)}, where"
                f" {words.who(many)} began {words.call(many[0].thread.begun)}; they wait in"
                f" {where(few[0]).call}",
                [*few, *many] if len(few) == len(many) else few,
                HINTS["mismatch"],
            )
    return of_lacking(processes, [group for calls in places.values() for group in calls.values()])


def of_lacking(processes, begun):
    """From the collective that most wait for, if ranks have not begun it; None otherwise."""
    group = max(begun, key=len, default=[])
    stay = group[0].thread.begun if group else None
    others = [p for p in processes if p not in group and stay and belongs(p, stay)]
    if not others or len(group) >= (stay.comm_size or 0):
        return None
    parts = [f"{words.who([p])} has not begun it: {words.place(p)}" for p in others]
    return Verdict(
        f"{words.who(group)} began {words.call(stay)}, and wait{'s' * (len(group) == 1)} for it in"
        f" {where(group[0]).call}; " + "; ".join(parts),
        others,
        hint_for(others[0]),
    )


def verdict(processes):
    """The verdict on all processes of the job that are known."""
    found = groups(processes)
    if found:
        return of_collective(processes, found)
    return of_begun(processes) or of_messages(processes)
