# SPDX-License-Identifier: BSD-3-Clause
"""What the documents of docs/lab/scale.md say, and what tools/scale.py simulates for it;
the tables of that page.
"""

import re
import statistics

from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.ui import Problem
from scale_points import HARNESS, MEASURED

# Seconds of an iteration on the columns, of which work, at 8192 and 4096 nodes: Fiedler 2013.
STUDY = {
    8192: {"MPI": (23.3572, 7.47749), "CoM": (16.1125, 7.66926), "MIB": (15.8076, 7.68819),
           "MIN": (8.33958, 7.93174), "CrB": (14.6526, 7.68633), "CrN": (13.8591, 7.68942),
           "CsB": (14.4864, 7.68456), "CsN": (7.71479, 0.0)},
    4096: {"MPI": (6.70842, 2.12199), "CoM": (4.12184, 2.12414), "MIB": (5.95609, 2.15250),
           "MIN": (3.92301, 2.56996), "CrB": (4.39653, 2.09289), "CrN": (2.50166, 2.21423)},
}
# An ALG's exchange, and whether its work goes on beside it.
ALGS = {"MPI": ("MPI_Alltoall", False), "CoM": ("chunks of 512 bytes", False),
        "MIB": ("MPI_Ialltoall", False), "MIN": ("MPI_Ialltoall", True), "CrB": ("gets", False),
        "CrN": ("gets", True), "CsB": ("gets", False), "CsN": ("gets", True)}


def chosen(rows, curve):
    return [r for r in rows if r["curve"] == curve]


def times(rows, curve, key="bytes"):
    """{line: {size or nodes: seconds}} of a curve."""
    found = {}
    for r in chosen(rows, curve):
        found.setdefault(r["line"], {})[int(r[key])] = float(r["seconds"])
    return found


def work_share(nodes):
    """The work of the study, by what the MPI's blocking call took: of the nearest run."""
    total, work = STUDY[min(STUDY, key=lambda n: abs(n - nodes))]["MPI"]
    return work / (total - work)


def iterations(rows, nodes, curve="harness"):
    """{ALG: seconds of an iteration}. Work beside an exchange that a thread drives takes as long as
    the longer of the two (test_scale.py simulates one such).
    """
    found = {line: at[nodes] for line, at in times(rows, curve, "nodes").items() if nodes in at}
    work = work_share(nodes) * found["MPI_Alltoall"]
    return {
        alg: max(found[line], work) if beside else found[line] + work
        for alg, (line, beside) in ALGS.items()
        if line in found
    }


def ratio(value):
    return f"{value:.2f}"


def seconds(value):
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e6:.3g} us"


def table(head, lines):
    rule = "|---" + "|--:" * (len(head) - 1) + "|"
    return "\n".join(["| " + " | ".join(head) + " |", rule]
                     + ["| " + " | ".join(line) + " |" for line in lines])


def exchanges(rows):
    """(machine, simulated, measured) of the study's exchanges, where no work is beside them."""
    at = times(rows, "harness", "nodes")
    for nodes, study in STUDY.items():
        for alg, (total, work) in study.items():
            line, beside = ALGS[alg]
            if not beside and nodes in at[line]:
                yield HARNESS[line][0], at[line][nodes], total - work


def errors(rows):
    """{machine: (|simulated / measured - 1| of messages, of the study's exchanges)}"""
    found = {}
    for r in chosen(rows, "latency"):
        measured = MEASURED[r["line"]][int(r["bytes"])]
        messages, _ = found.setdefault(r["line"], ([], []))
        messages.append(abs(float(r["seconds"]) / measured - 1))
    for machine, simulated, measured in exchanges(rows):
        found.setdefault(machine, ([], []))[1].append(abs(simulated / measured - 1))
    return found


def fit(found):
    """As a machine file has it."""
    return {"median": round(statistics.median(found), 2), "worst": round(max(found), 2),
            "points": len(found)}


