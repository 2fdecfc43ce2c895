# SPDX-License-Identifier: BSD-3-Clause
"""The plots of the report."""

import numpy as np

from crestacoll_tools.explore import words
from crestacoll_tools.pages.plots import INK, MUTED, PALETTE, STYLE, finish, plt, rows, to_svg
from crestacoll_tools.race import racestats

FASTER, SLOWER = PALETTE[2], PALETTE[5]
MOST_DOTS = 400
FAR = 1.5  # times the range of the rounds that the trimmed mean keeps: beyond it a round is far
WIDEST = 50.0  # per cent: what is slower is drawn at the edge


def colour_of(d):
    """The colour of a difference; of one that is not sure, a muted one."""
    return {"faster": FASTER, "slower": SLOWER}.get(words.claim(d), MUTED)


def tried(arms, of="step"):
    """A dot and an interval for each arm, as its last race found it. None without any."""
    shown = list({name_of(a): a for a in arms if a["difference"]}.values())
    if not shown:
        return None
    edge = min(WIDEST, max(3.0, 110 * max(a["difference"]["high"] for a in shown)))
    with plt.rc_context(STYLE):
        figure, axes = rows(len(shown))
        axes.grid(axis="x")
        axes.axvline(0, color=INK, linewidth=1)
        for y, arm in enumerate(shown):
            interval(axes, y, arm["difference"], edge)
        left = min(-2.0, *(110 * a["difference"]["low"] for a in shown))
        axes.set_xlim(left, edge)
        finish(axes, [name_of(a) for a in shown], f"per cent of a {of}; left is faster")
        return to_svg(figure, "difference of every arm to the MPI, with its interval")


def name_of(arm):
    return "the choice, in the proof" if arm["race"] == "proof" else arm["name"]


def interval(axes, y, d, edge):
    colour, middle = colour_of(d), 100 * d["trimmed"]
    if middle > edge:
        text = f"{middle:+.0f} % \u2192"
        axes.annotate(text, (edge, y), ha="right", va="center", fontsize=9.5, color=colour)
        return
    axes.plot([100 * d["low"], 100 * d["high"]], [y, y], color=colour, linewidth=3)
    axes.plot(middle, y, "o", color=colour, markersize=7)
    place = {"textcoords": "offset points", "ha": "center", "va": "bottom", "fontsize": 9.5}
    axes.annotate(f"{middle:+.1f}", (middle, y), (0, 5), **place)


def drawn(values):
    """The range of what is drawn: a round far from the others would leave no room for them."""
    low, high = np.quantile(values, [racestats.TRIM, 1 - racestats.TRIM])
    room = max(1.0, FAR * (high - low))
    return max(low - room, values.min()), min(high + room, values.max())


def proof(rounds, names, of="time step", stated=None):
    """Every round of the proof a dot over time, and the interval of all: of the gain that is
    `stated` (outcome.gain_of), if any. None without rounds.
    """
    chosen, reference = racestats.pairs(rounds, names[1], names[0])
    found = racestats.difference(chosen, reference)
    if found is None:
        return None
    values = 100 * (np.array(chosen) / np.array(reference) - 1)
    shown = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_DOTS)).astype(int))
    low, high = drawn(values)
    far = shown[(values[shown] < low) | (values[shown] > high)]
    near = np.setdiff1d(shown, far)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(8.2, 3.0))
        axes.grid(axis="y")
        axes.tick_params(length=0)
        axes.axhline(0, color=INK, linewidth=1)
        axes.plot(near, values[near], "o", color=PALETTE[0], alpha=0.35, markersize=4)
        axes.plot(far, np.clip(values[far], low, high), "x", color=PALETTE[0], markersize=5)
        colour = colour_of(found.as_dict())
        least, most = (-stated["high"], -stated["low"]) if stated else found.told
        axes.axhspan(100 * least, 100 * most, color=colour, alpha=0.35, linewidth=0)
        axes.axhline(100 * found.trimmed, color=colour, linewidth=2)
        room = max(1.0, 0.15 * (high - low))
        axes.set_ylim(min(low, 0) - room, max(high, 0) + room)
        axes.set_xlabel("round", fontsize=10)
        axes.set_ylabel(f"{of} against the MPI, %", fontsize=10)
        return to_svg(figure, "difference in every round of the proof, and their trimmed mean")


def whole(shares, axis, text):
    """One bar of all: [(name, fraction, colour)]."""
    with plt.rc_context(STYLE):
        figure, axes = rows(1)
        left = 0.0
        for name, share, colour in shares:
            label = f"{name} {100 * share:.0f} %"
            axes.barh(0, 100 * share, 0.5, left, color=colour, linewidth=0, label=label)
            left += 100 * share
        finish(axes, [""], axis)
        axes.set_xlim(0, 100)
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "frameon": False}
        axes.legend(ncols=3, labelcolor=INK, fontsize=10, handlelength=1, **place)
        return to_svg(figure, text)


def parts(time):
    """Where the time of the plain run goes, as one bar."""
    names = {
        "outside": ("outside collectives", MUTED),
        "waiting": ("waiting for late ranks", PALETTE[1]),
        "transfer": ("transfer", PALETTE[0]),
    }
    shares = [(name, time[key], colour) for key, (name, colour) in names.items()]
    axis = "per cent of the run's time, mean over the ranks"
    return whole(shares, axis, "time outside collectives, waiting, and in transfer")
