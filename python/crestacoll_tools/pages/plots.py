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

from matplotlib import (
    pyplot as plt,  # noqa: E402
    ticker,
)

from crestacoll_tools.base.sizes import format_size  # noqa: E402

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
    """Returns the figure as inline SVG that takes the width of its page. Screen readers read the
    `label` out.
    """
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


def size_axis(axes, records):
    """Sizes as people write them, as many as there is room for. (What matplotlib writes itself on
    such an axis is a formula, and formulas are off.)
    """
    sizes = sorted({max(r["bytes"], 1) for r in records})
    step = -(-len(sizes) // MOST_TICKS)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes[::step], [format_size(size) for size in sizes[::step]])
    axes.xaxis.set_minor_locator(ticker.NullLocator())
