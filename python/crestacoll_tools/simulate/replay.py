# SPDX-License-Identifier: BSD-3-Clause
"""The calls of a profile, simulated with every implementation, at the profile's number of ranks and
at others. docs/methods.md says what is done, and what is left out.
"""

import dataclasses
import statistics

from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import USAGE, Problem
from crestacoll_tools.explore.arms import Point
from crestacoll_tools.simulate import jobs, shapes, workload

PRESETS = ("p2p", "hier")
DRAWN = 1024  # ranks, at least, whose lateness is drawn: fewer say too little of the mean


@dataclasses.dataclass(frozen=True)
class Asked:
    """What the user asked for."""

    ranks: list
    strong: bool
    sizes: dict  # of communicators, by what the user calls them
    top: int  # classes that are simulated
    skew: jobs.Skew | None  # None: as the profile has it
    seeds: int


class Replay:
    """Simulates classes of calls. `arms`: the implementations of a collective; `say` gets what
    is simulated next.
    """

    def __init__(self, build, setting, asked, arms, say=lambda text: None):
        self.build, self.setting, self.asked, self.arms = build, setting, asked, arms
        self.say = say
        self.known = {}

    def time(self, scaling, work, implementation):
        """{"implementation", "time_s": of a rank in a call, "refused"}"""
        shape = scaling.grid[work.shape]
        size = 0 if work.collective == "barrier" else scaling.bytes(work)
        call = jobs.Call(work.collective, size, implementation, shape.size, shape.stride)
        skew = self.asked.skew
        if skew is None:
            late = work.lateness()
            skew = dataclasses.replace(late, seconds=scaling.seconds(late.seconds))
        key = (scaling.ranks, call, skew)
        if key not in self.known:
            self.say(f"{work.label} {implementation}, {counted(scaling.ranks, 'rank')}")
            self.known[key] = self.simulated(*key)
        return {"implementation": implementation} | self.known[key]

    def simulated(self, ranks, call, skew):
        """The mean over all ranks, from when each begins to when it ends, as in a profile."""
        many = copies(self.setting, ranks) if skew.kind != "none" else 1
        nodes = nodes_words(ranks, self.setting.per_node, many)
        times = []
        try:
            for seed in range(1, self.asked.seeds + 1):
                job = jobs.text(
                    self.setting.machine,
                    ranks * many,
                    nodes,
                    [0.0, call],  # the first phase ends when the ranks begin
                    dataclasses.replace(skew, seed=seed),
                    self.setting.queues,
                )
                (_, begin, _), (_, end, _) = jobs.run(self.build, job, self.setting.limits)["end"]
                times.append(end - begin)
        except jobs.Refused as e:
            return {"time_s": None, "refused": str(e)}
        return {"time_s": statistics.mean(times), "refused": None}


