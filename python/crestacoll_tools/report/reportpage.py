# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll report -o`: profiles and results of bench, overlap and explore in one HTML file that
needs nothing else.
"""

import datetime
import warnings

from markupsafe import Markup

from crestacoll import __version__
from crestacoll_tools import pages
from crestacoll_tools.base.sizes import format_class, format_size
from crestacoll_tools.base.text import counted, word
from crestacoll_tools.bench import benchjob, overlap
from crestacoll_tools.builds import machine
from crestacoll_tools.explore import arms, draw, page, words
from crestacoll_tools.explore.state import State
from crestacoll_tools.pages import plots
from crestacoll_tools.profile import between, efficiency, mpitime, origin, profiles
from crestacoll_tools.report import iosection, reportplots

MOST_BARS = 12
MOST_RECORDS = 60
INTERVALS = 12  # lines of the table beside the timeline


def render(sources):
    """The page of reportfiles.Source, in their order; benches and overlaps are drawn together."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        return (
            pages.template("report.html.j2")
            .render(
                headline=headline(sources),
                files=[word(s.name) for s in sources],
                profiles=[profile_section(s) for s in sources if s.kind == "profile"],
                ios=[iosection.section(s, beside(s, sources)) for s in sources if s.kind == "io"],
                explored=[explore_section(s) for s in sources if s.kind == "explore"],
                benches=bench_sections([s for s in sources if s.kind == "bench"]),
                overlaps=overlap_section([s for s in sources if s.kind == "overlap"]),
                machines=machines(sources),
                notes=[word(n) for n in notes(sources)],
                version=__version__,
                date=datetime.datetime.now().astimezone().isoformat(sep=" ", timespec="minutes"),
            )
        )


def headline(sources):
    """What matters most, in one sentence."""
    for s in sources:
        if s.kind == "explore":
            return words.headline(s.data)
    for s in sources:
        if s.kind == "profile" and s.data.get("calls", {}).get("list"):
            name, where = next(mpitime.lines_of_calls(s.data, 1))[:2]
            share = mpitime.share_in_mpi(s.data)
            return (f"{share} of the run passes in MPI; MPI_{name} at {where} takes the largest"
                    " part of it.")
    for s in sources:
        if s.kind == "profile" and s.data["records"]:
            most = next(iter(profiles.shares(s.data, lambda r: (profiles.label(r), name_of(r)))))
            inside = profiles.percent(profiles.total_us(s.data), s.data["wall_s"] * 1e6)
            where = f"{most[0]} on {most[1]}"
            return (f"{inside} of the run passes in collectives; {where} takes the largest part of"
                    " it.")
    for s in sources:
        if s.kind == "io":
            return iosection.headline(s.data)
    if all(s.kind == "overlap" for s in sources):
        return "How much of collectives overlaps with computation"
    if all(s.kind == "bench" for s in sources):
        return "Implementations of collectives, compared"
    return "Collectives, measured"


def beside(io, sources):
    """The timeline of the profile that was made in the same run as a record of MPI-IO."""
    for s in sources:
        alike = s.kind == "profile" and s.data["timeline"] is not None
        if alike and all(s.data[k] == io.data[k] for k in ("ranks", "mpi")):
            apart = abs(s.data["wall_s"] - io.data["wall_s"])
            if apart < max(0.1, 0.01 * io.data["wall_s"]):
                return s.data["timeline"]
    return None


def machines(sources):
    told = (s.data.get("machine") for s in sources if s.kind in ("bench", "overlap"))
    return list(dict.fromkeys(machine.sentence(m) for m in told if known_machine(m)))


def known_machine(told):
    try:
        machine.sentence(told)
    except (KeyError, TypeError, ValueError):
        return False
    return True


def name_of(record):
    return profiles.communicator(record)


def svg(text):
    return Markup(text) if text else ""


# Profiles.


