# SPDX-License-Identifier: BSD-3-Clause
"""Plots of what `bench` and `overlap` measured."""

from matplotlib import ticker

from crestacoll_tools.base import outputs
from crestacoll_tools.base.text import counted
from crestacoll_tools.bench import benchjob
from crestacoll_tools.pages.plots import (
    INK,
    MUTED,
    PALETTE,
    STYLE,
    family,
    line_style,
    names_of,
    plt,
    size_axis,
    to_svg,
)

FEW = 5  # lines whose bands can be told apart, with a legend inside


def save_bench(records, path):
    """Times of `crestacoll bench` over sizes, one panel a collective and MPI, into a file."""
    panels = benchjob.panels(records)
    if not panels:
        return
    many = any(len(names_of(mine)) > FEW for mine in panels)
    columns = min(2 if many else 3, len(panels))
    lines = -(-len(panels) // columns)
    size = (7.4 * columns, 4.2 * lines) if many else (4.6 * columns, 3.6 * lines)
    figure, grid = plt.subplots(lines, columns, figsize=size, squeeze=False, layout="constrained")
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    for axes, mine in zip(grid.flat, panels):
        bench_panel(axes, mine)
    with outputs.beside(path) as made:
        figure.savefig(made, dpi=150)
    plt.close(figure)


def bench_svg(records):
    """One panel of that plot, inline."""
    with plt.rc_context(STYLE | {"axes.spines.left": True}):
        figure, axes = plt.subplots(figsize=(9.2, 4.6))
        bench_panel(axes, records)
        axes.set_title("")
        for text in axes.get_legend().get_texts():
            text.set_color(INK)
        return to_svg(figure, f"time over bytes of {records[0]['collective']}, by implementation")


def bench_panel(axes, records):
    first = records[0]
    names = names_of(records)
    families = list(dict.fromkeys(family(name) for name in names))
    for name in names:
        mine = [r for r in records if r["implementation"] == name]
        x, look = [max(r["bytes"], 1) for r in mine], line_style(families.index(family(name)), name)
        axes.plot(x, [r["median_us"] for r in mine], label=name, **({"marker": "."} | look))
        if len(names) > FEW and name != "mpi":
            continue
        low, high = [r["p10_us"] for r in mine], [r["p90_us"] for r in mine]
        axes.fill_between(x, low, high, color=look["color"], alpha=0.2, linewidth=0)
    size_axis(axes, records)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.grid(alpha=0.3)
    title = f"{first['collective']}, {first['mpi']}, {counted(first['ranks'], 'rank')}"
    axes.set_title(title + benchjob.data_words(first), fontsize=10)
    axes.set_xlabel("bytes")
    band = "band p10-p90" if len(names) <= FEW else "band p10-p90 of mpi"
    axes.set_ylabel(f"microseconds (median; {band})", fontsize=9)
    outside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "frameon": False}
    axes.legend(fontsize=9, **(outside if len(names) > FEW else {}))


def save_overlap(records, path):
    """Figure 5 of D4.5.3: overlap over sizes, one panel an MPI, as D4.5.3 defines it."""
    panels = {}
    for r in records:
        panels.setdefault(r["mpi"], []).append(r)
    if not panels:
        return
    size = (6.4 * len(panels), 4.0)
    figure, grid = plt.subplots(1, len(panels), figsize=size, squeeze=False, layout="constrained")
    for axes, (mpi, mine) in zip(grid.flat, panels.items()):
        overlap_panel(axes, mpi, mine)
    with outputs.beside(path) as made:
        figure.savefig(made, dpi=150)
    plt.close(figure)


def overlap_panel(axes, mpi, records):
    for k, name in enumerate(names_of(records)):
        mine = [r for r in records if r["implementation"] == name]
        look = {
            "color": MUTED if name == "nonblock" else PALETTE[k % len(PALETTE)],
            "marker": "o",
        }
        share = [100 * r["overlap_cresta"] for r in mine]
        axes.plot([max(r["bytes"], 1) for r in mine], share, label=name, **look)
    first = records[0]
    hosts = f"{first['hosts']} host{'s' * (first['hosts'] > 1)}"
    ranks = counted(first["ranks"], "rank")
    axes.set_title(f"{first['collective']}, {mpi}, {ranks} on {hosts}", fontsize=10)
    size_axis(axes, records)
    axes.set_ylim(-2, 102)
    axes.grid(alpha=0.3)
    axes.set_xlabel("bytes")
    axes.set_ylabel("overlap, % of min(C, N)", fontsize=9)
    axes.legend(fontsize=9)
