# SPDX-License-Identifier: BSD-3-Clause
"""Records of MPI-IO (CRESTA_IO): read, check, sum up, show."""

from crestacoll_tools import schemas
from crestacoll_tools.base.text import counted, word
from crestacoll_tools.base.ui import Problem, out, show as show_table, table
from crestacoll_tools.profile import profiles

SCHEMA = "crestacoll-io-1"
KINDS = {
    "independent": "independent",
    "collective": "collective",
    "split": "split collective",
    "nonblocking": "non-blocking",
    "nonblocking_collective": "non-blocking collective",
}
APART = ("independent", "nonblocking")  # calls that a collective one could replace
DIRECTIONS = ("write", "read")
OPERATIONS = {
    "open": "MPI_File_open",
    "close": "MPI_File_close",
    "sync": "MPI_File_sync",
    "set_view": "MPI_File_set_view",
}
MOST_FILES = 20
MANY_CALLS, MANY_BYTES = 0.25, 0.1  # parts of all in a direction


def load(path):
    """The record, checked against its schema."""
    return checked(path, profiles.read_json(path))


def checked(path, data):
    """As `load`, for data that were read already."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise Problem(f"{path} is not a record of MPI-IO (schema {SCHEMA})")
    wrong = schemas.problems("io", data)
    if wrong:
        raise Problem(f"{path} does not follow the schema {SCHEMA}: {wrong[0]}")
    lengths = {
        len(values)
        for part in [*data["data"], *data["other_calls"]]
        for name, values in part.items()
        if name.endswith("_of_bins")
    }
    if lengths - {data["bins"]}:
        raise Problem(f"{path}: an array has another length than there are bins")
    return data


def label(part):
    """'independent write'"""
    return f"{KINDS[part['kind']]} {part['direction']}"


def in_order(parts):
    """Writes come first, as most programs write; kinds in the order of the table above."""
    kinds = list(KINDS)
    return sorted(
        parts, key=lambda p: (DIRECTIONS.index(p["direction"]), kinds.index(p["kind"]))
    )


def total(parts, what, direction=None):
    """Calls or bytes of all ranks."""
    return sum(p[what] for p in parts if direction in (None, p["direction"]))


def time_us(data):
    """Mean over the ranks of the time in all calls."""
    return sum(p["time_us"]["mean"] for p in [*data["data"], *data["other_calls"]])


def rate(part):
    """Megabytes of all ranks in a second of the rank that took longest; None where the calls return
    before the data have moved.
    """
    us = part["time_us"]["max"]
    return part["bytes"] / us if us and not part["kind"].startswith("nonblocking") else None


def number(value):
    return "-" if value is None else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def size(count):
    """'2.4 MB': decimal, as MB/s are."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count} B"


def call_size(part):
    """Mean bytes of a call."""
    return size(round(part["bytes"] / part["calls"])) if part["calls"] else "-"


def could_be_collective(data):
    """[(file, direction, ranks, calls, bytes, windows)] of what all ranks of a file do each on its
    own, the most calls first; without the few small calls by which libraries write their headers.
    """
    found = []
    for file in data["files"]:
        for direction in DIRECTIONS:
            mine = [w for w in file["could_be_collective"] if w["direction"] == direction]
            calls, moved = (sum(w[what] for w in mine) for what in ("calls", "bytes"))
            if mine and matters(data, direction, calls, moved):
                ranks = max(w["ranks"] for w in mine)
                found.append((file, direction, ranks, calls, moved, [w["window"] for w in mine]))
    return sorted(found, key=lambda f: -f[3])


def matters(data, direction, calls, moved):
    """Whether these are more than a small part of all calls in a direction, or of their bytes."""
    return (
        calls > MANY_CALLS * total(data["data"], "calls", direction)
        or moved > MANY_BYTES * total(data["data"], "bytes", direction)
    )


def name_of(file):
    """As the program named it."""
    return word(file["name"]) if file["name"] else "(opened unseen)"