def harness_table(rows):
    mine = {nodes: iterations(rows, nodes) for nodes in STUDY}
    lines = []
    for alg in ALGS:
        line = [f"`{alg}`"]
        for nodes, study in STUDY.items():
            has = alg in study and alg != "MPI"
            line.append(ratio(study["MPI"][0] / study[alg][0]) if has else "")
            both = has and alg in mine[nodes]
            line.append(ratio(mine[nodes]["MPI"] / mine[nodes][alg]) if both else "")
        lines.append(line)
    last = ["`MPI` without work"]
    for nodes, study in STUDY.items():
        last.append(seconds(study["MPI"][0] - study["MPI"][1]))
        last.append(seconds(times(rows, "harness", "nodes")["MPI_Alltoall"][nodes]))
    head = ["faster than `MPI`"]
    for nodes in STUDY:
        head += [f"study, {nodes} nodes", "simulated"]
    return table(head, [*lines[1:], last])


def short_cut_table(rows):
    """One column for all, against all columns; and what the torus does."""
    one, every = times(rows, "harness", "nodes"), times(rows, "harness, all columns", "nodes")
    without = times(rows, "harness, no torus", "nodes")
    lines = []
    for line, at in every.items():
        (nodes, exact), = at.items()
        cells = [line, seconds(exact), seconds(one[line][nodes]),
                 f"{100 * (one[line][nodes] / exact - 1):+.0f} %"]
        for nodes, flat in without.get(line, {}).items():
            cells += [seconds(one[line][nodes]), seconds(flat)]
        lines.append(cells + [""] * (6 - len(cells)))
    (nodes,), (flat,) = every["gets"], without["gets"]
    return table(["exchange", f"all columns, {nodes} nodes", "one column", "difference",
                  f"{flat} nodes", "without the torus"], lines)


def placement_table(rows):
    at = {r["line"]: float(r["seconds"]) for r in chosen(rows, "placement")}
    near = at["row on a node"] + at["column across nodes"]
    far = at["row across nodes"] + at["column on neighbouring nodes"]
    lines = [["a row on a node", seconds(at["row on a node"]),
              seconds(at["column across nodes"]), seconds(near), ""],
             ["a row across nodes", seconds(at["row across nodes"]),
              seconds(at["column on neighbouring nodes"]), seconds(far), ratio(far / near)]]
    return table(["grid", "all-to-all of rows", "of columns", "both", "ratio"], lines)


def placement_ratio(rows):
    """The ratio of whole runs, of which transposes are half, and three quarters."""
    at = {r["line"]: float(r["seconds"]) for r in chosen(rows, "placement")}
    near = at["row on a node"] + at["column across nodes"]
    far = at["row across nodes"] + at["column on neighbouring nodes"]
    return [1 / (1 - share + share * near / far) for share in (0.5, 0.75)]


def alltoall_table(rows):
    at = times(rows, "alltoall")
    lines = [[format_size(size), seconds(slow), seconds(at["uGNI"][size]),
              ratio(slow / at["uGNI"][size])]
             for size, slow in sorted(at["send and receive"].items())]
    return table(["bytes", "send and receive", "uGNI", "ratio"], lines)


def allreduce_table(rows):
    at = times(rows, "allreduce")
    lines = []
    for size, slow in sorted(at["messages"].items()):
        line = [format_size(size), seconds(slow)]
        for way in ("shared memory", "shared memory, engine"):
            line += [seconds(at[way][size]), f"{100 * (1 - at[way][size] / slow):.0f} %"]
        lines.append(line)
    return table(["bytes", "messages", "shared memory", "less", "with an engine", "less"], lines)


def cresta_table(rows, collective):
    """Ratios of the coarrays' times and the MPI's."""
    found = {}
    for r in chosen(rows, f"cresta {collective}"):
        key = int(r["bytes"]), int(r["ranks"])
        found.setdefault(key, {})[r["line"]] = float(r["seconds"])
    ranks = sorted({n for _, n in found})
    lines = []
    for size in sorted({s for s, _ in found}):
        line = [format_size(size)]
        for n in ranks:
            at = found.get((size, n))
            line += [seconds(at["MPI"]), ratio(at["coarrays"] / at["MPI"])] if at else ["", ""]
        lines.append(line)
    head = ["bytes"]
    for n in ranks:
        head += [f"MPI, {n} ranks", "coarrays / MPI"]
    return table(head, lines)


