# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll report --format`: what other programs read of profiles."""

import csv
import io
import json
import re
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
import report_data
from click.testing import CliRunner
from crestacoll_tools import cli
from crestacoll_tools.base.text import word
from crestacoll_tools.formats import csv_table, markdown
from markdown_it import MarkdownIt

NAMES = [  # each is hard for one of the formats, or for all
    'say "yes", or \'no\'',
    "a|b\\|c\\",
    "two\nlines\\n",
    "größe ☃ 列 😀",
    "<b>*x*</b> `y` [z](u) $1$ @me {a} %s #1",
    " =1+1\t",
]


def profile():
    """Communicators, implementations' rules and places in Python with these names."""
    data = report_data.profile()
    data["records"] += [
        report_data.record("bcast", name, 8, 1e5, rule=f"CRESTA_IMPL: bcast@{name}=shm")
        for name in NAMES
    ]
    calls = report_data.calls()
    first = len(calls["modules"])
    for i, name in enumerate(NAMES):
        module = {"path": f"/nowhere/{name}.py", "build_id": None, "function": f"f {name}"}
        calls["modules"].append(module)
        calls["list"].append(report_data.call("Bcast", "collective", 1e4, [first + i, 7]))
    return data | {"calls": calls}


def site_of(name):
    return f"{Path(name).name}.py:7 f {name}"


@pytest.fixture
def report(tmp_path, monkeypatch):
    """Runs the command in this process, in a folder with such a profile."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.json").write_text(json.dumps(profile()))

    def run(*words, code=0):
        ran = CliRunner().invoke(cli.main, ["report", *words])
        assert ran.exit_code == code, ran.output
        return ran.output

    return run


def csv_rows(text):
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_csv_has_every_line_of_both_tables(report, tmp_path):
    text = report("p.json", "--format", "csv")
    assert report("p.json", "-o", "p.csv") == "report: p.csv\n"
    assert (tmp_path / "p.csv").read_bytes().decode("utf-8") == text
    rows, data = csv_rows(text), profile()
    assert all(None not in row and None not in row.values() for row in rows)
    calls = [row for row in rows if row["table"] == "calls"]
    lines = [row for row in rows if row["table"] == "collectives"]
    assert len(calls) == len(data["calls"]["list"])
    assert len(lines) == len(data["records"]) and len(rows) == len(calls) + len(lines)
    assert {row["communicator"] for row in lines} >= {*NAMES}
    assert {row["site"] for row in calls} >= {site_of(name) for name in NAMES}
    first = lines[0]
    assert (first["file"], first["call"], first["implementation"]) == (
        *("p.json", "allreduce", "p2p:recursive_doubling"),
    )
    assert float(first["time_mean_us"]) == 2e6 and first["of_run_percent"] == "13.3333"
    assert float(first["waiting_mean_us"]) == 1.8e6 and first["waiting_samples"] == "9"
    (sent,) = (row for row in calls if row["call"] == "MPI_Send")
    assert (sent["bytes_of_all_ranks"], sent["peer"], sent["main_thread"]) == (
        *("64000000", "between", "true"),
    )
    bcast = next(row for row in lines if row["bytes_min"] == str(1 << 26))
    assert (bcast["bytes_max"], bcast["waiting_mean_us"]) == ("", "")  # no limit, not known


def test_csv_units_are_in_the_names():
    for name in csv_table.COLUMNS:
        if name.startswith(("time_", "waiting_")) and not name.endswith("samples"):
            assert name.endswith("_us"), name


def test_csv_of_several_profiles(report, tmp_path):
    (tmp_path / "runs").mkdir()
    for i in range(2):
        (tmp_path / f"runs/{i}.json").write_text(json.dumps(report_data.profile()))
    rows = csv_rows(report("runs", "p.json", "--format", "csv"))
    assert {row["file"] for row in rows} == {"runs/0.json", "runs/1.json", "p.json"}
    assert "p.json is given twice" in report("p.json", "p.json", "--format", "csv", code=2)


def test_control_characters_and_halves_of_characters(report, tmp_path):
    data = report_data.profile()
    data["records"] = [report_data.record("bcast", "\x1b[31m\r\ud800", 8, 1e5)]
    (tmp_path / "p.json").write_text(json.dumps(data))
    (row,) = csv_rows(report("p.json", "--format", "csv"))
    assert row["communicator"] == "\\x1b[31m\\x0d\ufffd"


def test_a_format_is_written_whole_or_not_at_all(report, tmp_path):
    before = (tmp_path / "p.json").read_text()
    (tmp_path / "old.csv").write_text("old")
    assert "would be overwritten" in report("p.json", "-o", "./p.json", "--format", "csv", code=2)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/p.json").write_text(before)
    said = report("runs", "-o", "runs/p.json", "--format", "csv", code=2)
    assert "would be overwritten" in said
    (tmp_path / "b.json").write_text(json.dumps(report_data.bench()))
    assert "is for profiles" in report("b.json", "-o", "old.csv", code=2)
    assert (tmp_path / "old.csv").read_text() == "old"
    assert (tmp_path / "p.json").read_text() == before == (tmp_path / "runs/p.json").read_text()
    assert "cannot write /dev/full" in report("p.json", "-o", "/dev/full", code=125)


def test_a_page_is_what_other_names_get(report, tmp_path):
    page = report("p.json", "--format", "html")
    assert page.startswith("<!doctype html>") and page.endswith("</html>")
    report("p.json", "-o", "p.csv", "--format", "html")
    assert (tmp_path / "p.csv").read_text().startswith("<!doctype html>")
    report("p.json", "-o", "-", "--format", "csv")
    assert not (tmp_path / "-").exists()


class Cells(HTMLParser):
    """The tables of a page: [[text of the cells of a row]], and all kinds of elements."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.kinds = [], set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.kinds.add(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_data(self, data):
        if self.tables and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += data.rstrip("\n")


