# SPDX-License-Identifier: BSD-3-Clause
"""Plots. For the report as SVG that takes the colours of its page, so that it is readable in
light and dark.
"""

import html
import io
import re

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["text.parse_math"] = False  # a $ in a name is one

from matplotlib import pyplot as plt, ticker  # noqa: E402

from crestacoll import benchjob, outputs  # noqa: E402
from crestacoll.sizes import format_size  # noqa: E402
from crestacoll.ui import counted  # noqa: E402

INK, GRID = "#010203", "#040506"  # stand for the page's own colours until to_svg replaces them
# Okabe and Ito's colours, which readers with any kind of colour vision tell apart.
PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"]
MUTED = "#8b919b"
STYLE = {
    "svg.fonttype": "none",
    "font.size": 11,
    "font.family": "sans-serif",
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "svg.hashsalt": "crestacoll",
}


def to_svg(figure, label):
    """Inline SVG without fixed size; `label` is for those who cannot see it."""
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None}
    )
    plt.close(figure)
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor").replace(GRID, "var(--grid)")
    text = re.sub(
        r'(<svg[^>]*?) width="[^"]*"',
        r"\1",
        re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1),
        count=1,
    )
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(
        r"font: [\d.]+px [^;\"]*", lambda m: re.sub(r"px .*", "px var(--font)", m[0]), text
    )
    return text.replace("<svg", f'<svg role="img" aria-label="{html.escape(label)}"', 1)


def rows(count):
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(8.2, 0.75 + 0.46 * count))
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    return figure, axes


def finish(axes, names, xlabel):
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel(xlabel, fontsize=10)


MOST_TICKS = 8
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


def names_of(records):
    return list(dict.fromkeys(r["implementation"] for r in records))


def family(name):
    """Static and dynamic memory have one colour."""
    return re.sub(r"=(static|dynamic)\b", "=", name)


def line_style(k, name):
    """`mpi` is what all others are compared with; models are dashed, dotted with memory for each
    call, algorithms have markers."""
    if name == "mpi":
        return {"color": INK, "linewidth": 2.4, "zorder": 3}
    look = {"color": PALETTE[(k - 1) % len(PALETTE)], "linewidth": 1.5}
    if name.endswith("=dynamic"):
        return look | {"linestyle": ":"}
    if ":" not in name:
        return look | {"linestyle": "--"}
    return look | {"marker": "osv^Dx"[(k // len(PALETTE)) % 6], "markersize": 4}


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


def size_axis(axes, records):
    """Sizes as people write them, as many as there is room for. (What matplotlib writes itself on
    such an axis is a formula, and formulas are off.)
    """
    sizes = sorted({max(r["bytes"], 1) for r in records})
    step = -(-len(sizes) // MOST_TICKS)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes[::step], [format_size(size) for size in sizes[::step]])
    axes.xaxis.set_minor_locator(ticker.NullLocator())


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
