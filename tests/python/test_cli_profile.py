# SPDX-License-Identifier: BSD-3-Clause
"""Profile files: schema, sums, table."""

import json

import pytest
import report_data
from conftest import command
from crestacoll._files import load_profile as api_load_profile
from crestacoll_tools import schemas
from crestacoll_tools.profile import profiles


@pytest.fixture
def crestacoll(in_process):
    """It only reads profiles. What depends on the locale is tried as a command."""
    return in_process


def test_a_good_profile_is_good(profile_data):
    assert schemas.problems("profile", profile_data) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("ranks"),
        lambda d: d["records"][0].pop("wait_us"),
        lambda d: d["records"][0].update(mode="other"),
        lambda d: d["records"][0]["time_us"].update(min=-1),
        lambda d: d["records"][0].update(extra=1),
        lambda d: (d.update(schema="crestacoll-profile-2"), d.pop("timeline")),
        lambda d: (d.update(schema="crestacoll-profile-3"), d.pop("communicators")),
        lambda d: (d.update(schema="crestacoll-profile-4"), d["records"][0].pop("nodes")),
        lambda d: d.pop("clocks"),
        lambda d: d["records"][0]["wait_us"].pop("low"),
        lambda d: d.update(schema="crestacoll-profile-6"),
        lambda d: d.update(communicators=[{"communicator": "row"}]),
        lambda d: d.update(timeline={"bins": 1}),
    ],
)
def test_a_bad_profile_is_bad(profile_data, change):
    change(profile_data)
    assert schemas.problems("profile", profile_data) != []


def test_sums_and_shares(profile_data):
    row, other = profiles.sums(profiles.checked("p.json", profile_data))
    assert (row["collective"], row["calls"], row["mean_us"], row["wait_us"]) == (
        "alltoall",
        120,
        1e6,
        2e5,
    )
    assert other["wait_us"] is None
    assert profiles.total_us(profile_data) == pytest.approx(1e6 + 20)


def test_the_report_shows_what_matters(profile_data, tmp_path, crestacoll):
    file = tmp_path / "p.json"
    file.write_text(json.dumps(profile_data))
    shown = crestacoll("report", file)
    assert shown.returncode == 0, shown.stderr
    line = next(li for li in shown.stdout.splitlines() if li.startswith("alltoall"))
    for word in (
        *("row (2)", "4K-8K", "nonblock", "120", "1 s", "50.0 %"),
        *("200 ms ± 50 ms", "40", "800 ms"),
    ):
        assert word in line
    assert "iallreduce" in shown.stdout and "8-inf" in shown.stdout
    summed = json.loads(crestacoll("report", file, "--by", "communicator", "--json").stdout)
    assert [s["communicator"] for s in summed["sums"]] == ["row", ""]


def test_what_goes_between_nodes(profile_data, tmp_path, crestacoll):
    """Columns of their own where a program spans nodes, and only there."""
    sent = {"calls": 240, "messages": 480, "bytes": 480 << 10}
    nodes = {"count": 2, "ranks_min": 1, "ranks_max": 1}
    row = {"communicator": "row", "processes": 2, "members": [[0, 1, 2]], "bytes": {}}
    profile_data["communicators"] = [row | {"nodes": nodes}, row | {"nodes": None}]
    first, second = profile_data["records"]
    first |= {"nodes": 2, "between_nodes": sent}
    second |= {"nodes": None, "between_nodes": None}
    file = tmp_path / "p.json"
    file.write_text(json.dumps(profile_data))
    shown = crestacoll("report", file).stdout
    assert "row (2) on 2 nodes with 1 rank each" in shown and "messages" in shown
    lines = [li.split() for li in shown.splitlines()]
    assert next(li for li in lines if li[:1] == ["alltoall"])[-2:] == ["4", "4.00K"]
    assert next(li for li in lines if li[:1] == ["iallreduce"])[-2:] == ["?", "?"]
    assert crestacoll("report", file, "-o", tmp_path / "r.html").returncode == 0
    assert "<td class=\"n\">4.00K</td>" in (tmp_path / "r.html").read_text()
    sums = json.loads(crestacoll("report", file, "--json").stdout)["sums"]
    assert [s["between_nodes"] for s in sums] == [sent, None]
    first |= {"nodes": 1}
    file.write_text(json.dumps(profile_data))
    assert "messages" not in crestacoll("report", file).stdout


def test_two_clocks_are_told(profile_data, tmp_path, crestacoll):
    clock = profile_data["clocks"][0]
    profile_data["clocks"] = [clock, clock | {"rank": 1, "ahead_us": 3e4, "error_us": 12.5}]
    file = tmp_path / "p.json"
    file.write_text(json.dumps(profile_data))
    assert "the error of 2 clocks, 12.5 us a call;" in crestacoll("report", file).stdout


