# SPDX-License-Identifier: BSD-3-Clause
"""What a placement comes to: bytes between and inside nodes, before and after."""

from crestacoll_tools.base.sizes import format_amount
from crestacoll_tools.base.text import counted, word
from crestacoll_tools.base.ui import out, show, table
from crestacoll_tools.place.partition import Job
from crestacoll_tools.place.search import best


def compare(traffic, sizes):
    """(placement, what `--json` says of it); a list with the number of the host of each rank."""
    job = Job(traffic.groups, traffic.ranks, sizes)
    given, found = job.given(), best(job)
    return found.tolist(), {
        "ranks": traffic.ranks,
        "gained": job.cost(found) < job.cost(given),
        "total_bytes": sum(g.total() for g in traffic.groups),
        "unknown_bytes": traffic.unknown,
        "between_nodes": {"before": job.cost(given), "after": job.cost(found)},
        "communicators": kinds(job, given, found),
    }


def kinds(job, given, found):
    """A row for the communicators of one name and size, those with the most bytes first."""
    costs, spans = [[f(p).tolist() for p in (given, found)] for f in (job.costs, job.spans)]
    rows = {}
    for i, group in enumerate(job.groups):
        name, processes = group.kind
        new = {"communicator": name, "processes": processes, "count": 0, "total_bytes": 0.0}
        row = rows.setdefault(group.kind, new | {"between": [0.0, 0.0], "nodes": [0, 0]})
        row["count"] += 1
        row["total_bytes"] += group.total()
        for k in (0, 1):
            row["between"][k] += costs[k][i]
            row["nodes"][k] += spans[k][i]
    return [finished(row) for row in sorted(rows.values(), key=lambda r: -r["total_bytes"])]


def finished(row):
    """Sums become means where a reader wants one communicator."""
    between, nodes = row.pop("between"), row.pop("nodes")
    row["between_nodes"] = dict(zip(("before", "after"), between))
    row["nodes"] = {k: n / row["count"] for k, n in zip(("before", "after"), nodes)}
    return row


def show_outcome(data):
    """The table, and in one sentence what it comes to."""
    sizes = sorted({len(host["ranks"]) for host in data["hosts"]})
    each = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    hosts = counted(len(data["hosts"]), "host")
    each = f", {each} on each" if len(data["hosts"]) > 1 else ""
    out.print(f"{counted(data['ranks'], 'rank')} on {hosts}{each}")
    made = table(
        *("communicator", ">how many", ">bytes", ">between nodes", ">placed"),
        *(">nodes of one", ">placed"),
    )
    for row in data["communicators"]:
        made.add_row(
            f"{word(row['communicator']) or '-'} ({row['processes']})",
            str(row["count"]),
            format_amount(row["total_bytes"]),
            *(format_amount(row["between_nodes"][k]) for k in ("before", "after")),
            *(f"{row['nodes'][k]:.3g}" for k in ("before", "after")),
        )
    between, whole = data["between_nodes"], data["total_bytes"]
    made.add_row("all", "", format_amount(whole), *map(format_amount, between.values()), "", "")
    made.add_row("inside nodes", "", "", *(format_amount(whole - b) for b in between.values()))
    show(made)
    out.print(sentence(data), soft_wrap=True)
    if data["unknown_bytes"]:
        share = data["unknown_bytes"] / (whole + data["unknown_bytes"])
        out.print(
            f"not counted: {share:.1%} of the bytes, of communicators whose members the profile"
            " does not have",
            soft_wrap=True,
        )
    out.print("bytes: an estimate, of the whole run; see docs/placement.md", style="dim")


def sentence(data):
    between = data["between_nodes"]
    if len(data["hosts"]) == 1:
        return "nothing to gain: all ranks are on one host; the order stays as it is"
    if not between["before"]:
        return "nothing to gain: no bytes cross between nodes; the order stays as it is"
    if not data["gained"]:
        return "no better order was found: the present one stays"
    less = 1 - between["after"] / between["before"]
    return f"placed: {less:.1%} fewer bytes between nodes"
