# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll peers`: the table and its page from made-up records; what is kept of a run that was
broken off. Nothing here installs or times anything.
"""

import json
import os
import subprocess

import pytest
from crestacoll_tools import schemas
from crestacoll_tools.bench import benchjob
from crestacoll_tools.builds import machine
from crestacoll_tools.builds.builds import ROOT
from crestacoll_tools.peers import draw, launches, mpis, page, series, speeds, table, verdicts
from peers_rows import FLOOR, WRITTEN, record, result, row

pytestmark = pytest.mark.by_turns


def test_a_figure_is_the_median_of_the_launches():
    found = [
        result(mpi, record(us=us * k), record(implementation="shm", us=us / 2))
        for k in (1, 2, 9)
        for mpi, us in {"openmpi": 3.0, "openmpi5": 4.0}.items()
    ]
    (only,) = table.rows_of(found)
    assert only.own["openmpi"] == table.Times(6.0, 3.0, 12.0)
    assert only.best == 6.0 and only.ours == 2.0
    assert only.ratio == pytest.approx(1 / 3)
    assert only.on("openmpi") == 0.25 and only.on("impi") is None


def test_wrong_results_and_empty_ones_have_no_time():
    found = [
        result("mpich", record(us=0.1, verified=False), record(us=5.0)),
        result("impi", record(us=0.1, samples=0)),
    ]
    (only,) = table.rows_of(found)
    assert only.own == {"mpich": table.Times(5.0, 2.5, 10.0)} and only.ratio is None
    assert table.wrong_of(found) == ["mpi allreduce of 8 bytes, 2 ranks, on mpich"]


def test_ways_of_measuring_are_rows_of_their_own():
    changes = [{}, {"buffers": "cold"}, {"timing": "synchronised"}, {"skew_us": 20}, {"ranks": 4}]
    changes += [{"calls": "begun"}]
    rows = table.rows_of([result("mpich", *(record(**change) for change in changes))])
    assert len(rows) == len(changes)
    assert [verdicts.plain(r) for r in rows] == [True, False, False, True, True, False]


def test_the_table_survives_its_file(tmp_path):
    rows = [
        row({"openmpi": 1.25, "impi": 2.0}, 0.5),
        row({"mpich5": 3e4}, {"mpich5": 4.0}, "bcast", 4096, ranks=8, root="fixed"),
        row({"mpich": 7.0}, 1.0, skew_us=2.5, timing="synchronised"),
    ]
    path = tmp_path / "t.csv"
    table.write_csv(rows, [FLOOR], path)
    assert table.read_csv(path) == table.mark_incomplete(rows)
    lines = path.read_text().splitlines()
    assert lines[0].endswith("line_us,floor_us,ratio") and lines[1].endswith(",0.06,0.06,0.4")


def test_the_floor():
    launch = [
        {"what": "exchange", "bytes": 8, "median_us": 0.1},
        {"what": "copy", "bytes": 4096, "median_us": 2.0},
    ]
    other = [dict(r, median_us=3 * r["median_us"]) for r in launch]
    floor = table.floor_of([launch, launch, other])
    assert floor == {"exchange": 0.1, "copy": {"4096": 2.0}}
    assert table.floor_at(row({}, 1).point, floor) == 0.1
    assert table.floor_at(row({}, 1, nbytes=4096).point, floor) == 2.1
    assert table.floor_at(row({}, 1, nbytes=8192).point, floor) is None
    assert table.floor_at(row({}, 1, ranks=4).point, floor) is None
    assert table.floor_of([])["exchange"] is None


HEAD = {
    "crestacoll": "0.1.0",
    "date": "2026-01-02T03:04:05+00:00",
    "machine": machine.describe(),
    "launches": 3,
    "mpis": {"openmpi5": "Open MPI v5.0.11", "mpich": "MPICH 4.0.2"},
    "missing": ["Intel MPI: the server cannot be reached"],
    "floors": [FLOOR],
    "notes": ["something"],
}


def sample_rows():
    own = {"openmpi5": 2.0, "mpich": 1.0}
    return [
        row(own, 0.4, "barrier", 0),
        row(own, 1.25),
        row(own, 0.5, nbytes=4096),
        row(own | {"mpich-shm": 0.8}, 0.4, **WRITTEN),
        row(own, 3.0, "bcast", 4096, root="fixed"),
        row(own, {"openmpi5": 0.25, "mpich": 0.5}, "bcast", 8, ranks=4),
        row(own, 0.6, buffers="cold"),
    ]


def test_the_page():
    text = page.page(HEAD, sample_rows())
    lines = text.splitlines()
    assert "| barrier | 0.40 |  |" in lines
    assert "| allreduce | **1.25** | 0.50 |" in lines and "| allreduce | 0.50 |" in lines
    assert "| bcast | **3.00** |" in lines and "| bcast | 0.25 |" in lines
    assert "* not measured: Intel MPI: the server cannot be reached" in lines
    assert "## Cores near each other: 0.06 us" in lines
    assert any(line.startswith("* not measured: cores far from each other") for line in lines)
    assert "### 2 ranks, symmetric calls, data written again" in lines
    assert "| 2 ranks, one after the other, cold buffers | 0.60 |  |" in lines
    assert "| MPICH 4.0.2 |  | 0.5 |" in lines
    assert any(li.startswith("| Open MPI") and "data not written again" in li for li in lines)
    assert "bcast, root 0: 4K (2.86)" in text and "* something" in lines
    assert "in **0.06 us**" in text and "\n\n\n" not in text


def test_what_an_mpi_has_not_done_shows_nothing_beside_the_fastest():
    own = {"openmpi5": 2.0, "mpich": 1.0}
    rows = [row(own, 0.5), row({"openmpi5": 2.0}, 0.5, nbytes=64)]
    rows += [row({"openmpi5": 2.0}, 0.5, buffers="cold"), row({"openmpi5": 2.0}, 0.5, ranks=4)]
    found = table.mark_incomplete(rows)
    assert [r.ratio for r in found] == [0.5, None, None, 0.25]


def test_the_plot_has_every_line():
    shown = draw.shown([*sample_rows(), row({"mpich": 1.0}, 0.5, nbytes=64, **WRITTEN)])
    assert {draw.line(r) for r in shown} == {
        *(("barrier", 2, False), ("allreduce", 2, False), ("bcast", 2, True), ("bcast", 4, False))
    }
    assert all(r.point.buffers == "written" for r in shown if r.point.collective == "allreduce")


def test_a_page_of_next_to_nothing():
    empty = HEAD | {"floors": [{"exchange": None, "copy": {}}], "notes": [], "missing": []}
    text = page.page(empty, [])
    assert text.count("not measured | - |") == 11 and "**floor**" not in text


def test_the_page_of_the_documents_is_that_of_its_table():
    docs = ROOT / "docs"
    head = json.loads((docs / "performance.json").read_text())
    rows = table.read_csv(docs / "performance.csv")
    assert (docs / "performance.md").read_text() == page.page(head, rows)


@pytest.mark.long
def test_the_plot_is_the_same_each_time(tmp_path):
    for name in "a.svg", "b.svg":
        draw.save(sample_rows(), tmp_path / name)
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text() and "allreduce" in text
    draw.save([], tmp_path / "none.svg")
    assert not (tmp_path / "none.svg").exists()


class FakeBuild:
    name, family = "openmpi5", "openmpi"

    def __init__(self, folder):
        self.folder = folder

    def program(self, name):
        return self.folder / name


class FakeSpeeds:
    """Says these one after the other, then the last for ever."""

    def __init__(self, *numbers):
        self.to_come = list(numbers)

    def now(self):
        return self.to_come.pop(0) if len(self.to_come) > 1 else self.to_come[0]

    def number_of(self, exchange):
        return {0.06: 1, 0.25: 2}.get(exchange)


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    build, ran = FakeBuild(tmp_path), []
    jobs = launches.all_jobs([build], series.QUICK, 2, tmp_path / "results")
    broken = {"four": 1}

    def run(build, plan, limit, variables):
        name = next(
            s.name
            for s in series.QUICK
            if (s.ranks, s.root, s.buffers) == (plan.ranks, plan.root, plan.buffers)
        )
        ran.append(name)
        if broken.pop(name, 0):
            raise launches.Problem("broke off")
        return benchjob.Result({"mpi_library": "x"}, [record()], [], {})

    monkeypatch.setattr(benchjob, "run", run)
    said = []
    launches.run(jobs, 100, lambda job, what, *_: said.append(what), FakeSpeeds(1))
    assert len(ran) == 10 and [s for s in said if "FAILED" in s] == ["FAILED: broke off"]
    assert launches.missing(jobs, 2) == "4 ranks 1"
    launches.run(jobs, 100, lambda *_: None, FakeSpeeds(1))
    assert launches.missing(jobs, 2) == ""
    assert ran[10:] == ["four"] and len(launches.results(jobs, 1, FakeSpeeds(1))) == 10
    (tmp_path / "crestacoll-bench").write_text("another build")
    assert launches.results(jobs, 1, FakeSpeeds(1)) == []


def test_only_what_was_measured_at_one_speed_is_compared(tmp_path, monkeypatch):
    build = FakeBuild(tmp_path)
    jobs = launches.all_jobs([build], series.QUICK, 1, tmp_path / "results")
    lines = [[0.06, 0.06], [0.25, 0.25], [0.25, 0.06], [0.06, 0.9]]
    records = [record(), *(record(bytes=k, line_us=line) for k, line in enumerate(lines))]
    result = benchjob.Result({"mpi_library": "x"}, records, [], {})
    monkeypatch.setattr(benchjob, "run", lambda *_, **__: result)
    changing = FakeSpeeds(1, 1, 1, 2, 2, 2, 1)  # during the second job
    launches.run(jobs, 100, lambda *_: None, changing)
    found = {k: launches.results(jobs, k, changing) for k in (1, 2)}
    assert [sum(r["bytes"] == 8 for d in found[k] for r in d["records"]) for k in (1, 2)] == [3, 1]
    assert {r["bytes"] for d in found[2] for r in d["records"]} == {8, 1}


def test_speeds_are_told_apart_by_the_floor(tmp_path, monkeypatch):
    exchanges = [0.06, 0.25, 0.05, 0.3]
    monkeypatch.setattr(
        speeds,
        "measure",
        lambda _: [{"what": "exchange", "bytes": 8, "median_us": exchanges.pop(0)}],
    )
    met = speeds.Speeds("floor", tmp_path)
    assert [met.now() for _ in range(4)] == [1, 2, 1, 2]
    again = speeds.Speeds("floor", tmp_path)
    assert list(again.numbers()) == [1, 2] and again.match(0.2) == 2
    assert again.in_order() == [1, 2] and again.match(2.0) == 3
    assert table.floor_of(again.floors(1))["exchange"] == pytest.approx(0.055)


def test_other_settings_are_measured_where_targets_speak_of_them(tmp_path, monkeypatch):
    missing = {}
    monkeypatch.setattr(mpis, "has_component", lambda setting, _: setting.component == "sm")
    found = mpis.settings_of([p for p in mpis.PEERS if p.name != "mpich5"], tmp_path, missing)
    assert [s.name for s in found] == ["openmpi-sm", "mpich-shm", "openmpi5-sm"]
    assert list(missing) == ["Open MPI 5, coll/xhc", "Open MPI 5, coll/acoll"]
    jobs = launches.all_jobs([FakeBuild(tmp_path)], series.FULL, 1, tmp_path, found)
    others = [job for job in jobs if job.setting]
    assert {job.mpi for job in others} == {"openmpi5-sm"}
    assert {job.series.name for job in jobs} - {job.series.name for job in others} == {
        *("begun", "cold", "synchronised", "skew")
    }
    assert others[0].plan(1).implementations == ["mpi"] and others[0].seconds == jobs[0].seconds / 2
    assert others[0].variables == {"OMPI_MCA_coll_sm_priority": "95"} and not jobs[0].variables


def test_what_is_launched_twice_in_a_round_is_so_at_its_end_again(tmp_path):
    jobs = launches.all_jobs([FakeBuild(tmp_path)], series.FULL, 3, tmp_path)
    again = [(job.launch, job.series.name) for job in jobs if job.launch > 3]
    assert again == [(k, name) for k in (4, 5, 6) for name in ("pairs", "pairs-written")]
    assert [job.launch for job in jobs if job.series.name == "pairs"] == [1, 4, 2, 5, 3, 6]


def test_what_open_mpi_was_built_with(tmp_path, monkeypatch):
    said = "mca:coll:sm:version:mca:2.1.0\nmca:coll:base:param:x\n"
    done = subprocess.CompletedProcess([], 0, said, "")
    monkeypatch.setattr(mpis.subprocess, "run", lambda *_, **__: done)
    of = {s.name: mpis.has_component(s, tmp_path) for s in mpis.SETTINGS if s.component}
    assert of == {
        **{"openmpi-sm": True, "openmpi5-sm": True},
        **{"openmpi5-xhc": False, "openmpi5-acoll": False},
    }


def test_time_is_shared_by_what_jobs_take(tmp_path):
    jobs = launches.all_jobs([FakeBuild(tmp_path)], series.FULL, 1, tmp_path)
    total = sum(launches.share(job, 1000, jobs) + launches.LAUNCH for job in jobs)
    assert total == pytest.approx(1000)
    of = {job.series.name: launches.share(job, 1000, jobs) for job in jobs}
    assert of["eight"] > 2 * of["begun"]
    assert launches.share(jobs[0], -5, jobs) == launches.LEAST


def test_what_ctest_and_pip_say():
    text = (
        "1 - not this (x)\n97% tests passed, 2 tests failed out of 86\n"
        "The following tests FAILED:\n\t 13 - a-2 (Failed)\n\t 14 - b (Timeout)\nErrors\n"
    )
    assert mpis.read_tests(text) == (86, ["a-2", "b"])
    assert mpis.read_tests("100% tests passed, 0 tests failed out of 3\n") == (3, [])
    with pytest.raises(mpis.Problem):
        mpis.read_tests("no such folder")
    offline = "WARNING: Retrying: NewConnectionError: Temporary failure in name resolution"
    assert mpis.why_pip_failed(offline) == "the server cannot be reached"
    nothing = "ERROR: Could not find a version that satisfies x==1 (from versions: none)"
    assert "cannot be reached, or" in mpis.why_pip_failed(nothing)
    assert mpis.why_pip_failed("noise\nERROR: No such version\n") == "ERROR: No such version"


def test_usage(crestacoll, tmp_path):
    assert crestacoll("peers", "--steps", "dance").returncode == 2
    assert crestacoll("peers", "--mpi", "mvapich").returncode == 2
    nothing = crestacoll("peers", "--steps", "draw", "--to", tmp_path)
    assert nothing.returncode == 125 and "nothing to draw" in nothing.stderr


def test_drawn_anew_from_its_files(in_process, tmp_path):
    (tmp_path / "performance.json").write_text(json.dumps(HEAD))
    table.write_csv(sample_rows(), [FLOOR], tmp_path / "performance.csv")
    ran = in_process("peers", "--steps", "draw", "--to", tmp_path, "--json")
    assert ran.returncode == 0, ran.stderr
    data = json.loads(ran.stdout)
    assert schemas.problems("peers", data) == [] and len(data["rows"]) == len(sample_rows())
    assert data["rows"][1]["ratio"] == 1.25 and data["rows"][1]["point"]["bytes"] == 8
    assert [t["met"] for t in data["targets"][:2]] == [True, False]
    assert (tmp_path / "performance.md").read_text() == page.page(HEAD, sample_rows())
    assert (tmp_path / "images" / "performance.svg").exists()


def test_the_floor_program(build):
    program = build.program("crestacoll-floor")
    ran = subprocess.run([program, "5"], capture_output=True, text=True, timeout=60, check=True)
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [line["type"] for line in lines] == ["header", *["record"] * 5, "end"]
    records = speeds.read(ran.stdout)
    assert [r["what"] for r in records] == ["exchange", *["copy"] * 4] and lines[-1]["ok"]
    assert all(0 < r["p10_us"] <= r["median_us"] <= r["p90_us"] for r in records)
    assert records[4]["median_us"] > records[1]["median_us"]  # 2 MiB and 4 KiB
    for wrong in ["0"], ["x"], ["5", "5"]:
        assert subprocess.run([program, *wrong], capture_output=True, check=False).returncode == 2


def test_the_floor_program_on_a_kernel_for_many_cores(build):
    library = build.folder / "lib" / "libmany_cores.so"
    if not library.exists():
        pytest.skip("tests are not built")
    ran = subprocess.run(
        [build.program("crestacoll-floor"), "5"],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert speeds.read(ran.stdout)


def test_skew(in_process, build):
    words = "bench bcast,barrier --impl nonblock --sizes 8 --samples 4 --budget 600 --skew".split()
    assert in_process(*words, "30", "--mpi", build.name).returncode == 2
    words += ["30", "--timing", "synchronised", "--mpi", build.name]
    data = json.loads(in_process(*words, "--json").stdout)
    assert data["verified"] and {r["skew_us"] for r in data["records"]} == {30}
    assert "synchronised with a skew of 30 us" in in_process(*words).stdout


def test_an_mpi_that_does_not_end_where_ranks_take_turns_is_left_out_there(tmp_path):
    build = FakeBuild(tmp_path)
    build.name = "impi"
    most = {
        (job.series.ranks, max(job.plan(1).sizes))
        for job in launches.all_jobs([build], series.FULL, 1, tmp_path)
    }
    assert most == {(2, 8 << 20), (4, 8 << 20), (8, 2 << 20)}
    assert not mpis.peer_of("impi").measures(8, 8 << 20) and mpis.PEERS[0].measures(8, 8 << 20)
