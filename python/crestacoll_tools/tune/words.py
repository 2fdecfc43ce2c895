# SPDX-License-Identifier: BSD-3-Clause
"""What `crestacoll tune` tells at its end."""

from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.text import counted, word
from crestacoll_tools.base.ui import out, show, table
from crestacoll_tools.builds import builds, machine
from crestacoll_tools.explore.verdict import MARGIN, NOT_FASTER
from crestacoll_tools.explore.words import at_most, budget, excluded, percent
from crestacoll_tools.race import intervals, racestats
from crestacoll_tools.rules import tuning
from crestacoll_tools.tune import grid, verdict
from crestacoll_tools.tune.rules import winner
from crestacoll_tools.tune.speeds import Speeds


def show_points(state):
    """What was found at each size: the winner, or why there is none."""
    done = [p for p in state.points if p["cells"]]
    if not done:
        return
    made = table("collective", ">ranks", ">bytes", "fastest", ">gain", ">interval", ">rounds", "")
    for p in done:
        for cell in p["cells"]:
            made.add_row(*row_of(p, cell))
    show(made)


def row_of(point, cell):
    size = "-" if point["collective"] == "barrier" else format_size(cell["bytes"])
    start = (point["collective"], str(point["ranks"]), size)
    proof = cell["proof"]
    if proof is None:
        why = "" if cell["found"] else "too little time"
        return (*start, grid.MPI, "-", "-", "-", why if not cell["candidate"] else "not proved")
    name, rounds = winner(cell), str(proof["rounds"])
    low, high = racestats.Difference(**proof).told
    between = intervals.with_unit(intervals.of_gain(-high, -low))
    if name is None:  # what the proof had is the gain of another than the one that stays
        why = "not proved at each speed" if cell.get("lacks") else "not sure"
        note = f"{cell['candidate']}: a gain of {between} is {why}"
        return (*start, grid.MPI, "-", "-", rounds, word(note))
    return (*start, word(name), percent(-proof["trimmed"]), between, rounds, "")


def show_rules(found):
    if not found:
        return
    out.print("\nrules:")
    for rule in found:
        out.print(f"  {tuning.rule_text(rule)}", soft_wrap=True)


def summary(state, found, path):
    yield from remarks(state)
    if path is None:
        yield "Nothing was measured."
        return
    yield f"{path}: {counted(len(found), 'rule') if found else 'no rules'}"
    yield from verdict_lines(state)
    if any(r.get("changes_rounding") for r in found):
        yield "Rules for reductions may change the last digits of sums (--keep-rounding)."
    if found:
        yield f"To use it: {builds.typed()} run --tuning {path} -- mpirun -n N ./app"


def verdict_lines(state, sure=True):
    """Where a gain is proved, and what is known of the rest."""
    cells = list(every_cell(state))
    won = sum(bool(winner(c, sure)) for c in cells)
    if won:
        sizes = counted(len(cells), "size")
        yield f"At {won} of {sizes} " + (
            "another implementation is proved faster than the MPI's own."
            if sure
            else "an algorithm is ahead of the MPI's own choice: its 95 % interval excludes a loss."
        )
    judged = verdict.judged(state, sure)
    if judged is None:
        return
    found, bound = judged
    where = " at the other sizes" if won else ""
    if found == NOT_FASTER:
        gain = at_most(bound["gain"])
        yield f"No implementation is more than {gain} faster than the MPI's own{where}."
    else:
        yield f"Not enough time to say whether another implementation is faster{where}."
    yield from excluded({"verdict": found, "bound": {"margin": MARGIN} | bound})
    more = verdict.more_s(state, sure) if found != NOT_FASTER else None
    if more:
        yield (
            f"A new tuning with `--budget {budget(more)}` should be enough to decide,"
            " if later rounds are like those so far."
        )


def every_cell(state):
    return (cell for point in state.points for cell in point["cells"])


def remarks(state):
    left, every = len(state.open_points), len(state.points)
    yield ""
    for note in dict.fromkeys(n for p in state.points for n in p["notes"]):
        yield f"note: {note}"
    if machine.is_shared(state.data["others"]):
        yield "Other programs use these cores: small gains cannot be seen."
    if once := sum(bool(winner(c)) and c.get("proofs") == 1 for c in every_cell(state)):
        yield (
            f"{counted(once, 'size')} {'has' if once == 1 else 'have'} one proof only:"
            f" crestacoll tune --resume --output {state.folder}"
        )
    if lacking := sum(bool(c.get("lacks")) for c in every_cell(state)):
        met = [Speeds(one) for one in state.data["speeds"].values()]
        us = sorted({f"{s.met[k]['line_us']:.2f}" for s in met for k in s.usual()})
        yield (
            f"{counted(lacking, 'size')} {'has' if lacking == 1 else 'have'} no rule, because the"
            " machine changes its speed and a gain was not proved at each speed (a cache line in"
            f" {', '.join(us)} us): crestacoll tune --resume --output"
            f" {state.folder}"
        )
    if left:
        yield (
            f"{left} of {counted(every, 'point')} (a collective on a number of ranks) not measured"
            f" yet: crestacoll tune --resume --output {state.folder}"
        )


def native_summary(state, found, path, family):
    """What `tune --native` says at its end."""
    yield from remarks(state)
    if path is None:
        yield "Nothing was measured."
        return
    names = found["winners"] if family == "openmpi" else found["everywhere"]
    lost = len(found["winners"]) - len(names)
    ranges = counted(len(found["winners"]), "range")
    yield f"{path}: {ranges} of sizes where an algorithm is ahead of the MPI's own choice"
    yield from verdict_lines(state, sure=False)
    if family == "mpich" and lost > 0:
        yield (
            f"{len(names)} can be exported: a control variable of MPICH holds for all sizes, so"
            " the algorithm must not be slower at any"
        )
    if names:
        yield (
            "To prove and use them:"
            f" {builds.typed()} tuning export {path} --format {family} -o FILE"
        )
