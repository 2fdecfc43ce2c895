# SPDX-License-Identifier: BSD-3-Clause
"""How `crestacoll simulate` shows its points. Every picture and table says that it is simulated, on
which machine, and how far such times have been from measured ones.
"""

import textwrap
from pathlib import Path

from crestacoll_tools.base import outputs
from crestacoll_tools.base.sizes import format_amount, format_size
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import USAGE, Problem, out, show, table
from crestacoll_tools.simulate import machines


def time_words(seconds):
    """Three digits with a unit: 12.3 us."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def busy_words(share):
    return "-" if share is None else f"{100 * share:.0f} %"


def caption(machine):
    name = f"{machine['name']} ({machine['file']})"
    return f"simulated, machine {name}, {machines.said_error(machine)}"


def print_points(points, machine):
    out.print(caption(machine), soft_wrap=True, style="bold")
    for title, mine in panels(points).items():
        out.print(f"\n{title}", style="bold", soft_wrap=True)
        print_panel(mine)


def panels(points):
    """{title: points that are compared}, in their order."""
    found = {}
    for p in points:
        size = counted(format_size(p["bytes"]), "byte")
        size = "" if p["collective"] == "barrier" else f" of {size}"
        where = f" on {p['topology']}" if p.get("topology") else ""
        ranks = counted(p["ranks"], "rank")
        found.setdefault(f"{p['collective']}{size}, {ranks}{where}", []).append(p)
    return found


def print_panel(points):
    times = [p["time_s"] for p in points if p["refused"] is None]
    spread = any(p["refused"] is None and p["p10_s"] != p["p90_s"] for p in points)
    made = table(
        "implementation",
        ">simulated time",
        *([">p10 to p90"] if spread else []),
        ">by the best",
        ">messages",
        ">between nodes",
        ">bytes between",
        ">interface busy",
        "",
    )
    for p in sorted(points, key=lambda p: p.get("time_s", float("inf"))):
        if p["refused"] is not None:
            none = ["-"] * (6 + spread)
            made.add_row(p["implementation"], *none, p["refused"], style="yellow")
            continue
        made.add_row(
            p["implementation"],
            time_words(p["time_s"]),
            *([f"{time_words(p['p10_s'])} to {time_words(p['p90_s'])}"] if spread else []),
            f"{p['time_s'] / min(times):.2f}" if min(times) > 0 else "-",
            str(p["messages"]),
            str(p["messages_between_nodes"]),
            format_amount(p["bytes_between_nodes"]),
            busy_words(p["busiest_interface"]),
            "",
        )
    show(made)


def check_plot(path):
    """Before minutes of simulation, not after them."""
    if path is None:
        return
    if Path(path).suffix not in (".png", ".svg", ".pdf"):
        raise Problem(f"--plot {path}: expected a name that ends with .png, .svg or .pdf", USAGE)
    if not Path(path).parent.is_dir():
        raise Problem(f"--plot {path}: no folder {Path(path).parent}", USAGE)


def save_plot(points, machine, path):
    """Times over what varies, sizes or else numbers of ranks: one panel for each of the others."""
    from matplotlib import pyplot as plt

    from crestacoll_tools.pages import plots

    over = "bytes" if len({p["bytes"] for p in points}) > 1 else "ranks"
    other = "ranks" if over == "bytes" else "bytes"
    groups = {}
    for p in points:
        groups.setdefault((p["collective"], p[other]), []).append(p)
    size = (7.4 * len(groups), 4.6)
    figure, grid = plt.subplots(1, len(groups), figsize=size, squeeze=False, layout="constrained")
    for axes, ((collective, value), mine) in zip(grid.flat, groups.items()):
        panel(axes, mine, over, plots)
        what = (
            counted(value, "rank") if over == "bytes" else counted(format_size(value), "byte")
        )
        axes.set_title(f"{collective}, {what}", fontsize=10)
    lines = textwrap.fill(caption(machine), 90 * len(groups))
    figure.suptitle(lines, fontsize=9)
    with outputs.beside(path) as made:
        figure.savefig(made, dpi=150)
    plt.close(figure)


def panel(axes, points, over, plots):
    from matplotlib import ticker

    for k, name in enumerate(plots.names_of(points)):
        mine = [p for p in points if p["implementation"] == name and p["refused"] is None]
        look = plots.line_style(k + 1, name)
        x = [max(p[over], 1) for p in mine]
        axes.plot(x, [1e6 * p["time_s"] for p in mine], label=name, **({"marker": "."} | look))
    axes.set_xscale("log", base=2)
    ticks = sorted({max(p[over], 1) for p in points})
    ticks = ticks[:: -(-len(ticks) // plots.MOST_TICKS)]
    axes.set_xticks(ticks, [format_size(t) if over == "bytes" else str(t) for t in ticks])
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.grid(alpha=0.3)
    axes.set_xlabel("bytes" if over == "bytes" else "ranks")
    axes.set_ylabel("simulated time, microseconds")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