def rendered(text):
    return Cells(MarkdownIt("commonmark").enable("table").render(text))


def test_markdown_is_the_picture_and_the_most_expensive_lines(report, tmp_path):
    text = report("p.json", "--format", "markdown", "--all")
    page = rendered(text)
    picture, calls, collectives = page.tables
    assert page.kinds == {*"h3 p table thead tbody tr th td code strong".split()}
    for rows in page.tables:
        assert {len(row) for row in rows} == {len(rows[0])}
    groups = [row for row in picture[1:] if not row[0].startswith("· ")]
    assert sum(float(row[2].split()[0]) for row in groups) == pytest.approx(100.0)
    assert groups[0][0] == "outside MPI" and len(groups) < len(picture) - 1
    data, shown = profile(), {word(name) for name in NAMES}
    assert len(calls) - 1 == len(data["calls"]["list"])
    assert {row[1] for row in calls} >= {word(site_of(name)) for name in NAMES}
    assert {row[1] for row in collectives} >= {f"{name} (4)" for name in shown}
    assert "### `p.json`\n\n4 ranks, 16 s, Open MPI v4.1.4: 58.1 % of the time in MPI\n" in text
    (tmp_path / "p.json").write_text(json.dumps(data | {"records": data["records"] * 4}))
    assert report("p.json", "-o", "p.md") == "report: p.md\n"
    text = (tmp_path / "p.md").read_text()
    assert len(rendered(text).tables[2]) == 31 and "... and 22 more (`--all`)" in text


HARD = ["", "`", "|", "\\", "a\\|", "`|", "\r", "- x", "_x_", "&lt;"]


@pytest.mark.parametrize("name", [*NAMES, *HARD])
def test_names_stay_what_they_are_in_markdown(name):
    """In a cell, and in a sentence."""
    page = rendered(f"| a | b |\n|---|---|\n| {markdown.code(name)} | c |\n")
    assert page.tables[0][1] == [word(name), "c"]
    assert page.kinds <= {"table", "thead", "tbody", "tr", "th", "td", "code"}
    html = MarkdownIt("commonmark").render(markdown.text(f"{name} on 2 nodes"))
    assert unescape(html) == f"<p>{f'{word(name)} on 2 nodes'.strip(' ')}</p>\n"


def test_markdown_of_several_and_of_collectives_alone(report, tmp_path):
    data = report_data.profile() | {"records": []}
    (tmp_path / "q.json").write_text(json.dumps(data))
    text = report("p.json", "q.json", "--format", "markdown")
    assert text.endswith("### `q.json`\n\n4 ranks, 15.000 s, Open MPI v4.1.4: 0.0 % of the time in"
                         " collectives\n")
    assert "\n\n### `q.json`" in text


SAMPLE = re.compile(
    r'([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\} ([-+.e\d]+)'
)
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')
WORDS = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


