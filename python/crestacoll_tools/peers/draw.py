# SPDX-License-Identifier: BSD-3-Clause
"""The ratio over size, a panel for each collective."""

from matplotlib import ticker

from crestacoll_tools.base import outputs
from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.pages.plots import MUTED, PALETTE, plt
from crestacoll_tools.peers import verdicts

# How the lines of a panel differ: name, ranks, whether the root is fixed, look.
LINES = [
    ("2 ranks", 2, False, {"color": PALETTE[0], "marker": "o"}),
    ("2 ranks, root 0", 2, True, {"color": PALETTE[2], "marker": "s"}),
    ("4 ranks on 2 cores", 4, False, {"color": PALETTE[1], "marker": "^"}),
    ("8 ranks on 2 cores", 8, False, {"color": PALETTE[3], "marker": "v"}),
]
COLUMNS = 4


def file_of(speed):
    return "performance.svg" if speed == 1 else f"performance-{speed}.svg"


def shown(rows):
    """Data written again, as programs do; on lines of which only the other was measured, that."""
    known = [r for r in verdicts.measured(rows) if verdicts.plain(r)]
    lines = {line(r) for r in known if verdicts.written(r)}
    return [r for r in known if verdicts.written(r) or line(r) not in lines]


def line(row):
    return row.point.collective, row.point.ranks, row.point.root == "fixed"


def save(rows, path):
    """Times more than 10 or less than 1/20 of the fastest MPI are drawn at the edge."""
    found = shown(rows)
    names = list(dict.fromkeys(r.point.collective for r in found))
    if not names:
        return
    lines = -(-len(names) // COLUMNS)
    figure, grid = plt.subplots(
        *(lines, COLUMNS),
        figsize=(3.1 * COLUMNS, 2.3 * lines + 0.5),
        squeeze=False,
        sharey=True,
        layout="constrained",
    )
    for axes in grid.flat[len(names) :]:
        axes.remove()
    for axes, name in zip(grid.flat, names, strict=False):
        panel(axes, name, [r for r in found if r.point.collective == name])
    handles = [plt.Line2D([], [], label=label, **look) for label, _, _, look in LINES]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(LINES), frameon=False)
    figure.supylabel("crestacoll on Open MPI 5 / fastest MPI", fontsize=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    # The same figures give the same file.
    with plt.rc_context({"svg.hashsalt": "crestacoll", "svg.fonttype": "none"}):
        with outputs.beside(path) as made:
            figure.savefig(made, metadata={"Date": None})
    plt.close(figure)


def panel(axes, name, rows):
    for _, ranks, fixed, look in LINES:
        mine = [r for r in rows if r.point.ranks == ranks and (r.point.root == "fixed") == fixed]
        mine.sort(key=lambda r: r.point.bytes)
        x = [max(r.point.bytes, 8) for r in mine]
        y = [min(max(r.ratio, 0.05), 10) for r in mine]
        axes.plot(x, y, markersize=4, linewidth=1.4, **look)
    axes.axhline(1, color=MUTED, linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(4, 16 << 20)
    axes.set_ylim(0.045, 11)
    ticks = [8, 512, 32 << 10, 2 << 20]
    axes.set_xticks(ticks, [format_size(n) for n in ticks])
    axes.set_yticks([0.1, 0.2, 0.5, 1, 2, 5, 10])
    axes.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.yaxis.set_minor_locator(ticker.NullLocator())
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.grid(alpha=0.3)
    axes.set_title(name, fontsize=10)
