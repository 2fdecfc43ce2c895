# SPDX-License-Identifier: BSD-3-Clause
"""Profile files: read, check, sum up, show."""

import json
from pathlib import Path

from crestacoll_tools import schemas
from crestacoll_tools.base.sizes import format_class
from crestacoll_tools.base.text import counted, word
from crestacoll_tools.base.ui import Problem, out, show as show_table, table
from crestacoll_tools.profile import between

SCHEMAS = tuple(f"crestacoll-profile-{version}" for version in range(1, 6))


def load(path):
    """The profile, checked against its schema."""
    return checked(path, read_json(path))


def read_json(path):
    """What is in a JSON file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as e:
        raise Problem(f"cannot read {path}: {e.strerror}") from e
    except UnicodeDecodeError as e:
        raise Problem(f"{path} is not a JSON file: it is not text") from e
    except (ValueError, RecursionError) as e:
        raise Problem(f"{path} is not a JSON file: {e}") from e


def checked(path, data):
    """As `load`, for data that were read already. The first version had no timeline, the second no
    communicators, the third no nodes, the fourth no waiting that is true.
    """
    if not isinstance(data, dict) or data.get("schema") not in SCHEMAS:
        raise Problem(f"{path} is not a profile (schema {SCHEMAS[-1]})")
    wrong = schemas.problems("profile", data)
    if wrong:
        raise Problem(f"{path} does not follow the schema {data['schema']}: {wrong[0]}")
    data = {"timeline": None, "communicators": None} | data
    set_nodes(data["records"])
    if is_older(data, 5):
        forget_waiting(data)
    for communicator in data["communicators"] or []:
        communicator.setdefault("nodes", None)
    if data["timeline"] and any(len(b) != data["timeline"]["bins"] for b in all_bins(data)):
        raise Problem(f"{path}: an array of the timeline has another length than its bins")
    return data


def set_nodes(records):
    """What earlier versions do not say is not known."""
    for record in records:
        record.setdefault("nodes", None)
        record.setdefault("between_nodes", None)


def is_older(data, version):
    """Whether it has an earlier version of the format."""
    return data["schema"] in SCHEMAS[: version - 1]


def forget_waiting(data):
    """Timed barriers before calls said how long ranks waited for each other: there, not in the
    calls.
    """
    for record in data["records"]:
        record["wait_us"] = None
    line = data["timeline"]
    for part in [line, *line["rows"]] if line else []:
        part["waiting_us"] = [None] * len(part["waiting_us"])


def all_bins(data):
    """Every array of the timeline."""
    timeline = data["timeline"]
    yield from timeline["busy_us"].values()
    yield timeline["waiting_us"]
    yield from timeline["collectives_us"].values()
    for row in timeline["rows"]:
        yield from (row["busy_us"], row["waiting_us"])


def load_snapshot(path):
    """What rank 0 had counted when it wrote last, as a profile of one rank; None if it never did.
    `job_ranks` are those of the job.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        set_nodes(data["records"])
        return data | {"ranks": 1, "job_ranks": data["ranks"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


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
                "between_nodes": None,
            },
        )
        group["between_nodes"] = between.added(group["between_nodes"], r["between_nodes"])
        group["calls"] += r["calls"]
        group["bytes_total"] += r["bytes_total"]
        group["mean_us"] += r["time_us"]["mean"]
        group["max_us"] += r["time_us"]["max"]
        if r["wait_us"]:
            group["wait_us"] = (group["wait_us"] or 0.0) + r["wait_us"]["mean"]
    return sorted(groups.values(), key=lambda g: -g["mean_us"])


def shares(data, key):
    """{key(record): {"us", "wait_us", "unknown_us", "calls"}}, the longest first: times of a rank,
    mean over all ranks of the job; "unknown_us" is that of records without a measured wait.
    """
    groups = {}
    for r in data["records"]:
        new = {"us": 0.0, "wait_us": 0.0, "unknown_us": 0.0, "calls": 0}
        group = groups.setdefault(key(r), new)
        of_job = r["ranks"] / data["ranks"]
        group["us"] += of_job * r["time_us"]["mean"]
        group["calls"] += r["calls"]
        if r["wait_us"]:
            group["wait_us"] += of_job * min(r["wait_us"]["mean"], r["time_us"]["mean"])
        else:
            group["unknown_us"] += of_job * r["time_us"]["mean"]
    return dict(sorted(groups.items(), key=lambda item: -item[1]["us"]))


def total_us(data):
    """Mean over the ranks of the time in all recorded calls."""
    return sum(r["time_us"]["mean"] * r["ranks"] for r in data["records"]) / data["ranks"]


def seconds(us):
    if us is None:
        return "-"
    for unit, scale in (("s", 1e6), ("ms", 1e3)):
        if float(f"{us:.3g}") >= scale:  # 999.9 is 1 of the next unit
            return f"{us / scale:.3g} {unit}"
    return f"{us:.3g} us"