def profile_section(source):
    data = source.data
    wall = data["wall_s"] * 1e6
    parts = arms.time_parts(data)
    return {
        "file": word(source.name),
        "ranks": data["ranks"],
        "wall": profiles.seconds(wall),
        "library": word(data["mpi"].split(",")[0]),
        "inside": profiles.percent(profiles.total_us(data), wall),
        "calls": calls_section(data),
        "origin": origin_section(data),
        "parts": parts,
        "parts_svg": svg(draw.parts(parts)),
        "groups": group_tables(data, wall),
        "sizes": size_table(data, wall),
        "records": record_lines(data, wall),
        "more": max(0, len(data["records"]) - MOST_RECORDS),
        "several": between.spans_nodes(data),
        "nodes": between.sentence(data),
        "legend": between.LEGEND,
        "waited": any(r["wait_us"] for r in data["records"]),
        "waiting_legend": profiles.waiting_legend(data),
        "timeline": timeline_section(data),
    }


def origin_section(data):
    """What it is of; None where a profile does not say."""
    if "origin" not in data:
        return None
    return {
        "command": origin.command(data["origin"]),
        "lines": [origin.when(data["origin"]), origin.where(data)],
        "warnings": origin.some_warnings(data["origin"]),
        "tables": [
            (heads, rows[:MOST_RECORDS], rows[MOST_RECORDS:])
            for heads, rows in origin.tables(data)
        ],
    }


def calls_section(data):
    """All of the time in the MPI; None where a profile has only collectives."""
    if "calls" not in data:
        return None
    lines = list(mpitime.lines_of_calls(data, MOST_RECORDS))
    return {
        "svg": svg(reportplots.run_parts([(g, us) for g, us, _ in mpitime.picture(data)])),
        "inside": mpitime.share_in_mpi(data),
        "wall": profiles.seconds(data["calls"]["wall_us"]["mean"]),
        "groups": mpitime.cells(data),
        "heads": [head.lstrip(">") for head in mpitime.heads(data)],
        "lines": [[whole_words(cell) for cell in line] for line in lines],
        "more": len(data["calls"]["list"]) - len(lines),
        "notes": mpitime.notes(data),
        "efficiency": [
            (("", "below", "deep")[depth], name, value)
            for depth, name, value in efficiency.cells(data)
        ],
        "efficiency_notes": [*efficiency.notes(data), f"{efficiency.LEGEND}."],
    }


def whole_words(text):
    """Number and unit stay together."""
    return text.replace(" ", "\u00a0") if text[:1].isdigit() else text


GROUPS = {
    "By collective": ("collective", profiles.label),
    "By communicator": ("communicator", name_of),
    "By implementation": ("implementation", lambda r: f"{profiles.label(r)}={r['implementation']}"),
}


def group_tables(data, wall):
    """A picture and a table for each way to add up."""
    made = []
    for title, (column, key) in GROUPS.items():
        groups = {word(k): g for k, g in profiles.shares(data, key).items()}
        if not groups or not wall:
            continue
        few = dict(list(groups.items())[:MOST_BARS])
        lines = [
            (
                name,
                g["calls"],
                profiles.seconds(g["us"]),
                waiting(g),
                profiles.percent(g["us"], wall),
            )
            for name, g in few.items()
        ]
        label = f"share of the run, {title.lower()}: transfer and waiting"
        made.append(
            {
                "title": title,
                "column": column,
                "svg": svg(reportplots.bars(few, wall, label)),
                "lines": lines,
                "more": len(groups) - len(few),
            }
        )
    return made


def waiting(group):
    """As text; unknown where no wait was measured at all."""
    if group["us"] and group["unknown_us"] >= group["us"]:
        return "not measured"
    return profiles.seconds(group["wait_us"])


