# SPDX-License-Identifier: BSD-3-Clause
"""Profiles in the text exposition format of Prometheus (version 0.0.4), for the textfile collector
of its node exporter. All metrics are gauges of runs that have ended, in seconds and bytes, and have
the name of the file as label `profile`.
"""

from crestacoll_tools.base.sizes import format_class
from crestacoll_tools.base.text import encodable, visible
from crestacoll_tools.profile import efficiency, mpitime, profiles, sites

METRICS = {
    "profile_info": "What the profile is of.",
    "ranks": "Ranks of the job.",
    "run_seconds": "Length of the run: mean over the ranks.",
    "time_seconds": "Where the time of a rank goes, mean over the ranks; the sum is the run.",
    "efficiency_ratio": "How well the ranks share the work, by POP: 1 is best.",
    "useful_seconds": "Time of a rank outside the MPI, mean over the ranks.",
    "useful_min_seconds": "That of the rank with the least.",
    "useful_max_seconds": "That of the rank with the most.",
    "call_seconds": "Time of a rank in calls of the MPI by their place, mean over the ranks.",
    "call_max_seconds": "Time in them of the rank with the most; at least, of several lines.",
    "call_longest_seconds": "Longest single one of them.",
    "calls": "How many they are, of all ranks.",
    "call_bytes": "Bytes that they send or move, or are ready to receive, of all ranks.",
    "collective_seconds": "Time of a rank in collectives, mean over the ranks.",
    "collective_max_seconds": "Time in them of the rank with the most.",
    "collective_waiting_seconds": "Part of the mean before the last rank arrived, if it is known.",
    "collective_calls": "How many they are, of all ranks.",
    "collective_bytes": "Bytes in them, of all ranks.",
}
LARGEST = ("call_max_seconds", "call_longest_seconds", "collective_max_seconds")


def render(sources, top=None):
    """All samples of a metric stand together; of calls and collectives, those of the `top` most
    expensive lines of each profile.
    """
    families = {name: {} for name in METRICS}
    for source in sources:
        for labels, values in samples(source.data, top):
            key = joined({"profile": source.name} | labels)
            for name, value in values.items():
                add(families[name], key, value, max if name in LARGEST else sum)
    return "".join(family(name, METRICS[name], found) for name, found in families.items() if found)


def add(found, key, value, together):
    """Lines may have the same labels, such as two calls in one line of a program."""
    found[key] = together((found[key], value)) if key in found else value


def family(name, meaning, found):
    name = f"crestacoll_{name}"
    lines = [f"# HELP {name} {meaning}", f"# TYPE {name} gauge"]
    lines += [f"{name}{{{labels}}} {value!r}" for labels, value in found.items()]
    return "\n".join(lines) + "\n"


def joined(labels):
    return ",".join(f'{name}="{escaped(str(value))}"' for name, value in labels.items())


def escaped(value):
    value = visible(encodable(value)).replace("\\", "\\\\")
    return value.replace('"', '\\"').replace("\n", "\\n")


def samples(data, top):
    """(labels, {metric: value})"""
    calls = data.get("calls")
    wall_us = calls["wall_us"]["mean"] if calls else data["wall_s"] * 1e6
    yield {"mpi": profiles.mpi_name(data), "crestacoll": data["crestacoll"]}, {"profile_info": 1}
    yield {}, {"ranks": data["ranks"], "run_seconds": seconds(wall_us)}
    if calls:
        yield from time_samples(data)
        yield from efficiency_samples(data)
        yield from call_samples(data, top)
    yield from collective_samples(data, top)


def seconds(us):
    return round(us / 1e6, 12)


def time_samples(data):
    for group, us, lines in mpitime.picture(data):
        for line, part in (lines or {"": us}).items():
            yield {"group": group, "part": line}, {"time_seconds": seconds(part)}


def efficiency_samples(data):
    for name, value in efficiency.metrics(data).items():
        useful = data["calls"]["useful_us"]
        yield {"part": name}, {"efficiency_ratio": round(value, 12)}
        if name == efficiency.PARALLEL:
            yield {}, {"useful_seconds": seconds(useful["mean"])}
            for end in ("min", "max"):
                rank = {"rank": useful[f"{end}_rank"]}
                yield rank, {f"useful_{end}_seconds": seconds(useful[end])}


def call_samples(data, top):
    ranks = data["ranks"]
    calls = sorted(data["calls"]["list"], key=lambda c: -mpitime.of_job(c, ranks))[:top]
    places = sites.Places(data["calls"]["modules"], calls)
    for call in calls:
        labels = {
            "call": call["call"],
            "site": places.name(call["site"]),
            "part": call["part"],
            "requests": call["requests"],
            "peer": mpitime.DISTANCES[call["distance"]],
            "main_thread": str(call["main_thread"]).lower(),
        }
        yield labels, {
            "call_seconds": seconds(mpitime.of_job(call, ranks)),
            "call_max_seconds": seconds(call["time_us"]["max"]),
            "call_longest_seconds": seconds(call["time_us"]["longest"]),
            "calls": call["calls"],
            "call_bytes": call["bytes"],
        }


def collective_samples(data, top):
    for r in sorted(data["records"], key=lambda r: -r["time_us"]["mean"])[:top]:
        labels = {
            "collective": profiles.label(r),
            "communicator": r["communicator"],
            "processes": r["processes"],
            "bytes": format_class(r["bytes_min"], r["bytes_max"]),
            "implementation": r["implementation"],
        }
        wait, share = r["wait_us"], r["ranks"] / data["ranks"]
        yield labels, {
            "collective_seconds": seconds(share * r["time_us"]["mean"]),
            "collective_max_seconds": seconds(r["time_us"]["max"]),
            **({"collective_waiting_seconds": seconds(share * wait["mean"])} if wait else {}),
            "collective_calls": r["calls_total"],
            "collective_bytes": r["bytes_total"],
        }