def test_earlier_profiles_do_not_say_what_ranks_waited(profile_data, tmp_path, crestacoll):
    """They had it wrong: it is unknown, wherever it would be shown."""
    profile_data |= report_data.profile() | {"schema": "crestacoll-profile-4"}
    for record in profile_data["records"]:
        if record["wait_us"]:
            record["wait_us"] = {"samples": 4, "mean": 123e3, "max": 3e5}
    file = tmp_path / "p.json"
    file.write_text(json.dumps(profile_data))
    shown = crestacoll("report", file).stdout
    assert "123 ms" not in shown and "profile the program again" in shown
    assert crestacoll("report", file, "-o", tmp_path / "r.html").returncode == 0
    page = (tmp_path / "r.html").read_text()
    assert "123\u00a0ms" not in page and "it is unknown here" in page
    assert "at least, waiting" not in page
    sums = json.loads(crestacoll("report", file, "--json").stdout)["sums"]
    assert {s["wait_us"] for s in sums} == {None}
    read = profiles.load(file)
    assert set(read["timeline"]["waiting_us"]) == {None}
    assert {r["wait_us"] for r in api_load_profile(file)["records"]} == {None}


NAMES = [
    "grid[/x]",
    "row[red]:cat:",
    "[bold]",
    "a\\[b]",
    "$x$ <b>&amp; {0}",
    "Zeile äöü 𝄞",
    "\udcff\udc80 no text",
]


def test_names_are_shown_as_they_are(profile_data, tmp_path, crestacoll):
    record = profile_data["records"][0]
    profile_data["records"] = [
        record | {"communicator": name, "implementation": name} for name in NAMES
    ]
    file = tmp_path / "p[red].json"
    file.write_text(json.dumps(profile_data))
    for words in ((), ("--by", "communicator"), ("--by", "implementation")):
        shown = crestacoll("report", file, *words, COLUMNS="200")
        assert shown.returncode == 0, shown.stderr
        assert [name for name in NAMES if name not in shown.stdout] == []
    summed = json.loads(crestacoll("report", file, "--json").stdout)
    assert {row["communicator"] for row in summed["sums"]} == set(NAMES)


def test_no_name_moves_the_cursor(profile_data, tmp_path, crestacoll):
    profile_data["records"][0]["communicator"] = "a\x1b[31mb\rc\nd\x9b2Je"
    file = tmp_path / "p.json"
    file.write_text(json.dumps(profile_data))
    shown = crestacoll("report", file, COLUMNS="200")
    assert "a\\x1b[31mb\\x0dc\\nd\\x9b2Je (2)" in shown.stdout, shown.stdout


def test_a_name_that_the_locale_lacks(profile_data, tmp_path):
    profile_data["records"][0]["communicator"] = "Zeile ä 𝄞"
    file = tmp_path / "p.json"
    file.write_text(json.dumps(profile_data, ensure_ascii=False), encoding="utf-8")
    shown = command("report", file, cwd=tmp_path, COLUMNS="200", PYTHONIOENCODING="ascii")
    assert shown.returncode == 0, shown.stderr
    assert "Zeile \\xe4 \\U0001d11e" in shown.stdout


def test_errors_name_files_as_they_are(tmp_path, crestacoll):
    for name in ("p[red]:cat:.json", "p[bold]$x$.json"):
        (tmp_path / name).write_text("{")
        shown = crestacoll("report", name)
        assert shown.returncode == 125 and name in shown.stderr
        assert "Traceback" not in shown.stderr


def test_plots_take_names_as_they_are(tmp_path):
    """A $ is no formula, which may be one that cannot be read, and < no element."""
    from crestacoll_tools.bench import benchplots

    record = {"mpi": "a$b", "collective": "bcast", "ranks": 2, "bytes": 8, "buffers": "hot"}
    record |= {"median_us": 1.0, "p10_us": 0.5, "p90_us": 2.0, "implementation": "$\\frac{$<b>"}
    benchplots.save_bench([record], tmp_path / "plot.svg")
    benchplots.save_bench([record], tmp_path / "plot.png")
    assert "$\\frac{$&lt;b&gt;" in benchplots.bench_svg([record])


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"schema": "x"}', '{"schema": "crestacoll-profile-1"}']
)
def test_what_is_no_profile_is_refused(text, tmp_path, crestacoll):
    (tmp_path / "p.json").write_text(text)
    shown = crestacoll("report", "p.json")
    assert shown.returncode == 125 and "p.json" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_a_profile_without_collectives_has_no_table(capsys):
    profiles.show(report_data.profile() | {"records": [], "wall_s": 0.0})
    told = capsys.readouterr().out
    assert "- of the time in collectives" in told and "No call of a collective was" in told
    assert "waiting" not in told


def test_numbers_of_one():
    """Words that follow a number follow 1, too."""
    once = report_data.record("alltoall", "row", 8, 2e6) | {"calls": 2}
    once["time_us"] = once["time_us"] | {"timed": 1, "error": 2e5}
    assert profiles.untimed({"records": [once]}).startswith("1 of 2 calls of a rank in 1 line was")
    data = report_data.profile() | {"clocks": [{"error_us": 3.0}]}
    assert " and the error of 1 clock, 3 us a call" in profiles.waiting_legend(data)
