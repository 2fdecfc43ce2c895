# SPDX-License-Identifier: BSD-3-Clause
"""What commands that measure say of their figures."""

from crestacoll_tools.bench import benchjob, overlap
from crestacoll_tools.race.racestats import Difference
from crestacoll_tools.tune import state as tunings, words


def too_many_ranks(screen):
    """More ranks than a machine can run are started only if the user insists."""
    screen.mask(r"\d+ cores?, and more than \d+", "N cores, and more than N")
    screen.crestacoll("bench", "allreduce", "-n", 1000000)
    screen.crestacoll("overlap", "allreduce", "-n", 1000000)


def bench_without_time(screen):
    """What the time budget left out, a line for each collective."""
    skipped = "skipped: the time budget is spent"
    notes = [
        {"about": f"{c} {size} bytes", "text": skipped}
        for c in ("allreduce", "alltoall")
        for size in (8, 8, 65536, 65536)
    ]
    notes.append({"about": "persist scan", "text": "left out on 2 ranks: it cannot do this here"})
    record = {"samples": 3, "samples_asked": 200, "timing": "back_to_back"}
    result = benchjob.Result(records=[record], notes=notes)
    for line in benchjob.remarks(result):
        screen.say(line)


def overlap_verdicts(screen):
    """A sentence for each implementation, from all of its sizes."""
    shares = {"nonblock": (-0.1, 0.12), "p2p": (0.85, 0.97), "os": (0.3, 0.5), "shm": (0.05, 0.9)}
    records = [
        {"implementation": name, "collective": "alltoall", "bytes": size, "overlap_cresta": share}
        for name, both in [*shares.items(), (overlap.SOCKETS, (0.8, 0.9))]
        for size, share in zip((65536, 1 << 20), both)
    ]
    scatter = {f"{k}_{end}_us": us for k in "NCT" for end, us in (("p10", 40.0), ("p90", 160.0))}
    records.append(records[0] | scatter | {"implementation": "hier", "samples": 25} |
                   {"N_us": 100.0, "C_us": 100.0})
    for line in overlap.verdicts(records):
        screen.say(line)


def tuned_points(screen):
    """The table of `crestacoll tune`: a gain belongs to what is named beside it."""
    proof = Difference(-0.648, -0.8, -0.5, -0.6, True, 30).as_dict()
    open_end = Difference(-0.648, -0.8, 0.1, -0.6, True, 30).as_dict()
    fine = {"bytes": 8, "found": {"shm": {}}, "candidate": "shm", "arms": [], "proof": proof}
    unsure = fine | {"bytes": 64, "proof": open_end}
    none = fine | {"bytes": 512, "candidate": None, "proof": None}
    point = {"collective": "allreduce", "ranks": 2}
    for cell in (fine, unsure, none, none | {"found": {}}):
        screen.say("  ".join(map(str, words.row_of(point, cell))))


def tuned_verdicts(screen):
    """The end of `crestacoll tune`: what is proved faster, what is excluded, what is not known."""
    options = {"collectives": ["allreduce", "scan"], "ranks": [2], "sizes": [8, 512]}
    near = Difference(0.01, -0.01, 0.03, 0.0, True, 40, False, -0.02, 0.04).as_dict()
    wide = Difference(-0.03, -0.1, 0.04, -0.02, True, 12, False, -0.16, 0.08).as_dict()
    gain = Difference(-0.4, -0.45, -0.35, -0.4, True, 40).as_dict()

    def cell(size, candidate=None, proof=None, **found):
        return {"bytes": size, "found": found, "candidate": candidate, "proof": proof,
                "arms": ["mpi", "p2p", "shm"], "proofs": 2}

    won = cell(8, "shm", gain, shm=gain, p2p=near)
    rule = {"collective": "allreduce", "bytes": [8, 64], "ranks": [2, 2], "implementation": "shm"}
    for name, cells, rules in (
        ("none", [[cell(8, shm=near, p2p=near)], [cell(8, shm=near, p2p=near)]], []),
        ("one", [[won, cell(512, shm=near, p2p=near)], [cell(8, shm=near, p2p=near)]], [rule]),
        ("open", [[won, cell(512, shm=wide)], []], [rule]),
        ("nothing", [[], []], []),
    ):
        with tunings.new(name, options) as state:
            state.data |= {"spent_s": 30.0}
            for point, measured in zip(state.points, cells):
                point |= {"cells": measured, "done": bool(measured)}
            for line in words.summary(state, rules, f"{name}/tuning.json"):
                screen.say(line)
            if rules:
                ahead = {"winners": rules, "everywhere": []}
                for line in words.native_summary(state, ahead, f"{name}/native.json", "openmpi"):
                    screen.say(line)
