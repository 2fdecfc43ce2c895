# SPDX-License-Identifier: BSD-3-Clause
"""The main job: a turbulence code under every implementation, interleaved, and what came out of
it.
"""

import datetime
import statistics
import time

import numpy as np

from crestacoll import __version__, machine, profile, turbulence
from crestacoll.ui import Problem

FEWEST_ROUNDS, ENOUGH_ROUNDS, MOST_ROUNDS = 2, 4, 10


def measure(groups, program_of, ranks, budget, on_run=lambda text: None):
    """All variants of all MPIs: one recorded run each, then rounds of timed runs in rotating order
    until the budget is spent. Returns the number of rounds.
    """
    start = time.monotonic()
    for v in [v for group in groups for v in group]:
        on_run(f"{v.build.name}, {v.name} (recorded)")
        try_first(v, program_of(v), ranks)
    working = [v for group in groups for v in group if not v.broken]
    before, rounds = time.monotonic(), 0
    while rounds < MOST_ROUNDS:
        for k in range(len(working)):
            v = working[(rounds + k) % len(working)]
            on_run(f"{v.build.name}, {v.name}, round {rounds + 1}")
            turbulence.run(v, program_of(v), ranks)
        rounds += 1
        now = time.monotonic()
        if rounds >= FEWEST_ROUNDS and now - start + (now - before) / rounds > budget:
            break
    return rounds


def try_first(variant, program, ranks):
    """An implementation that breaks the program is a result; without plain MPI there is none."""
    try:
        turbulence.run(variant, program, ranks, first=True)
    except Problem as e:
        if variant.name == turbulence.PLAIN:
            raise
        variant.broken = e.message


def wait_of(variant, collective, who):
    """Estimated time waiting for late ranks in the recorded run, seconds, or None."""
    if variant.profile is None:
        return None
    for group in profile.sums(variant.profile):
        name = group["communicator"].lower()
        same = name == who or (who == "world" and (not name or "world" in name))
        if group["collective"] == collective and same and group["wait_us"] is not None:
            return group["wait_us"] * 1e-6
    return None


def wait_share(variant):
    """Part of the time in collectives that the recorded run spent waiting for late ranks, or None.
    A share, because that run may have met a slower or faster machine than the timed ones."""
    groups = [
        g for g in profile.sums(variant.profile or {"records": []}) if g["wait_us"] is not None
    ]
    spent = sum(g["mean_us"] for g in groups)
    return min(1.0, sum(g["wait_us"] for g in groups) / spent) if spent else None


def quantiles(values):
    return {
        "median_s": statistics.median(values),
        "p10_s": float(np.quantile(values, 0.1)),
        "p90_s": float(np.quantile(values, 0.9)),
    }


def about_variant(variant, keys, answer):
    collectives = []
    for key in keys:
        values = [t[key] for t in variant.timers if key in t]
        q = quantiles(values)
        collectives.append(
            {
                "collective": key[0],
                "communicator": key[1],
                "calls": variant.calls[key],
                "mean_s": q["median_s"],
                "p10_s": q["p10_s"],
                "max_s": max(values),
                "p90_s": q["p90_s"],
                "wait_s": wait_of(variant, *key),
            }
        )
    return {
        "name": variant.name,
        "spec": variant.spec,
        "preloaded": variant.spec is not None,
        "wall_s": variant.wall_s,
        **quantiles(variant.wall_s),
        "checksum": sorted(set(variant.checksums)),
        "same_answer": set(variant.checksums) == {answer} and not variant.failed,
        "collectives_total": quantiles([sum(t.values()) for t in variant.timers]),
        "wait_share": wait_share(variant),
        "failed_checks": sorted(set(variant.failed)),
        "collectives": collectives,
    }


def clearly_faster(a, b, runs):
    """Is a's slow end below b's fast end, and are there enough runs to speak of ends?"""
    return runs >= ENOUGH_ROUNDS and a["p90_s"] < b["p10_s"]


