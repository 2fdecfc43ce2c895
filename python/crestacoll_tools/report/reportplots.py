# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of `crestacoll report -o`: inline SVG. A table beside each has the same figures."""

import numpy as np

from crestacoll_tools.base.text import word
from crestacoll_tools.bench import benchjob, benchplots
from crestacoll_tools.explore import draw
from crestacoll_tools.pages.plots import INK, MUTED, PALETTE, STYLE, finish, plt, rows, to_svg

TRANSFER, WAITING = PALETTE[0], PALETTE[1]
HEATS = ("Blues", "Oranges")  # one hue each, light to dark: also in grey, and on paper
LONGEST = 34  # characters of a name in a picture
MOST_COLOURS = 5  # collectives with a colour of their own
OTHERS = "others"
GAP = 0.55  # inches between two pictures


def shown(name):
    """A name from the program, as a picture can have it."""
    text = word(name).encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "\u2026"


def bars(groups, wall_us, label):
    """Per cent of the run for each group of profiles.shares: transfer, waiting, not known."""
    parts = (
        ("transfer", TRANSFER, lambda g: g["us"] - g["wait_us"] - g["unknown_us"]),
        ("waiting for late ranks", WAITING, lambda g: g["wait_us"]),
        ("in collectives, wait not measured", MUTED, lambda g: g["unknown_us"]),
    )
    with plt.rc_context(STYLE):
        figure, axes = rows(len(groups))
        axes.grid(axis="x")
        left = np.zeros(len(groups))
        for name, colour, part in parts:
            width = np.array([100 * part(g) / wall_us for g in groups.values()])
            if width.sum() > 0:
                axes.barh(range(len(groups)), width, 0.6, left, color=colour, label=name)
            left += width
        for y, end in enumerate(left):
            axes.annotate(
                f"{end:.3g} %", (end, y), (4, 0), textcoords="offset points", va="center"
            )
        axes.set_xlim(0, max(1e-9, 1.15 * left.max()))
        finish(axes, [shown(name) for name in groups], "per cent of the run, mean over the ranks")
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "frameon": False}
        axes.legend(ncols=3, labelcolor=INK, fontsize=10, handlelength=1, **place)
        return to_svg(figure, label)