def itself_us(record):
    """What is left of the time of a record when the last rank is there; None: unknown."""
    return record["wait_us"] and max(0.0, record["time_us"]["mean"] - record["wait_us"]["mean"])


def waiting(wait):
    """The waiting of a record with its 95 % interval: '2.9 ms ± 0.2 ms'."""
    if not wait:
        return "-"
    spread = max(wait["mean"] - wait["low"], wait["high"] - wait["mean"])
    return seconds(wait["mean"]) + (f" ± {seconds(spread)}" if spread > 0 else "")


def waiting_legend(data):
    """What the column says, or why it says nothing."""
    if is_older(data, 5):
        return (
            "waiting: unknown, because earlier versions of crestacoll had it wrong: profile the"
            " program again; "
        )
    if not data["wait_sampling"]:
        return ""
    clocks = data["clocks"]
    worst = max((c["error_us"] for c in clocks), default=0.0)
    counted_clocks = counted(len(clocks), "clock")
    error = f" and the error of {counted_clocks}, {seconds(worst)} a call" if worst else ""
    return (
        "waiting: part of the time before the last rank arrived, from the sampled calls, and half"
        f" of its 95 % interval{error}; itself: the rest of the time; "
    )


def untimed(data):
    """A sentence on calls that were not timed; "" if all were, or an earlier version wrote it."""
    found = [r for r in data["records"] if r["time_us"].get("timed", r["calls"]) < r["calls"]]
    if not found:
        return ""
    calls, timed = sum(r["calls"] for r in found), sum(r["time_us"]["timed"] for r in found)
    was = "was" if timed == 1 else "were"
    worst = max(r["time_us"]["error"] / max(r["time_us"]["mean"], 1e-9) for r in found)
    return (
        f"{timed} of {calls} calls of a rank in {counted(len(found), 'line')} {was} timed,"
        " because they follow each other closely; the others count as long as these: the time of a"
        " rank"
        f" may be wrong by {100 * worst:.1f} %"
    )


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def heading(data):
    """What the table of collectives is of: the whole job, or a part of what is above it."""
    wall = data["wall_s"] * 1e6
    wall_s = f"{data['wall_s']:.3f} s" if data["wall_s"] >= 0.1 else seconds(wall)
    share = percent(total_us(data), wall)
    if "calls" in data:
        return f"Collectives: {share} of the {wall_s} between MPI_Init and MPI_Finalize"
    return (
        f"{counted(data['ranks'], 'rank')}, {wall_s}, {mpi_name(data)}: {share} of the time in"
        " collectives"
    )


def mpi_name(data):
    """'Open MPI v4.1.4'"""
    return " ".join(data["mpi"].split(",")[0].split())


HEADS = (
    *("collective", "communicator", ">bytes", "implementation", ">calls", ">a call", ">time"),
    *(">min", ">max", ">waiting", ">samples", ">itself", ">of wall"),
)


def heads(data):
    """The heads of the table of records; '>': to the right."""
    return (*HEADS, *([">messages", ">between nodes"] if between.spans_nodes(data) else []))


def lines(data, top=None):
    """The cells of each record, the most expensive first."""
    wall, several = data["wall_s"] * 1e6, between.spans_nodes(data)
    for r in sorted(data["records"], key=lambda r: -r["time_us"]["mean"])[:top]:
        t, calls = r["time_us"], max(r["calls"], 1)
        yield (
            label(r),
            communicator(r),
            format_class(r["bytes_min"], r["bytes_max"]),
            r["implementation"],
            str(r["calls"]),
            seconds(t["mean"] / calls),
            seconds(t["mean"]),
            seconds(t["min"]),
            seconds(t["max"]),
            waiting(r["wait_us"]),
            str(r["wait_us"]["samples"]) if r["wait_us"] else "-",
            seconds(itself_us(r)),
            percent(t["mean"], wall),
            *(between.cells(r) if several else []),
        )


def show(data, top=None):
    """The records as a table, the most expensive first."""
    several = between.spans_nodes(data)
    out.print(heading(data), soft_wrap=True)
    if not data["records"]:
        out.print("No call of a collective was recorded.", soft_wrap=True)
        return
    if several:
        out.print(between.sentence(data), soft_wrap=True)
    made = table(*heads(data))
    for cells in lines(data, top):
        made.add_row(*cells)
    show_table(made)
    if top and len(data["records"]) > top:
        out.print(f"... and {len(data['records']) - top} more (--all)")
    if untimed(data):
        out.print(untimed(data), soft_wrap=True)
    out.print(legend(data), style="dim", soft_wrap=True)


def legend(data):
    """What the columns say."""
    return (
        "time: mean over the ranks, min and max of one rank; calls: of one rank;"
        f" {waiting_legend(data)}bytes: see docs/choosing.md"
        + (f"; {between.LEGEND}" if between.spans_nodes(data) else "")
    )