def size_table(data, wall):
    """Columns are collectives, lines are size classes."""
    shares = profiles.shares(data, profiles.label)
    names = list(shares)[: reportplots.MOST_COLOURS]
    table = {}
    for r in sorted(data["records"], key=lambda r: r["bytes_min"]):
        name = profiles.label(r) if profiles.label(r) in names else reportplots.OTHERS
        cells = table.setdefault(format_class(r["bytes_min"], r["bytes_max"]), {})
        us = r["time_us"]["mean"] * r["ranks"] / data["ranks"]
        cells[name] = cells.get(name, 0.0) + us
    if not table or not wall:
        return None
    columns = names + [reportplots.OTHERS] * (len(shares) > len(names))
    ordered = {size: {n: c[n] for n in columns if n in c} for size, c in table.items()}
    return {
        "columns": columns,
        "svg": svg(reportplots.sizes(ordered, columns, wall)),
        "lines": [
            (size, [profiles.seconds(cells.get(n)) for n in columns])
            for size, cells in ordered.items()
        ],
    }


def whole(us):
    """A time that stays in one line."""
    return profiles.seconds(us).replace(" ", "\u00a0")


def record_lines(data, wall):
    shown = sorted(data["records"], key=lambda r: -r["time_us"]["mean"])[:MOST_RECORDS]
    return [
        {
            "collective": profiles.label(r),
            "communicator": name_of(r),
            "bytes": format_class(r["bytes_min"], r["bytes_max"]),
            "implementation": word(r["implementation"]),
            "calls": r["calls"],
            "each": whole(r["time_us"]["mean"] / max(r["calls"], 1)),
            "time": whole(r["time_us"]["mean"]),
            "range": f"{whole(r['time_us']['min'])} to {whole(r['time_us']['max'])}",
            "waiting": profiles.waiting(r["wait_us"]).replace(" ", "\u00a0"),
            "samples": r["wait_us"]["samples"] if r["wait_us"] else "-",
            "itself": whole(profiles.itself_us(r)),
            "share": profiles.percent(r["time_us"]["mean"], wall).replace(" ", "\u00a0"),
            "between": between.cells(r),
        }
        for r in shown
    ]


def timeline_section(data):
    line = data["timeline"]
    if line is None or not any(line["busy_us"]["max"]):
        return None
    return {
        "svg": svg(reportplots.timeline(data)),
        "bin": profiles.seconds(line["bin_us"]),
        "bins": line["bins"],
        "each": line["ranks_per_row"],
        "lines": intervals(line),
        "imbalance": imbalance(line),
    }


def intervals(line):
    """The timeline in a few lines."""
    count = min(INTERVALS, line["bins"])
    cuts = [round(i * line["bins"] / count) for i in range(count + 1)]
    return [interval(line, begin, end) for begin, end in zip(cuts, cuts[1:])]


def interval(line, begin, end):
    def share(bins):
        return sum(bins[begin:end]) / ((end - begin) * line["bin_us"])

    by_row = [share(r["busy_us"]) for r in line["rows"]]
    by_name = {name: share(bins) for name, bins in line["collectives_us"].items()}
    most = max(by_name, key=by_name.get, default="")
    return {
        "from": f"{begin * line['bin_us'] / 1e6:.3g}",
        "to": f"{end * line['bin_us'] / 1e6:.3g}",
        "mean": words.percent(share(line["busy_us"]["mean"])),
        "least": words.percent(min(by_row)),
        "most": words.percent(max(by_row)),
        "waiting": waited(line, begin, end),
        "collective": most if by_name.get(most) else "–",
    }


def waited(line, begin, end):
    """The bins where the wait was measured stand for all."""
    pairs = list(zip(line["waiting_us"], line["busy_us"]["mean"]))[begin:end]
    known = [(wait, busy) for wait, busy in pairs if wait is not None]
    if not sum(busy for _, busy in known):
        return "–"
    share = sum(wait for wait, _ in known) / sum(busy for _, busy in known)
    whole = (end - begin) * line["bin_us"]
    return words.percent(min(1.0, share) * sum(busy for _, busy in pairs) / whole)


