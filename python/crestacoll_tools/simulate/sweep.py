# SPDX-License-Identifier: BSD-3-Clause
"""Simulated times of a collective over numbers of ranks, sizes and implementations."""

import dataclasses
import statistics

from crestacoll_tools.simulate import jobs


@dataclasses.dataclass(frozen=True)
class Setting:
    """What all points have in common."""

    machine: dict
    per_node: int
    skew: jobs.Skew = jobs.Skew()
    seeds: int = 1  # simulations of a point, each with a skew of its own
    calls: int = 1  # one after the other; the time is that of one
    queues: bool = True
    limits: jobs.Limits = jobs.Limits()
    topology: str | None = None  # of neighbourhood collectives


def point(build, setting, collective, ranks, size, implementation, root=0):
    """One point as a dict; `refused` says why it has no time."""
    call = jobs.Call(collective, size, implementation, ranks, root=root)
    named = {"collective": collective, "ranks": ranks, "bytes": size}
    named["implementation"] = implementation
    if setting.topology:
        named["topology"] = setting.topology
    found = []
    try:
        for seed in range(setting.skew.seed, setting.skew.seed + setting.seeds):
            job = jobs.text(
                setting.machine,
                ranks,
                jobs.nodes_words(ranks, setting.per_node),
                [call],
                dataclasses.replace(setting.skew, seed=seed),
                setting.queues,
                setting.calls,
                topology=setting.topology,
            )
            found.append(jobs.run(build, job, setting.limits))
    except jobs.Refused as e:
        return named | {"refused": str(e)}
    return named | {"refused": None} | figures(found, setting)


def figures(found, setting):
    """Times in seconds, from when the last rank begins to when the last one ends."""
    calls, first = setting.calls, found[0]
    totals = [f["end"][-1][2] - f["start"] for f in found]
    times = sorted(total / calls for total in totals)
    deciles = statistics.quantiles(times, n=10, method="inclusive") if len(times) > 1 else []
    busy = statistics.median(f["busiest_interface"] / max(t, 1e-15) for f, t in zip(found, totals))
    return {
        "time_s": statistics.median(times),
        "p10_s": deciles[0] if deciles else times[0],
        "p90_s": deciles[-1] if deciles else times[0],
        "messages": first["messages"] // calls,
        "bytes_sent": first["bytes"] // calls,
        "messages_between_nodes": first["messages_between_nodes"] // calls,
        "bytes_between_nodes": first["bytes_between_nodes"] // calls,
        "busiest_interface": busy if setting.queues else None,
        "seconds_to_simulate": sum(f["seconds_to_build"] + f["seconds_to_run"] for f in found),
    }
