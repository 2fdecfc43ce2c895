# SPDX-License-Identifier: BSD-3-Clause
"""MPI-IO on the page of `crestacoll report -o`."""

from markupsafe import Markup

from crestacoll_tools.base.text import word
from crestacoll_tools.profile import iorecords, profiles
from crestacoll_tools.report import ioplots

INTERVALS = 12  # lines of the table beside the timeline
MOST_FILES = 40


def section(source, profile=None):
    """The section about a reportfiles.Source; `profile`: the collectives' timeline of this run."""
    data = source.data
    wall = data["wall_s"] * 1e6
    parts = data["data"]
    return {
        "file": word(source.name),
        "headline": headline(data),
        "ranks": data["ranks"],
        "wall": profiles.seconds(wall),
        "library": word(data["mpi"].split(",")[0]),
        "inside": profiles.percent(iorecords.time_us(data), wall),
        "moved": [
            (f"{iorecords.size(iorecords.total(parts, 'bytes', d))} {done}", d, count)
            for d, done in (("write", "written"), ("read", "read"))
            if (count := f"{iorecords.total(parts, 'calls', d):,}") != "0"
        ],
        "advice": iorecords.advice(data),
        "svg": Markup(ioplots.timeline(data, profile)) if parts or data["other_calls"] else "",
        "bins": data["bins"],
        "bin": profiles.seconds(data["bin_us"]),
        "window": profiles.seconds(data["bin_us"] * data["bins_per_window"]),
        "profile": profile is not None,
        "lines": intervals(data),
        "calls": call_lines(data, wall),
        "files": iorecords.file_lines(data, MOST_FILES),
        "more": max(0, len(data["files"]) - MOST_FILES),
    }


def headline(data):
    """What matters most, in one sentence."""
    parts = data["data"]
    if not parts:
        return "The program moved no data by MPI-IO."
    apart = sum(p["calls"] for p in parts if p["kind"] in iorecords.APART)
    share = profiles.percent(apart, iorecords.total(parts, "calls"))
    could = sum(found[3] for found in iorecords.could_be_collective(data))
    inside = profiles.percent(iorecords.time_us(data), data["wall_s"] * 1e6)
    said = f"{inside} of the run passes in MPI-IO; {share} of its calls are independent"
    if could:
        return f"{said}, and {could:,} of these could be collective."
    return f"{said}."


def call_lines(data, wall):
    """One line for each kind of call."""
    lines = [
        (
            iorecords.label(p),
            p["ranks"],
            f"{p['calls']:,}",
            iorecords.size(p["bytes"]),
            iorecords.call_size(p),
            *times(p, wall),
            iorecords.number(iorecords.rate(p)),
        )
        for p in iorecords.in_order(data["data"])
    ]
    return lines + [
        (
            iorecords.OPERATIONS[p["operation"]],
            p["ranks"],
            f"{p['calls']:,}",
            "–",
            "–",
            *times(p, wall),
            "–",
        )
        for p in data["other_calls"]
    ]


def times(part, wall):
    t = part["time_us"]
    return (
        profiles.seconds(t["mean"]),
        profiles.seconds(t["max"]),
        profiles.percent(t["mean"], wall),
    )


def intervals(data):
    """The timeline in a few lines."""
    count = min(INTERVALS, data["bins"])
    cuts = [round(i * data["bins"] / count) for i in range(count + 1)]
    return [interval(data, begin, end) for begin, end in zip(cuts, cuts[1:])]


def interval(data, begin, end):
    us = (end - begin) * data["bin_us"]

    def of(name, direction=None, apart=None):
        return sum(
            sum(p[f"{name}_of_bins"][begin:end])
            for p in data["data"]
            if direction in (None, p["direction"])
            and apart in (None, p["kind"] in iorecords.APART)
        )

    inside = sum(
        sum(p["us_of_bins"][begin:end]) for p in [*data["data"], *data["other_calls"]]
    )
    return {
        "from": f"{begin * data['bin_us'] / 1e6:.3g}",
        "to": f"{end * data['bin_us'] / 1e6:.3g}",
        "apart": f"{of('calls', apart=True):,.0f}",
        "together": f"{of('calls', apart=False):,.0f}",
        "written": iorecords.number(of("bytes", "write") / us),
        "read": iorecords.number(of("bytes", "read") / us),
        "ranks": f"{taking_part(data, begin, end):.0f}",
        "inside": profiles.percent(inside, us),
    }


def taking_part(data, begin, end):
    """The most ranks that start calls of one kind in a bin."""
    return max((max(p["ranks_of_bins"][begin:end]) for p in data["data"]), default=0)
