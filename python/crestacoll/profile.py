# SPDX-License-Identifier: BSD-3-Clause
"""Profile files: read, check, sum up, show."""

import json
from pathlib import Path

from crestacoll import schemas
from crestacoll.sizes import format_class
from crestacoll.ui import Problem, show as show_table, out, table, word

SCHEMA = "crestacoll-profile-1"


def load(path):
    """The profile, checked against its schema."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as e:
        raise Problem(f"cannot read {path}: {e.strerror}") from e
    except ValueError as e:
        raise Problem(f"{path} is no JSON file: {e}") from e
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise Problem(f"{path} is no profile (schema {SCHEMA})")
    wrong = schemas.problems("profile", data)
    if wrong:
        raise Problem(f"{path} does not follow the schema {SCHEMA}: {wrong[0]}")
    return data


def label(record):
    """'alltoall', 'ialltoall', 'alltoall_init'."""
    name = record["collective"]
    return {"blocking": name, "nonblocking": "i" + name, "persistent": name + "_init"}[
        record["mode"]
    ]


def communicator(record):
    return f"{word(record['communicator']) or '-'} ({record['processes']})"


def sums(data, keys=("collective", "communicator")):
    """Records added up over everything but `keys`; times in microseconds; longest first."""
    groups = {}
    for r in data["records"]:
        group = groups.setdefault(
            tuple(r[k] for k in keys),
            {
                **{k: r[k] for k in keys},
                "calls": 0,
                "bytes_total": 0,
                "mean_us": 0.0,
                "max_us": 0.0,
                "wait_us": None,
            },
        )
        group["calls"] += r["calls"]
        group["bytes_total"] += r["bytes_total"]
        group["mean_us"] += r["time_us"]["mean"]
        group["max_us"] += r["time_us"]["max"]
        if r["wait_us"]:
            group["wait_us"] = (group["wait_us"] or 0.0) + r["wait_us"]["mean"]
    return sorted(groups.values(), key=lambda g: -g["mean_us"])


def total_us(data):
    """Mean over the ranks of the time in all recorded calls."""
    return sum(r["time_us"]["mean"] * r["ranks"] for r in data["records"]) / data["ranks"]


def seconds(us):
    if us is None:
        return "-"
    for unit, scale in (("s", 1e6), ("ms", 1e3)):
        if us >= scale:
            return f"{us / scale:.3g} {unit}"
    return f"{us:.3g} us"


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def show(data, top=None):
    """The profile as a table, the most expensive first."""
    wall = data["wall_s"] * 1e6
    records = sorted(data["records"], key=lambda r: -r["time_us"]["mean"])
    made = table(
        "collective",
        "communicator",
        ">bytes",
        "implementation",
        ">calls",
        ">a call",
        ">time",
        ">min",
        ">max",
        ">waiting",
        ">of wall",
    )
    for r in records[:top]:
        t, calls = r["time_us"], max(r["calls"], 1)
        made.add_row(
            label(r),
            communicator(r),
            format_class(r["bytes_min"], r["bytes_max"]),
            r["implementation"],
            str(r["calls"]),
            seconds(t["mean"] / calls),
            seconds(t["mean"]),
            seconds(t["min"]),
            seconds(t["max"]),
            seconds(r["wait_us"] and r["wait_us"]["mean"]),
            percent(t["mean"], wall),
        )
    out.print(
        f"{data['ranks']} ranks, {data['wall_s']:.3f} s,"
        f" {' '.join(data['mpi'].split(',')[0].split())}: {percent(total_us(data), wall)} of the"
        " time in collectives",
        soft_wrap=True,
    )
    show_table(made)
    if top and len(records) > top:
        out.print(f"... and {len(records) - top} more (--all)")
    waiting = (
        "waiting: part of the time spent on late ranks, estimated from sampled barriers; "
        if data["wait_sampling"]
        else ""
    )
    out.print(
        f"time: mean over the ranks, min and max of one rank; calls: of one rank; {waiting}"
        "bytes: see docs/choosing.md",
        style="dim",
        soft_wrap=True,
    )
