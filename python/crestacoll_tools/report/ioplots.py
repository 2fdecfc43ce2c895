# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of MPI-IO in `crestacoll report -o`: calls and MB/s over the time of the run. Tables
beside them have the same figures.
"""

import numpy as np
from matplotlib import ticker

from crestacoll_tools.pages.plots import INK, MUTED, PALETTE, STYLE, plt, to_svg
from crestacoll_tools.profile import iorecords
from crestacoll_tools.report import reportplots

# Kind: colour and marker, which tell them apart without colours too. Independent calls stand out.
LOOKS = {
    "independent": (PALETTE[5], "x"),
    "collective": (PALETTE[0], "+"),
    "split": (PALETTE[2], "1"),
    "nonblocking": (PALETTE[1], "v"),
    "nonblocking_collective": (PALETTE[3], "^"),
}
MARK = PALETTE[5]
HEIGHTS = {"calls": 2.4, "rates": 1.9, "shares": 1.9, "collectives": 1.9}  # inches
COLUMNS = 3  # of a legend
TINY = 1e-12  # below all of a logarithmic axis


def edges(data):
    """Begins of the bins and the end of the last, in seconds."""
    return np.arange(data["bins"] + 1) * data["bin_us"] / 1e6


def timeline(data, profile=None):
    """Panels over one time axis: for each direction the calls and MB/s of each kind, how much of
    the time passes in MPI-IO, and in collectives, if there is a profile of the run.
    """
    directions = [
        d for d in iorecords.DIRECTIONS if iorecords.total(data["data"], "calls", d) > 0
    ]
    panels = [(draw, d) for d in directions for draw in (calls, rates)] + [(shares, None)]
    if profile is not None:
        panels.append((collectives, profile))
    heights = [HEIGHTS[draw.__name__] for draw, _ in panels]
    with plt.rc_context(STYLE | {"axes.spines.left": True}):
        figure, grid = plt.subplots(
            len(panels),
            1,
            figsize=(8.2, sum(heights)),
            sharex=True,
            squeeze=False,
            gridspec_kw={"height_ratios": heights},
            layout="constrained",
        )
        for axes, (draw, what) in zip(grid[:, 0], panels):
            draw(axes, data, what)
            axes.grid(axis="y")
            axes.tick_params(length=0)
        end = max(edges(data)[-1], reportplots.edges(profile)[-1] if profile else 0)
        grid[-1, 0].set_xlim(0, min(end, data["wall_s"]) or end)
        grid[-1, 0].set_xlabel("seconds since MPI_Init", fontsize=10)
        return to_svg(figure, "calls of MPI-IO and MB/s over the time of the run, by kind of call")


def middles(data):
    at = edges(data)
    return (at[:-1] + at[1:]) / 2


def parts_of(data, direction):
    return [p for p in iorecords.in_order(data["data"]) if p["direction"] == direction]


def calls(axes, data, direction):
    """A mark for each bin that has calls, on a logarithmic scale."""
    marked(axes, data, direction)
    for p in parts_of(data, direction):
        colour, marker = LOOKS[p["kind"]]
        count = np.array(p["calls_of_bins"])
        some = count > 0
        axes.plot(
            middles(data)[some],
            count[some],
            marker,
            color=colour,
            markersize=5.5,
            markeredgewidth=1.3,
            label=f"{iorecords.KINDS[p['kind']]} ({p['calls']:,})",
        )
    logarithmic(axes, 1)
    axes.set_ylabel("calls in a bin", fontsize=10)
    above(axes, f"{direction}s")


def marked(axes, data, direction):
    """Shades the windows where independent calls could be collective."""
    length = data["bins_per_window"] * data["bin_us"] / 1e6
    windows = {
        window
        for _, found, *_, places in iorecords.could_be_collective(data)
        if found == direction
        for window in places
    }
    for i, window in enumerate(sorted(windows)):
        axes.axvspan(
            window * length,
            (window + 1) * length,
            color=MARK,
            alpha=0.16,
            linewidth=0,
            label="could be collective" if i == 0 else None,
        )


def rates(axes, data, direction):
    """MB/s of all ranks in each bin, on a logarithmic scale."""
    for p in parts_of(data, direction):
        colour, marker = LOOKS[p["kind"]]
        rate = np.array(p["bytes_of_bins"]) / data["bin_us"]
        some = rate > 0
        at, high = middles(data)[some], rate[some]
        axes.vlines(at, TINY, high, color=colour, alpha=0.3, linewidth=1.0)
        axes.plot(at, high, marker, color=colour, markersize=4.5, markeredgewidth=1.1)
    rate = [b / data["bin_us"] for p in parts_of(data, direction) for b in p["bytes_of_bins"] if b]
    if rate:
        axes.set_ylim(0.6 * min(rate), max(rate))
    logarithmic(axes, None)
    axes.set_ylabel("MB/s", fontsize=10)


def logarithmic(axes, least):
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if least is not None:
        low = 0.7 * least
    axes.set_ylim(low, max(1.5 * high, 12 * low))
    axes.yaxis.set_major_locator(ticker.LogLocator(base=10, numticks=6))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: short(value)))
    axes.yaxis.set_minor_locator(ticker.NullLocator())


def short(value):
    """1000000 -> '1M'"""
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:g}{unit}"
    return f"{value:g}"


def shares(axes, data, _):
    """Per cent of the time of a rank: moving data, and the calls around that."""
    bottom = np.zeros(data["bins"])
    parts = {
        "data": (PALETTE[0], data["data"]),
        "open, close, sync, set_view": (MUTED, data["other_calls"]),
    }
    for name, (colour, mine) in parts.items():
        if not mine:
            continue
        top = bottom + 100 * np.sum([p["us_of_bins"] for p in mine], axis=0) / data["bin_us"]
        axes.stairs(top, edges(data), baseline=bottom, fill=True, color=colour, label=name)
        bottom = top
    axes.set_ylim(0, min(105.0, max(1e-9, 1.1 * bottom.max())))
    axes.set_ylabel("% of the time", fontsize=10)
    above(axes, "in MPI-IO, mean over the ranks")


def above(axes, title):
    """The legend above a panel, and the title above that."""
    lines = -(-len(axes.get_legend_handles_labels()[0]) // COLUMNS)
    axes.set_title(title, fontsize=10.5, loc="left", fontweight="bold", pad=5 + 16 * lines)
    axes.legend(
        ncols=COLUMNS,
        labelcolor=INK,
        fontsize=9.5,
        handlelength=1,
        columnspacing=1.2,
        labelspacing=0.3,
        frameon=False,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        borderaxespad=0.1,
    )


def collectives(axes, data, profile):
    """What the profile of the same run says of collectives."""
    few, at = reportplots.largest(profile["collectives_us"]), reportplots.edges(profile)
    bottom, names = np.zeros(profile["bins"]), list(few)
    for name, bins in few.items():
        top = bottom + 100 * bins / profile["bin_us"]
        colour = reportplots.colour(names, name)
        axes.stairs(top, at, baseline=bottom, fill=True, color=colour, label=name)
        bottom = top
    axes.set_ylim(0, min(105.0, max(1e-9, 1.1 * bottom.max())))
    axes.set_ylabel("% of the time", fontsize=10)
    above(axes, "in collectives")
