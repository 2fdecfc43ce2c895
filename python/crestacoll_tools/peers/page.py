# SPDX-License-Identifier: BSD-3-Clause
"""docs/performance.md from the table; its words are in templates/performance.md.j2."""

from dataclasses import asdict

from crestacoll_tools import pages
from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.text import counted
from crestacoll_tools.builds import machine
from crestacoll_tools.peers import draw, series, table, verdicts
from crestacoll_tools.peers.mpis import OURS, PEERS, SETTINGS

# Title, ranks, and which calls.
GROUPS = [
    ("2 ranks, symmetric calls", 2, verdicts.symmetric),
    ("2 ranks, one-directional calls (rooted: root 0)", 2, verdicts.one_way),
    ("4 ranks, symmetric calls", 4, verdicts.symmetric),
    ("8 ranks, symmetric calls", 8, verdicts.symmetric),
    ("2 ranks, split-phase calls that end at once, against non-blocking ones", 2, verdicts.begun),
]
DATA = [
    (", data written again", verdicts.written),
    (", data not written again", lambda row: not verdicts.written(row)),
]


def page(head, rows):
    """`head`: what performance.json holds."""
    mpis = head["mpis"]
    floors = dict(enumerate(head["floors"], 1))
    often = {row.speed for row in rows if row.ratio is not None} or set(floors)
    return pages.template("performance.md.j2").render(
        machine=machine.sentence(head["machine"]),
        date=head["date"][:10],
        crestacoll=head["crestacoll"],
        launches=head["launches"],
        most_launches=head["launches"] * max(s.times for s in series.FULL),
        mpis=[f"{mpis[p.name]} (`{p.name}`)" for p in PEERS if p.name in mpis],
        settings=[setting_text(s) for s in SETTINGS if s.name in mpis],
        missing=[
            *head["missing"],
            *distances_missing(head["floors"]),
            *(f"{title_of(floors[k])}: met too seldom" for k in floors if k not in often),
        ],
        speeds=[of_speed(k, floors[k], rows, mpis) for k in floors if k in often],
        notes=head["notes"],
    )


def setting_text(setting):
    variables = " ".join(f"{name}={value}" for name, value in setting.variables)
    return f"{setting.title} (`{setting.name}`): `{variables}`"


def distances_missing(floors):
    """Which of the two the cores did not have while this was measured."""
    had = {bool(verdicts.near(floor)) for floor in floors if floor["exchange"]}
    if not had:
        return []
    names = {True: ("near", "less"), False: ("far from", "more")}
    return [
        f"cores {where} each other, a line in {than} than {verdicts.NEAR:g} us"
        for side, (where, than) in names.items()
        if side not in had
    ]


def of_speed(number, floor, rows, mpis):
    """What the page says of one speed of the machine."""
    mine = [row for row in rows if row.speed == number]
    judged = verdicts.verdicts(mine, floor)
    return {
        "title": title_of(floor),
        "exchange": floor["exchange"] and f"{floor['exchange']:.3g}",
        "copies": copies(floor),
        "plot": draw.file_of(number) if draw.shown(mine) else None,
        "verdicts": judged,
        "misses": [(v.target, points(v.missed)) for v in judged if v.missed],
        "ratios": ratios(mine),
        "ways": ways(mine),
        "each": on_each(mine, mpis),
        "sizes": on_each_by_size(mine, mpis),
    }


def copies(floor):
    return ", ".join(f"{format_size(int(n))} {us:.3g} us" for n, us in floor["copy"].items())


def title_of(floor):
    if floor["exchange"] is None:
        return "One core"
    where = "near each other" if verdicts.near(floor) else "far from each other"
    return f"Cores {where}: {floor['exchange']:.3g} us"


def as_json(head, rows):
    """The page's figures as JSON, for programs to read."""
    floors = head["floors"]
    return {
        "schema": "crestacoll-peers-2",
        **head,
        "targets": [
            asdict(v) | {"speed": k}
            for k, floor in enumerate(floors, 1)
            for v in verdicts.verdicts([r for r in rows if r.speed == k], floor)
        ],
        "rows": [
            asdict(row)
            | {"floor_us": table.floor_at(row.point, floors[row.speed - 1]), "ratio": row.ratio}
            for row in rows
        ],
    }