def imbalance(line):
    """Which ranks come late, if the picture shows it: they spend least time in collectives."""
    if len(line["rows"]) < 2:
        return ""
    whole = line["bins"] * line["bin_us"]
    shares = [(sum(r["busy_us"]) / whole, row_name(r)) for r in line["rows"]]
    (least, late), (most, early) = min(shares), max(shares)
    told = (
        f"{late.capitalize()} spends least of the run in collectives ({words.percent(least)}),"
        f" {early} most ({words.percent(most)})"
    )
    if most - least < 0.05:
        return f"{told}: about the same."
    return f"{told}. Where ranks wait, they wait for those that spend little time here."


def row_name(row):
    last = row["rank"] + row["ranks"] - 1
    one = row["ranks"] == 1
    return f"rank {row['rank']}" if one else f"a rank of {row['rank']} to {last}"


# Benches and overlaps.


def figure_name(collective):
    return {"alltoall": "Figure 3: ", "allreduce": "Figure 4: "}.get(collective, "")


def bench_sections(sources):
    """One for each collective, of all files together."""
    records = [r for s in sources for r in s.data["records"]]
    return [bench_section(name, records) for name in in_order(r["collective"] for r in records)]


def in_order(names):
    """Figures 3 and 4 come first."""
    return sorted(dict.fromkeys(names), key=lambda n: not figure_name(n))


def bench_section(collective, records):
    mine = [r for r in records if r["collective"] == collective]
    jobs = {}
    for r in mine:
        jobs.setdefault((r["mpi"], *benchjob.way(r)), []).append(r)
    return {
        "title": f"{figure_name(collective)}time of {collective}, by implementation",
        "svg": svg(reportplots.bench(mine)),
        "tables": [bench_table(job) for job in jobs.values()],
        "verified": all(r["verified"] for r in mine),
    }


def bench_table(mine):
    first = mine[0]
    names = plots.names_of(mine)
    cells = {(r["bytes"], r["implementation"]): r for r in mine}
    sizes = sorted({r["bytes"] for r in mine})
    return {
        "title": (
            f"{word(first['mpi'])}, {counted(first['ranks'], 'rank')}{benchjob.data_words(first)}:"
            " medians in microseconds"
        ),
        "names": [word(n) for n in names],
        "lines": [(format_size(size), [cells.get((size, n)) for n in names]) for size in sizes],
    }


def overlap_section(sources):
    """Figure 5, of all files together; None without any."""
    records = [r for s in sources for r in s.data["records"]]
    if not records:
        return None
    return {
        "svg": svg(reportplots.overlap(records)),
        "records": [{**r, "size": format_size(r["bytes"])} for r in records],
        "said": verdicts(sources),
        "libraries": in_order(benchjob.library(j) for s in sources for j in s.data["jobs"]),
        "verified": all(r["verified"] for r in records),
    }


def verdicts(sources):
    """The verdicts of each job, with the collective before them."""
    told = []
    for s in sources:
        for name in in_order(r["collective"] for r in s.data["records"]):
            mine = [r for r in s.data["records"] if r["collective"] == name]
            told += [f"{name}: {word(v)}" for v in overlap.verdicts(mine)]
    return told


def notes(sources):
    """What benches and overlaps left out."""
    return [
        f"{s.name}: {n.get('about', '')}: {n.get('text', '')}"
        for s in sources
        if s.kind in ("bench", "overlap")
        for n in s.data["notes"]
    ]


# Explorations.


def explore_section(source):
    """Its own report, without the machine, which is not that of the reader."""
    state = State(source.folder, source.state) if source.state else None
    body = page.body(state, source.data, "")
    return {
        "file": word(source.name),
        "headline": words.headline(source.data),
        "body": Markup(str(body).replace("<h2>", "<h3>").replace("</h2>", "</h3>")),
    }