def exposed(text):
    """{metric: [(labels, value)]} by the rules of the format, and those of `promtool check metrics`
    that apply to gauges: anything else fails.
    """
    assert text.endswith("\n") and "\r" not in text
    families, described = {}, None
    lines = text[:-1].split("\n")
    for i, line in enumerate(lines):
        if line.startswith("# HELP "):
            _, _, name, meaning = line.split(" ", 3)
            assert name not in families and meaning and lines[i + 1] == f"# TYPE {name} gauge"
            assert not name.endswith(("_total", "_count", "_sum", "_bucket", "_us", "_ms"))
            families[name], described = [], name
        elif not line.startswith("# TYPE "):
            name, labels, value = SAMPLE.fullmatch(line).groups()
            assert name == described, "the samples of a metric stand together, behind its TYPE"
            found = LABEL.findall(labels)
            assert ",".join(f'{k}="{v}"' for k, v in found) == labels
            known = {k: re.sub(r"\\.", lambda w: WORDS[w[0]], v) for k, v in found}
            assert len(known) == len(found) and "job" not in known and "instance" not in known
            assert known not in [other for other, _ in families[name]], line
            families[name].append((known, float(value)))
    return families


def test_prometheus_reads_it(report, tmp_path):
    assert report("p.json", "-o", "p.prom", "--all") == "report: p.prom\n"
    metrics = exposed((tmp_path / "p.prom").read_text(encoding="utf-8"))
    assert {labels["profile"] for found in metrics.values() for labels, _ in found} == {"p.json"}
    ((_, run),) = metrics["crestacoll_run_seconds"]
    assert run == 16.0
    parts = {(k["group"], k["part"]): v for k, v in metrics["crestacoll_time_seconds"]}
    assert sum(parts.values()) == pytest.approx(run)
    assert parts["point-to-point", "sends"] == pytest.approx(0.7)
    calls = {(k["call"], k["site"]): v for k, v in metrics["crestacoll_call_seconds"]}
    assert {site for _, site in calls} >= {site_of(name) for name in NAMES}
    assert calls["MPI_Send", "app+0x2134"] == pytest.approx(0.7)
    sizes = {k["call"]: v for k, v in metrics["crestacoll_call_bytes"]}
    assert sizes["MPI_Send"] == 64e6
    times = {k["communicator"]: v for k, v in metrics["crestacoll_collective_seconds"]}
    assert times.keys() >= {*NAMES} and times["row"] == pytest.approx(1.0)
    waiting = {k["communicator"]: v for k, v in metrics["crestacoll_collective_waiting_seconds"]}
    assert "" not in waiting and waiting["row"] == pytest.approx(0.5)


def test_prometheus_has_each_series_once(report, tmp_path):
    """Two lines with the same labels are one series; each profile has its own."""
    data = profile()
    for name in ("a.json", "b.json"):
        calls = data["calls"] | {"list": data["calls"]["list"] * 2}
        (tmp_path / name).write_text(json.dumps(data | {"calls": calls}))
    metrics = exposed(report("a.json", "b.json", "--format", "prometheus", "--all"))
    sends = [(k, v) for k, v in metrics["crestacoll_call_seconds"] if k["call"] == "MPI_Send"]
    assert [k["profile"] for k, _ in sends] == ["a.json", "b.json"]
    assert [v for _, v in sends] == pytest.approx([1.4, 1.4])
    longest = {k["call"]: v for k, v in metrics["crestacoll_call_longest_seconds"]}
    assert longest["MPI_Send"] == pytest.approx(0.007)
    short = exposed(report("a.json", "--format", "prometheus"))
    assert len(short["crestacoll_calls"]) < 30 and len(short["crestacoll_collective_calls"]) == 13


@pytest.mark.parametrize("text", [
    "# HELP a b\n# TYPE a gauge\na{x=\"\n\"} 1\n", "a{} 1\n", "# HELP a b\n# TYPE a gauge\na{} 1",
    "# HELP a b\n# TYPE a gauge\na{x=\"\\u\"} 1\n", "# HELP a b\n# TYPE a gauge\na{} 1\na{} 2\n",
])
def test_the_rules_refuse_what_is_wrong(text):
    with pytest.raises((AssertionError, AttributeError)):
        exposed(text)


