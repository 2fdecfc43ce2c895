# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of docs/lab/scale.md. Each says that it is simulated, on which machine, and how far
messages of that machine file are from measured ones.
"""

import scale_claims
from crestacoll_tools.pages.plots import INK, MUTED, PALETTE, plt, size_axis
from crestacoll_tools.simulate import machines, show
from matplotlib import ticker
from scale_points import XC, XE

DOCUMENT = {"color": INK, "linestyle": "none", "marker": "D", "markersize": 6, "zorder": 3}


def save(figure, path, names):
    said = "\n".join(show.caption(machines.load(name)) for name in names)
    figure.suptitle(said, fontsize=7)
    path.parent.mkdir(parents=True, exist_ok=True)
    # The same figures give the same file.
    with plt.rc_context({"svg.hashsalt": "crestacoll", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def panels(lines, columns, size):
    return plt.subplots(lines, columns, figsize=size, squeeze=False, layout="constrained")


def harness(rows, path):
    """ALGs over nodes, by the time of `MPI`."""
    figure, grid = panels(1, 1, (7.4, 4.2))
    axes = grid[0][0]
    nodes = sorted(scale_claims.times(rows, "harness", "nodes")["MPI_Alltoall"])
    at = {n: scale_claims.iterations(rows, n) for n in nodes}
    study = scale_claims.STUDY
    for k, alg in enumerate(("MIB", "MIN", "CsN")):
        x = [n for n in nodes if alg in at[n]]
        axes.plot(x, [at[n]["MPI"] / at[n][alg] for n in x], color=PALETTE[k], marker="o",
                  markersize=4, label=f"{alg}, simulated")
        x = [n for n in study if alg in study[n]]
        y = [study[n]["MPI"][0] / study[n][alg][0] for n in x]
        axes.plot(x, y, label=f"{alg}, study", **(DOCUMENT | {"color": PALETTE[k]}))
    axes.axhline(1, color=MUTED, linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set_xticks(nodes, [str(n) for n in nodes])
    axes.set_ylim(0, None)
    axes.set_xlabel("nodes, 16 ranks each")
    axes.set_ylabel("times faster than MPI, with the work")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    save(figure, path, [XE, f"{XE}-puts"])


def alltoall(rows, path):
    """Cray's alltoall: how much faster without messages of the MPI, over sizes."""
    figure, grid = panels(1, 1, (6.4, 3.8))
    axes = grid[0][0]
    at = scale_claims.times(rows, "alltoall")
    sizes = sorted(at["uGNI"])
    y = [at["send and receive"][n] / at["uGNI"][n] for n in sizes]
    axes.plot(sizes, y, color=PALETTE[0], marker="o", label="simulated")
    axes.axhline(5, label="Cray: about 5 for small messages", color=INK, linestyle="--")
    axes.axhline(1, color=MUTED, linewidth=1)
    size_axis(axes, [{"bytes": n} for n in sizes])
    axes.set_ylim(0, None)
    axes.set_xlabel("bytes")
    axes.set_ylabel("times faster than send and receive")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    save(figure, path, [XC, f"{XC}-puts"])


def cresta(rows, path):
    """Figures 3 and 4 of D4.5.3: a panel for each collective and number of ranks."""
    every = {}
    for r in rows:
        if r["curve"].startswith("cresta "):
            key = r["curve"].split()[1], int(r["ranks"])
            lines = every.setdefault(key, {})
            lines.setdefault(r["line"], {})[int(r["bytes"])] = float(r["seconds"])
    names = ("alltoall", "allreduce")
    ranks = sorted({n for _, n in every})
    figure, grid = panels(len(names), len(ranks), (3.4 * len(ranks), 5.6))
    for k, name in enumerate(names):
        for axes, n in zip(grid[k], ranks, strict=True):
            curves(axes, every[name, n])
            axes.set_title(f"{name}, {n} ranks", fontsize=10)
        grid[k][0].set_ylabel("simulated microseconds")
    grid[0][0].legend(fontsize=8)
    save(figure, path, [XC, f"{XC}-puts"])


def curves(axes, lines):
    for k, (line, at) in enumerate(lines.items()):
        sizes = sorted(at)
        axes.plot(sizes, [1e6 * at[n] for n in sizes], color=PALETTE[k], marker="o", markersize=4,
                  label=line)
    size_axis(axes, [{"bytes": n} for at in lines.values() for n in at])
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(alpha=0.3)
    axes.set_xlabel("bytes")


def overlap(rows, path):
    """Figure 5 of D4.5.3."""
    figure, grid = panels(1, 2, (8.4, 3.6))
    for axes, name in zip(grid[0], ("alltoall", "allreduce"), strict=True):
        at = scale_claims.overlaps(rows, name)
        for k, label in enumerate(("nobody drives the messages", "a thread does")):
            axes.plot(list(at), [100 * x[k] for x in at.values()], color=PALETTE[k], marker="o",
                      markersize=4, label=label)
        size_axis(axes, [{"bytes": n} for n in at])
        axes.set_ylim(-2, 104)
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("bytes")
        axes.grid(alpha=0.3)
    grid[0][0].set_ylabel("simulated overlap, %")
    grid[0][0].legend(fontsize=8)
    save(figure, path, [XC])


PICTURES = {"harness": harness, "alltoall": alltoall, "cresta": cresta, "overlap": overlap}


def save_all(rows, folder):
    for name, draw in PICTURES.items():
        draw(rows, folder / f"scale-{name}.svg")
