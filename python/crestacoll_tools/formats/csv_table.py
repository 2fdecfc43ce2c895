# SPDX-License-Identifier: BSD-3-Clause
"""Profiles as comma-separated values, for pandas, R and spreadsheets: RFC 4180, but for the ends of
lines, which are those of Unix. What a row does not have, or is not known, is empty.
"""

import csv
import io

from crestacoll_tools.base.text import encodable, visible
from crestacoll_tools.profile import between, efficiency, mpitime, profiles, sites

COLUMNS = (
    *("file", "table", "call", "site", "communicator", "processes", "bytes_min", "bytes_max"),
    *("implementation", "rule", "part", "requests", "peer", "main_thread", "job_ranks", "ranks"),
    *("calls_of_a_rank_max", "calls_of_all_ranks", "bytes_of_all_ranks"),
    *("time_mean_us", "time_min_us", "time_max_us", "time_longest_us", "of_run_percent"),
    *("waiting_mean_us", "waiting_low_us", "waiting_high_us", "waiting_max_us", "waiting_samples"),
    *("nodes", "messages_between_nodes_per_call", "bytes_between_nodes_per_call"),
    "efficiency_percent",
)


def render(sources):
    """One row for each line of the tables that `report` shows, of all profiles, but for the one of
    where the time goes.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for source in sources:
        rows = (efficiency_rows, call_rows, collective_rows)
        for row in (row for of in rows for row in of(source.data)):
            row |= {"file": source.name, "job_ranks": source.data["ranks"]}
            writer.writerow({name: cell(value) for name, value in row.items()})
    return text.getvalue()


def cell(value):
    if isinstance(value, str):
        return visible(encodable(value))
    return str(value).lower() if isinstance(value, bool) else value


def times(record):
    return {f"time_{name}_us": us for name, us in record["time_us"].items() if name in TIMES}


TIMES = ("mean", "min", "max", "longest")


def of_run(us, wall_us):
    return round(100 * us / wall_us, 4) if wall_us else None


def efficiency_rows(data):
    """What a rank computes, and the efficiencies, where they are known."""
    found = efficiency.metrics(data)
    if not found:
        return
    useful = data["calls"]["useful_us"]
    yield {
        "table": "efficiency",
        "part": "useful time",
        "ranks": data["ranks"],
        "of_run_percent": of_run(useful["mean"], data["calls"]["wall_us"]["mean"]),
    } | times({"time_us": useful})
    for name, value in found.items():
        yield {"table": "efficiency", "part": name, "efficiency_percent": round(100 * value, 4)}


def call_rows(data):
    """The table of calls by site."""
    if "calls" not in data:
        return
    ranks, wall = data["ranks"], data["calls"]["wall_us"]["mean"]
    calls = sorted(data["calls"]["list"], key=lambda c: -mpitime.of_job(c, ranks))
    places = sites.Places(data["calls"]["modules"], calls)
    for call in calls:
        yield {
            "table": "calls",
            "call": call["call"],
            "site": places.name(call["site"]) if call["site"] else None,
            "part": call["part"],
            "requests": call["requests"],
            "peer": call["distance"] and mpitime.DISTANCES[call["distance"]],
            "main_thread": call["main_thread"],
            "ranks": call["ranks"],
            "calls_of_a_rank_max": call["calls_max"],
            "calls_of_all_ranks": call["calls"],
            "bytes_of_all_ranks": call["bytes"],
            "of_run_percent": of_run(mpitime.of_job(call, ranks), wall),
        } | times(call)


def collective_rows(data):
    """The table of collectives."""
    for r in sorted(data["records"], key=lambda r: -r["time_us"]["mean"]):
        wait = {f"waiting_{name}": us for name, us in (r["wait_us"] or {}).items()}
        sent = between.each_call(r) or (None, None)
        yield {
            "table": "collectives",
            "call": profiles.label(r),
            "communicator": r["communicator"],
            "processes": r["processes"],
            "bytes_min": r["bytes_min"],
            "bytes_max": r["bytes_max"],
            "implementation": r["implementation"],
            "rule": r.get("rule"),
            "ranks": r["ranks"],
            "calls_of_a_rank_max": r["calls"],
            "calls_of_all_ranks": r["calls_total"],
            "bytes_of_all_ranks": r["bytes_total"],
            "of_run_percent": of_run(r["time_us"]["mean"], data["wall_s"] * 1e6),
            **{f"{name}_us": wait.get(name) for name in WAITS},
            "waiting_samples": wait.get("waiting_samples"),
            "nodes": r["nodes"],
            "messages_between_nodes_per_call": sent[0],
            "bytes_between_nodes_per_call": sent[1],
        } | times(r)


WAITS = ("waiting_mean", "waiting_low", "waiting_high", "waiting_max")