def copies(setting, ranks):
    """How many jobs of so many ranks are simulated beside each other, none of which notices the
    others: each has nodes of its own, and whole groups of nodes, or a part of one.
    """
    nodes = -(-ranks // setting.per_node)
    group = setting.machine["levels"].get("group", {}).get("nodes", 1)
    return -(-DRAWN // ranks) if nodes % group == 0 or group % nodes == 0 else 1


def nodes_words(ranks, per_node, many):
    """The nodes of `many` jobs."""
    if ranks % per_node == 0:
        return jobs.nodes_words(ranks * many, per_node)
    return "+".join([jobs.nodes_words(ranks, per_node)] * many)


def run(replay, data, file):
    """What `crestacoll simulate --profile` writes, but for what it says of the setting."""
    asked = replay.asked
    works = workload.of_profile(data, file)
    left_out = [w for w in works if w.why]
    usable = [w for w in works if not w.why]
    for work in usable[asked.top :]:
        work.why = f"not among the {asked.top} classes that took longest (--top)"
    left_out += usable[asked.top :]
    usable = usable[: asked.top]
    if not usable:
        why = f": {left_out[0].label}: {left_out[0].why}" if left_out else ""
        raise Problem(f"{file} has no calls that can be simulated{why}")
    of_grids = [w for w in works if w.shape is not None]
    every = list(dict.fromkeys(w.shape for w in of_grids))
    wanted = wanted_sizes(of_grids, asked.sizes, data["ranks"])
    scalings = [
        workload.Scaling(
            data["ranks"],
            ranks,
            asked.strong,
            shapes.scale(every, data["ranks"], ranks, wanted),
        )
        for ranks in asked.ranks
    ]
    outside = max(0.0, data["wall_s"] - sum(w.seconds for w in works))
    here = workload.Scaling(data["ranks"], data["ranks"], False, {s: s for s in every})
    return {
        "recorded": recorded(replay, here, usable, left_out, data["wall_s"], outside),
        "scales": [scaled(replay, scaling, usable, outside) for scaling in scalings],
    }


def wanted_sizes(works, sizes, ranks):
    """{shape: size} of --comm, which has names, or SIZE:STRIDE."""
    found = {}
    for name, size in sizes.items():
        mine = {w.shape for w in works if name in (w.communicator, str(w.shape))}
        if len(mine) != 1:
            known = sorted({f"{w.communicator or '-'} ({w.shape})" for w in works})
            what = "several kinds of communicators have" if mine else "no communicator has"
            raise Problem(
                f"--comm {name}={size}: {what} this name; say NAME or SIZE:STRIDE of"
                f" {', '.join(known)}",
                USAGE,
            )
        shape = mine.pop()
        if shape.size == ranks:
            raise Problem(
                f"--comm {name}={size}: it has all the ranks, and has all at another scale;"
                " a profile with two ranks or more in each direction shows rows and columns",
                USAGE,
            )
        if found.setdefault(shape, size) != size:
            raise Problem(f"--comm {name}={size}: it has {found[shape]} by another name", USAGE)
    return found


def as_ran(implementation):
    """What to simulate for an implementation that ran: itself, or p2p for what has no schedule."""
    model, _, algorithm = implementation.partition(":")
    model = model.partition("?")[0]
    if model not in PRESETS:
        return "p2p"
    return f"{model}:{algorithm}" if algorithm else model


def recorded(replay, here, works, left_out, wall, outside):
    """Recorded against simulated times, at the scale of the profile."""
    classes = []
    for w in works:
        told = replay.time(here, w, as_ran(w.implementation))
        classes.append(
            about(here, w)
            | {"ran": w.implementation, "recorded_s": w.seconds / w.calls}
            | {"waiting_s": w.waiting, "simulated_as": told["implementation"]}
            | {"simulated_s": told["time_s"], "refused": told["refused"]}
        )
    others = sum(w.seconds for w in left_out)
    simulated = total((c["calls"], c["simulated_s"]) for c in classes)
    return {
        "ranks": here.ranks,
        "classes": classes,
        "left_out": [
            {"collective": w.label, "communicator": w.communicator, "processes": w.processes}
            | {"bytes": w.size, "recorded_s": w.seconds, "why": w.why}
            for w in left_out
        ],
        "run": {
            "wall_s": wall,
            "outside_s": outside,
            "left_out_s": others,
            "classes_s": sum(w.seconds for w in works),
            "simulated_classes_s": simulated,
            "simulated_wall_s": None if simulated is None else outside + others + simulated,
        },
    }


def about(scaling, work):
    """What a class is at a scale."""
    shape, (low, high) = scaling.grid[work.shape], scaling.sizes(work)
    return {
        **{"collective": work.collective, "communicator": work.communicator},
        **{"processes": shape.size, "stride": shape.stride, "bytes": scaling.bytes(work)},
        **{"bytes_min": low, "bytes_max": high, "calls": work.calls},
    }


def total(pairs):
    """Calls times seconds, added up; None if one of them is not known."""
    pairs = list(pairs)
    return None if any(s is None for _, s in pairs) else sum(n * s for n, s in pairs)


def scaled(replay, scaling, works, outside):
    """All implementations at another number of ranks, the best of each class, and the run."""
    classes = []
    for w in works:
        arms = dict.fromkeys((*PRESETS, *replay.arms(w.collective)))
        times = [replay.time(scaling, w, arm) for arm in arms]
        known = [t for t in times if t["refused"] is None]
        best = min(known, key=lambda t: t["time_s"], default=None)  # a preset, if it is as good
        classes.append(
            about(scaling, w)
            | {"waiting_s": scaling.waiting(w) if replay.asked.skew is None else None}
            | {"times": times, "best": best and best["implementation"]}
        )
    return {
        "ranks": scaling.ranks,
        "classes": classes,
        "run": {"outside_s": scaling.seconds(outside)} | sums(classes),
        "rules": rules(classes),
    }


def time_of(told, implementation):
    """The time of a class at a scale; None if it was not simulated."""
    return next((t["time_s"] for t in told["times"] if t["implementation"] == implementation), None)


def sums(classes):
    """Seconds of the run in all classes: with the presets, and with the best of each."""
    return {
        f"{name}_s": total((c["calls"], time_of(c, name)) for c in classes)
        for name in PRESETS
    } | {"best_s": total((c["calls"], time_of(c, c["best"])) for c in classes)}


def rules(classes):
    """Those of CRESTA_IMPL that choose the best: communicators with a name first, since a rule
    without one holds for all communicators with so many ranks.
    """
    found = {}
    for c in sorted(classes, key=lambda c: not c["communicator"]):
        if c["best"] is None:
            continue
        point = Point(
            c["collective"], c["communicator"], c["processes"], c["bytes_min"], c["bytes_max"]
        )
        found.setdefault(point.rule(""), c["best"])
    return [where + best for where, best in found.items()]