def advice(data):
    """A sentence for each file whose independent calls could be collective."""
    said = []
    for file, direction, ranks, calls, moved, windows in could_be_collective(data):
        done = {"write": "written", "read": "read"}[direction]
        alone = " (each opened it for itself)" if file["processes"] == 1 else ""
        said.append(
            f"{name_of(file)}: all {ranks} ranks{alone} {direction} independently in the same"
            f" {share(data, windows)} of the run: {counted(f'{calls:,}', 'call')},"
            f" {size(moved)} {done},"
            f" {size(round(moved / calls))} each. Collective calls (MPI_File_{direction}_at_all and"
            " its like) let the MPI merge them."
        )
    return said


def share(data, windows):
    length = data["bins_per_window"] * data["bin_us"] / 1e6
    return profiles.percent(min(len(windows) * length, data["wall_s"]), data["wall_s"])


def summary(data):
    """One line: what the run moved, and what that took."""
    library = " ".join(data["mpi"].split(",")[0].split())
    moved = " and ".join(
        f"{size(total(data['data'], 'bytes', d))} {done} in"
        f" {counted(format(total(data['data'], 'calls', d), ','), 'call')}"
        for d, done in (("write", "written"), ("read", "read"))
        if total(data["data"], "calls", d)
    )
    inside = profiles.percent(time_us(data), data["wall_s"] * 1e6)
    return (
        f"{counted(data['ranks'], 'rank')}, {data['wall_s']:.3f} s, {library}: {inside} of the time"
        " in MPI-IO" + (f", {moved}" if moved else "; no data moved")
    )


def show(data):
    """The record as tables."""
    out.print(summary(data), soft_wrap=True)
    if data["data"] or data["other_calls"]:
        show_table(calls_table(data))
    if data["files"]:
        show_table(files_table(data))
        if len(data["files"]) > MOST_FILES:
            out.print(f"... and {len(data['files']) - MOST_FILES} more files (--json, -o)")
    for line in advice(data):
        out.print(line, soft_wrap=True)
    out.print(
        "time: mean over the ranks, max of one rank; MB/s: bytes of all ranks by that max;"
        " bytes: moved by the MPI; for non-blocking calls, asked for",
        style="dim",
        soft_wrap=True,
    )


def calls_table(data):
    made = table(
        "MPI-IO", ">ranks", ">calls", ">bytes", ">a call", ">time", ">max", ">of wall", ">MB/s"
    )
    wall = data["wall_s"] * 1e6
    for p in in_order(data["data"]):
        made.add_row(
            label(p), str(p["ranks"]), str(p["calls"]), size(p["bytes"]), call_size(p),
            profiles.seconds(p["time_us"]["mean"]), profiles.seconds(p["time_us"]["max"]),
            profiles.percent(p["time_us"]["mean"], wall), number(rate(p)),
        )  # fmt: skip
    for p in data["other_calls"]:
        made.add_row(
            OPERATIONS[p["operation"]], str(p["ranks"]), str(p["calls"]), "-", "-",
            profiles.seconds(p["time_us"]["mean"]), profiles.seconds(p["time_us"]["max"]),
            profiles.percent(p["time_us"]["mean"], wall), "-",
        )  # fmt: skip
    return made


def file_lines(data, most):
    """(name, ranks, kinds of its calls, calls, written, read, time of a rank) of the files with
    most bytes; the last is that of all which were not counted one by one.
    """
    by_bytes = sorted(data["files"], key=lambda f: -total(f["data"], "bytes"))
    lines = [file_line(name_of(f), str(f["processes"]), f) for f in by_bytes[:most]]
    if data["other_files"]["other_calls"] or data["other_files"]["data"]:
        lines.append(file_line("other files", "-", data["other_files"]))
    return lines


def file_line(name, processes, file):
    kinds = dict.fromkeys(label(p) for p in in_order(file["data"]))
    us = sum(p["time_us"]["mean"] for p in [*file["data"], *file["other_calls"]])
    return (
        name,
        processes,
        ", ".join(kinds) or "-",
        f"{total(file['data'], 'calls'):,}",
        size(total(file["data"], "bytes", "write")),
        size(total(file["data"], "bytes", "read")),
        profiles.seconds(us),
    )


def files_table(data):
    made = table("file", ">ranks", "calls are", ">calls", ">written", ">read", ">time")
    for line in file_lines(data, MOST_FILES):
        made.add_row(*line)
    return made