def test_a_trace_opens_in_perfetto(report, tmp_path):
    """As the trace event format has it: names of all threads, slices that are nested or apart."""
    name = 'say "yes"\n☃.json'
    data = profile()
    data["timeline"]["bin_us"] = bin_us = 333.3333  # rounding must not make slices overlap
    for row in data["timeline"]["rows"]:
        row["busy_us"] = [b and bin_us for b in row["busy_us"]]
        row["waiting_us"] = [b and 0.6 * bin_us or None for b in row["busy_us"]]
    data["timeline"]["rows"][3] |= {"rank": 3, "ranks": 5}
    (tmp_path / name).write_text(json.dumps(data))
    assert "report: t.json" in report(name, "p.json", "-o", "t.json", "--format", "trace")
    trace = json.loads((tmp_path / "t.json").read_text())
    events = trace["traceEvents"]
    named = {(e["name"], e["pid"], e.get("tid")): e["args"] for e in events if e["ph"] == "M"}
    said = f"{name}: 4 ranks, Open MPI v4.1.4"
    assert named["process_name", 1, None] == {"name": said}
    assert named["thread_name", 1, 2] == {"name": "rank 2"}
    assert named["thread_name", 1, 3] == {"name": "ranks 3 to 7, mean"}
    slices = [e for e in events if e["ph"] == "X"]
    assert {(e["pid"], e["tid"]) for e in slices} == {(p, t) for p in (1, 2) for t in range(4)}
    end, last = {}, {}
    for e in slices:
        where = e["pid"], e["tid"]
        begin, finish = int(1000 * e["ts"]), int(1000 * e["ts"]) + int(1000 * e["dur"])
        if e["name"] == "waiting for the last rank":
            assert begin == last[where] and finish <= end[where] and e["args"]["bin"] >= 0
        else:
            assert e["name"] == "in collectives" and begin >= end.get(where, 0)
            last[where], end[where] = begin, finish
        assert e["dur"] > 0
    busy = sum(e["dur"] for e in slices if e["name"] == "in collectives" and e["pid"] == 2)
    expected = sum(sum(row["busy_us"]) for row in profile()["timeline"]["rows"])
    assert busy == pytest.approx(expected, rel=1e-5)
    (shares,) = {e["name"] for e in events if e["ph"] == "C" and "alltoall" in e["name"]}
    values = [e["args"] for e in events if e["ph"] == "C" and e["name"] == shares and e["pid"] == 2]
    line = profile()["timeline"]
    assert values[0] == {"%": pytest.approx(100 * line["collectives_us"]["alltoall"][0] / 250000)}
    assert len(values) == line["bins"] + 1 and values[-1] == {"%": 0}


def test_a_trace_needs_a_timeline(report, tmp_path, profile_data):
    (tmp_path / "q.json").write_text(json.dumps(profile_data))
    said = report("q.json", "--format", "trace", "-o", "t.json", code=125)
    assert "q.json has no timeline" in said and not (tmp_path / "t.json").exists()


def test_otf2_says_what_it_lacks(report, tmp_path, monkeypatch):
    assert "add -o FOLDER" in report("p.json", "--format", "otf2", code=2)
    monkeypatch.setitem(sys.modules, "otf2", None)
    monkeypatch.setitem(sys.modules, "_otf2", None)
    said = report("p.json", "--format", "otf2", "-o", "run", code=125)
    assert "needs the Python package otf2: pip install otf2" in said
    assert not (tmp_path / "run").exists()


def test_otf2_reads_it_back(report, tmp_path, profile_data):
    otf2 = pytest.importorskip("otf2", reason="the Python package otf2 is not installed")
    name = 'say "yes"\n☃.json'
    (tmp_path / name).write_text(json.dumps(profile()))
    (tmp_path / "q.json").write_text(json.dumps(profile_data))
    assert "no timeline" in report("q.json", "--format", "otf2", "-o", "run", code=125)
    assert report(name, "p.json", "--format", "otf2", "-o", "run") == "report: run\n"
    assert {path.name for path in tmp_path.iterdir()} == {name, "p.json", "q.json", "run"}
    assert "is a directory" in report("p.json", "--format", "otf2", "-o", "run", code=2)
    (tmp_path / "old").write_text("old")
    assert "old exists" in report("p.json", "--format", "otf2", "-o", "old", code=2)
    depth, inside, seen = {}, {}, set()
    with otf2.reader.open(str(tmp_path / "run/traces.otf2")) as archive:
        nodes = {node.name for node in archive.definitions.system_tree_nodes}
        for location, event in archive.events:
            stack = depth.setdefault(location._ref, [])
            seen.add((location.group.system_tree_parent.name[:6], location.group.name))
            if type(event).__name__ == "Enter":
                stack.append((event.region.name, event.time))
            else:
                begun, at = stack.pop()
                assert begun == event.region.name and at < event.time
                inside[begun] = inside.get(begun, 0) + event.time - at
    assert nodes == {f"{file}: 4 ranks, Open MPI v4.1.4" for file in (name, "p.json")}
    assert len(seen) == 8 and not any(depth.values())
    rows = profile()["timeline"]["rows"]
    busy, waiting = (2e3 * sum(filter(None, (us for row in rows for us in row[kind])))
                     for kind in ("busy_us", "waiting_us"))
    assert inside["in collectives"] == pytest.approx(busy, rel=1e-5)
    assert inside["waiting for the last rank"] == pytest.approx(waiting, rel=1e-5)