def best_of(rows):
    """What to choose, from rows as about_variant makes them: for the whole run and for each
    collective. Where the spread is larger than the gain, that is `mpi`.
    """
    chosen = [r for r in rows if r["preloaded"]]
    base = next((r for r in chosen if r["name"] == "mpi"), rows[0])
    fastest = min(chosen or rows, key=lambda r: r["median_s"])
    rules, by_collective, runs = [], [], len(base["wall_s"])
    for i, mine in enumerate(base["collectives"]):
        offers = [(r["name"], r["collectives"][i]) for r in chosen if r["spec"] == f"*={r['name']}"]
        name, offer = min(offers, key=lambda o: o[1]["mean_s"], default=("mpi", mine))
        clear = name != "mpi" and clearly_faster(offer, mine, runs)
        by_collective.append(
            {
                "collective": mine["collective"],
                "communicator": mine["communicator"],
                "best": name if clear else "mpi",
                "fastest": name,
                "beyond_spread": clear,
                "gain": mine["mean_s"] / offer["mean_s"] if offer["mean_s"] else 1.0,
            }
        )
        if clear:
            who = "" if mine["communicator"] == "world" else "@" + mine["communicator"]
            rules.append(f"{mine['collective']}{who}={name}")
    return {
        "wall": fastest["name"],
        "enough_rounds": runs >= ENOUGH_ROUNDS,
        "beyond_spread": fastest is not base and clearly_faster(fastest, base, runs),
        "by_collective": by_collective,
        "spec": ",".join([*rules, "*=mpi"]),
    }


def headline(best):
    """The best choice for the whole run in words, no more certain than the runs allow."""
    if not best["enough_rounds"]:
        return "too few rounds to tell: the runs took too long for the time budget"
    if best["beyond_spread"]:
        return "fastest for the whole run, beyond the spread of the runs"
    return "no implementation is faster than mpi beyond the spread of the runs"


def overlap_of(rows):
    """What transposing one field while another is transformed brings: for each such row how many
    times as fast as plain MPI it is, and whether that is more than the spread of the runs.
    """
    plain = rows[0]
    return [
        {
            "name": r["name"],
            "gain": plain["median_s"] / r["median_s"],
            "beyond_spread": clearly_faster(r, plain, len(plain["wall_s"]))
            or clearly_faster(plain, r, len(plain["wall_s"])),
        }
        for r in rows
        if r["name"] in turbulence.OVERLAPS
    ]


def overlap_line(offer):
    told = "" if offer["beyond_spread"] else ", which is within the spread of the runs"
    return f"{offer['name']}: {offer['gain']:.2f} times as fast as plain MPI{told}"


def about_mpi(group, ranks, rounds):
    build, answer = group[0].build, group[0].checksums[0]
    working = [v for v in group if not v.broken]
    spent = {key: statistics.median(t[key] for t in group[0].timers) for key in group[0].calls}
    keys = sorted(spent, key=lambda k: -spent[k])
    rows = [about_variant(v, keys, answer) for v in working]
    missing = [m for m in build.description["models"] if not m["works"]]
    return {
        "mpi": build.name,
        "mpi_library": build.description["mpi"]["library"],
        "ranks": ranks,
        "rounds": rounds,
        "answer": answer,
        "variants": rows,
        "best": best_of(rows),
        "overlap": overlap_of(rows),
        "skipped": [{"name": m["name"], "why": m["why"]} for m in missing],
        "broken": [{"name": v.name, "why": v.broken} for v in group if v.broken],
    }


def result(groups, program, ranks, rounds, seconds):
    mpis = [about_mpi(g, ranks, rounds) for g in groups]
    same = all(v["same_answer"] for m in mpis for v in m["variants"])
    return {
        "schema": "crestacoll-demo-1",
        "crestacoll": __version__,
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "program": program,
        "seconds": round(seconds, 1),
        "same_answer": same and not any(m["broken"] for m in mpis),
        "mpis": mpis,
    }