def text_table(columns, lines):
    rule = ["---", *["--:"] * (len(columns) - 1)]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in (columns, rule, *lines))


def points(missed):
    """By collective, in the order of the worst point of each."""
    found = {}
    for miss in missed:
        p = miss.point
        name = p.collective + (", root 0" if p.root == "fixed" else "")
        name += f", {counted(p.ranks, 'rank')}" if p.ranks != 2 else ""
        name += ", not written again" if p.ranks != 2 and p.buffers == "hot" else ""
        name += f", {miss.mpi}" if miss.mpi != OURS else ""
        found.setdefault(name, []).append(f"{format_size(p.bytes)} ({miss.factor:.2f})")
    return "; ".join(f"{name}: {', '.join(at)}" for name, at in found.items())


def ratios(rows):
    """(title, table) of every group that was measured."""
    found = []
    for title, ranks, keep in GROUPS:
        for data, has in DATA:
            mine = [r for r in verdicts.measured(rows) if r.point.ranks == ranks and keep(r)]
            if mine := [r for r in mine if has(r)]:
                found.append((title + data, ratio_table(mine)))
    return found


def ratio_table(rows):
    """A barrier has no size: it stands in the first column."""
    sizes = sorted({r.point.bytes for r in rows} - {0})
    at = {(r.point.collective, r.point.bytes or min(sizes, default=0)): r for r in rows}
    names = sorted({r.point.collective for r in rows}, key=series.EVERY.index)
    lines = [[name, *(cell(at.get((name, n))) for n in sizes)] for name in names]
    return text_table(["", *map(format_size, sizes)], lines)


def cell(row):
    if row is None or row.ratio is None:
        return ""
    limit = verdicts.bound(row)
    shown = f"{row.ratio:.2f}"
    return f"**{shown}**" if limit and row.ours > limit else shown


def way_of(point):
    """How a point was measured, in words."""
    skew = f", ranks up to {point.skew_us:g} us late" if point.skew_us else ""
    timing = "one after the other" if point.timing == "back_to_back" else "agreed start"
    root = ", root 0" if point.root == "fixed" else ""
    calls = ", begun and ended" if point.calls == "begun" else ""
    buffers = {"hot": "warm buffers", "cold": "cold buffers", "written": "data written again"}
    return f"{counted(point.ranks, 'rank')}{root}{calls}, {timing}{skew}, {buffers[point.buffers]}"


def ways(rows):
    """How much the ratio depends on how it is measured."""
    found = {}
    for row in verdicts.measured(rows):
        found.setdefault(way_of(row.point), []).append(row)
    sizes = sorted({r.point.bytes for r in rows} - {0})
    lines = [
        [way, *(mean_cell([r.ratio for r in mine if r.point.bytes == n], ".2f") for n in sizes)]
        for way, mine in found.items()
    ]
    return text_table(["", *map(format_size, sizes)], lines)


def on_each(rows, mpis):
    """crestacoll against the MPI below it."""
    counts = sorted({r.point.ranks for r in rows})
    lines = []
    for peer in PEERS:
        if peer.name not in mpis:
            continue
        line = [mpis[peer.name]]
        for ranks in counts:
            mine = [r for r in rows if verdicts.plain(r) and r.point.ranks == ranks]
            found = [r.on(peer.name) for r in mine]
            line.append(mean_cell([ratio for ratio in found if ratio], ".2g"))
        lines.append(line)
    return text_table(["", *(counted(n, "rank") for n in counts)], lines)


def on_each_by_size(rows, mpis):
    """crestacoll on 2 ranks against the MPI below it, by data and size."""
    mine = [r for r in rows if verdicts.plain(r) and r.point.ranks == 2 and r.point.bytes]
    sizes = sorted({r.point.bytes for r in mine})
    lines = []
    for peer in PEERS:
        for data, has in DATA:
            some = [r for r in mine if has(r) and r.on(peer.name)]
            cells = [[r.on(peer.name) for r in some if r.point.bytes == n] for n in sizes]
            if some:
                lines.append([mpis[peer.name] + data, *(mean_cell(c, ".2f") for c in cells)])
    return text_table(["", *map(format_size, sizes)], lines)


def mean_cell(found, kind):
    return format(verdicts.mean(found), kind) if found else ""