def sizes(table, names, wall_us):
    """Columns over size classes, stacked by collective; `table` is {size: {collective: us}}."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(8.2, 3.4))
        axes.grid(axis="y")
        axes.tick_params(length=0)
        bottom = np.zeros(len(table))
        for name in names:
            height = np.array([100 * cells.get(name, 0) / wall_us for cells in table.values()])
            axes.bar(range(len(table)), height, 0.7, bottom, color=colour(names, name), label=name)
            bottom += height
        axes.set_xticks(range(len(table)), list(table), rotation=45 if len(table) > 8 else 0)
        axes.set_xlabel("bytes of a call", fontsize=10)
        axes.set_ylabel("per cent of the run", fontsize=10)
        beside(axes)
        return to_svg(figure, "share of the run by size of the call and collective")


def colour(names, name):
    return MUTED if name == OTHERS else PALETTE[names.index(name) % len(PALETTE)]


def beside(axes):
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
    axes.legend(labelcolor=INK, fontsize=10, handlelength=1, **place)


def largest(collectives):
    """{name: bins} of those with most time, and the sum of the others."""
    known = sorted(collectives.items(), key=lambda item: -sum(item[1]))
    few = {name: np.array(bins) for name, bins in known[:MOST_COLOURS]}
    if len(known) > MOST_COLOURS:
        few[OTHERS] = np.sum([bins for _, bins in known[MOST_COLOURS:]], axis=0)
    return few


def timeline(data):
    """Over the time of the run: the share of collectives, then of each rank, then waiting."""
    line = data["timeline"]
    waits = np.array([[np.nan if w is None else w for w in r["waiting_us"]] for r in line["rows"]])
    heats = [("in collectives, by rank", np.array([r["busy_us"] for r in line["rows"]]))]
    if not np.isnan(waits).all():
        heats.append(("waiting for late ranks, by rank; hatched: not measured", waits))
    height = min(3.2, 0.7 + 0.22 * len(line["rows"]))
    heights = [2.2, *[height] * len(heats)]
    with plt.rc_context(STYLE | {"axes.spines.left": True}):
        figure, grid = plt.subplots(
            1 + len(heats),
            2,
            figsize=(8.2, 0.4 + sum(heights) + GAP * len(heats)),
            sharex="col",
            gridspec_kw={
                "width_ratios": [1, 0.02],
                "wspace": 0.03,
                "height_ratios": heights,
                "hspace": GAP * len(heights) / sum(heights),
            },
        )
        stack(grid[0, 0], line)
        grid[0, 1].remove()
        for (axes, scale), (title, values), hues in zip(grid[1:], heats, HEATS):
            heat(axes, scale, line, title, values, hues)
        grid[-1, 0].set_xlabel("seconds since MPI_Init", fontsize=10)
        return to_svg(figure, "share of collectives over the time of the run, and by rank")


def edges(line):
    """Begins of the bins and the end of the last, in seconds."""
    return np.arange(line["bins"] + 1) * line["bin_us"] / 1e6


def stack(axes, line):
    """Mean over the ranks, by collective, and the ranks with least and most."""
    few, at = largest(line["collectives_us"]), edges(line)
    bottom, names = np.zeros(line["bins"]), list(few)
    for name, bins in few.items():
        top = bottom + 100 * bins / line["bin_us"]
        axes.stairs(top, at, baseline=bottom, fill=True, color=colour(names, name), label=name)
        bottom = top
    for key in ("min", "max"):
        bins = 100 * np.array(line["busy_us"][key]) / line["bin_us"]
        name = "least and most of a rank" if key == "min" else None
        axes.stairs(bins, at, baseline=None, color=INK, linewidth=0.7, label=name)
    highest = 100 * max(line["busy_us"]["max"]) / line["bin_us"]
    axes.set_ylim(0, max(1e-9, min(105.0, 1.05 * highest)))
    axes.set_xlim(0, at[-1])
    axes.grid(axis="y")
    axes.set_ylabel("% of the time", fontsize=10)
    axes.set_title("in collectives, mean over the ranks", fontsize=10, loc="left")
    axes.legend(
        ncols=4,
        labelcolor=INK,
        fontsize=9.5,
        handlelength=1,
        frameon=False,
        loc="lower left",
        bbox_to_anchor=(0, 1.1),
    )


def heat(axes, scale, line, title, values, hues):
    """A row for each rank, or group of ranks; 0 to 100 % of a bin."""
    last = line["rows"][-1]
    ranks = last["rank"] + last["ranks"]
    shown_as = axes.imshow(
        100 * np.clip(values / line["bin_us"], 0, 1),
        cmap=hues,
        vmin=0,
        vmax=100,
        aspect="auto",
        interpolation="nearest",
        extent=(0, edges(line)[-1], ranks - 0.5, -0.5),
    )
    whole = {"transform": axes.transAxes, "fill": False, "linewidth": 0, "zorder": -1}
    axes.add_patch(plt.Rectangle((0, 0), 1, 1, hatch="////", edgecolor=MUTED, **whole))
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_ylabel("rank", fontsize=10)
    axes.yaxis.get_major_locator().set_params(integer=True, nbins=min(8, max(ranks - 1, 1)))
    axes.set_ylim(ranks - 0.5, -0.5)
    bar = axes.figure.colorbar(shown_as, cax=scale, ticks=[0, 50, 100])
    bar.ax.set_yticklabels(["0 %", "50 %", "100 %"], fontsize=9)
    bar.outline.set_visible(False)


def figure_of(records, panel, by, label):
    """Panels side by side, one for each `by(record)`."""
    panels = {}
    for r in records:
        panels.setdefault(by(r), []).append(r)
    columns = min(2, len(panels))
    lines = -(-len(panels) // columns)
    with plt.rc_context(STYLE | {"axes.spines.left": True}):
        figure, grid = plt.subplots(
            lines,
            columns,
            figsize=(8.6, (4.2 if columns == 1 else 3.9) * lines),
            squeeze=False,
            layout="constrained",
        )
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        for axes, mine in zip(grid.flat, panels.values()):
            panel(axes, mine)
            axes.get_legend().set_frame_on(False)
            for text in axes.get_legend().get_texts():
                text.set_color(INK)
        return to_svg(figure, label)


def bench(records):
    """Figures 3 and 4 of D4.5.3: time over size, a panel for each MPI, number of ranks and kind of
    data."""
    collective = records[0]["collective"]
    return figure_of(
        records,
        benchplots.bench_panel,
        lambda r: (r["mpi"], *benchjob.way(r)),
        f"time over bytes of {collective}, by implementation",
    )


def overlap(records):
    """Figure 5 of D4.5.3: overlap over size, a panel for each collective, MPI and job."""
    return figure_of(
        records,
        lambda axes, mine: benchplots.overlap_panel(axes, mine[0]["mpi"], mine),
        lambda r: (r["collective"], r["mpi"], r["ranks"], r["hosts"]),
        "overlap over bytes, by implementation",
    )


def run_parts(groups):
    """Where the time of a run goes, as one bar: [(name, microseconds)], what is outside first."""
    total = sum(us for _, us in groups) or 1.0
    colours = [MUTED, *PALETTE]
    shares = [(name, us / total, colours[i % len(colours)]) for i, (name, us) in enumerate(groups)]
    axis = "per cent of the run's time, mean over the ranks"
    return draw.whole(shares, axis, "where the time of the run goes")