def overlaps(rows, collective):
    """{bytes: (nobody, thread)}: O / min(C, N), with C = N."""
    at = times(rows, f"overlap {collective}")
    return {
        size: tuple(2 - at[line][size] / alone for line in ("nobody drives", "a thread drives"))
        for size, alone in sorted(at["alone"].items())
    }


def overlap_table(rows):
    every = {name: overlaps(rows, name) for name in ("alltoall", "allreduce")}
    lines = [[format_size(size), *(f"{100 * x:.0f} %" for at in every.values() for x in at[size])]
             for size in every["alltoall"]]
    return table(["bytes", "alltoall, nobody drives", "a thread", "allreduce, nobody drives",
                  "a thread"], lines)


def error_table(rows):
    lines = []
    for name, both in sorted(errors(rows).items()):
        line = [f"`{name}`"]
        for found in both:
            one = fit(found) if found else None
            line += [str(len(found)), *(f"{100 * one[k]:.0f} %" if one else ""
                                        for k in ("median", "worst"))]
        lines.append(line)
    return table(["machine", "messages", "error, median", "worst", "exchanges of the harness",
                  "error, median", "worst"], lines)


def summary_table(rows):
    """What the documents claim in a number, and the number simulated."""
    times_of = {nodes: iterations(rows, nodes) for nodes in STUDY}
    lines = []
    for nodes, alg in ((8192, "MIN"), (8192, "CsN"), (4096, "MIN"), (4096, "CrN")):
        study = STUDY[nodes]
        lines.append([f"harness, {nodes} nodes: `{alg}` faster than `MPI`",
                      ratio(study["MPI"][0] / study[alg][0]),
                      ratio(times_of[nodes]["MPI"] / times_of[nodes][alg])])
    low, high = placement_ratio(rows)
    lines.append(["a row on a node, whole runs, 3072 nodes", "up to 1.72",
                  f"{ratio(low)} to {ratio(high)}"])
    at, few = times(rows, "alltoall"), min(times(rows, "alltoall")["uGNI"])
    lines.append(["alltoall, 4096 ranks, small messages: faster by uGNI", "about 5",
                  ratio(at["send and receive"][few] / at["uGNI"][few])])
    at = {line: some[few] for line, some in times(rows, "allreduce").items() if few in some}
    for what, claim, line in (("shared memory", "8 %", "shared memory"),
                              ("shared memory and engine", "23 %", "shared memory, engine")):
        lines.append([f"allreduce, 119,648 ranks: less time by {what}", claim,
                      f"at most {100 * (1 - at[line] / at['messages']):.0f} %"])
    return table(["what", "document", "simulated"], lines)


TABLES = {
    "summary": summary_table,
    "harness": harness_table,
    "short cut": short_cut_table,
    "placement": placement_table,
    "alltoall": alltoall_table,
    "allreduce": allreduce_table,
    "cresta alltoall": lambda rows: cresta_table(rows, "alltoall"),
    "cresta allreduce": lambda rows: cresta_table(rows, "allreduce"),
    "overlap": overlap_table,
    "error": error_table,
}
BLOCK = r"(<!-- scale: {} -->\n)(?:(?!<!--).)*(<!-- end -->)"


def filled(page, rows):
    """The page with its tables."""
    for name, make in TABLES.items():
        made = make(rows) + "\n"
        page, found = re.subn(BLOCK.format(re.escape(name)),
                              lambda m, made=made: m[1] + made + m[2], page, flags=re.S)
        if found != 1:
            raise Problem(f"docs/lab/scale.md has {found} tables <!-- scale: {name} -->")
    return page
