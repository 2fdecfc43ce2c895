# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll peers`: the table, its verdicts and its page from made-up records; what is kept of a
run that was broken off. Nothing here installs or times anything.
"""

import json
import subprocess

import pytest

from crestacoll import benchjob, machine, schemas
from crestacoll.peers import draw, launches, mpis, page, series, speeds, table, verdicts

FLOOR = {"exchange": 0.06, "copy": {"4096": 0.1, "2097152": 40.0}}


def record(collective="allreduce", nbytes=8, implementation="mpi", us=1.0, **changes):
    rooted = collective in series.ROOTED
    return {
        "collective": collective,
        "implementation": implementation,
        "ranks": 2,
        "bytes": nbytes,
        "timing": "back_to_back",
        "root": "rotate" if rooted else "none",
        "buffers": "hot",
        "skew_us": 0,
        "verified": True,
        "samples": 10,
        "median_us": us,
        "p10_us": us / 2,
        "p90_us": us * 2,
    } | changes


def result(mpi, *records):
    return {"mpi": mpi, "records": list(records)}


def row(own, cresta, collective="allreduce", nbytes=8, **changes):
    """One row; `own`: {mpi: us}; `cresta`: us on Open MPI 5, or {mpi: us}."""
    cresta = cresta if isinstance(cresta, dict) else {mpis.OURS: cresta}
    sides = [(own, "mpi"), (cresta, "shm")]
    found = [
        result(mpi, record(collective, nbytes, name, us, **changes))
        for side, name in sides
        for mpi, us in side.items()
    ]
    (only,) = table.rows_of(found)
    return only


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
    rows = table.rows_of([result("mpich", *(record(**change) for change in changes))])
    assert len(rows) == len(changes)
    assert [verdicts.plain(r) for r in rows] == [True, False, False, True, True]


def test_the_table_survives_its_file(tmp_path):
    rows = [
        row({"openmpi": 1.25, "impi": 2.0}, 0.5),
        row({"mpich5": 3e4}, {"mpich5": 4.0}, "bcast", 4096, ranks=8, root="fixed"),
        row({"mpich": 7.0}, 1.0, skew_us=2.5, timing="synchronised"),
    ]
    path = tmp_path / "t.csv"
    table.write_csv(rows, FLOOR, path)
    assert table.read_csv(path) == rows
    lines = path.read_text().splitlines()
    assert lines[0].endswith("floor_us,ratio") and lines[1].endswith(",0.06,0.4")


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


@pytest.mark.parametrize(
    "limit, collective, nbytes, changes",
    [
        (0.8, "allreduce", 8, {}),
        (0.8, "bcast", 512, {}),
        (1.04, "bcast", 512, {"root": "fixed"}),
        (1.04, "scan", 64, {}),
        (1.0, "scan", 4096, {}),
        (1.0, "gatherv", 256 << 10, {"root": "fixed"}),
        (1.05, "alltoall", 2 << 20, {}),
        (0.7, "reduce", 2 << 20, {}),
        (1.0, "bcast", 8, {"ranks": 4}),
        (1.0, "barrier", 0, {"ranks": 8}),
        (None, "scan", 8, {"ranks": 4}),
        (None, "bcast", 64 << 10, {"ranks": 8}),
        (None, "allreduce", 8, {"buffers": "cold"}),
        (None, "allreduce", 1 << 20, {}),
    ],
)
def test_bounds(limit, collective, nbytes, changes):
    assert verdicts.bound(row({"mpich": 1.0}, 1, collective, nbytes, **changes), FLOOR) == limit


def test_near_the_floor_no_ratio_is_asked_for():
    near = row({"mpich": 0.17}, 0.15)
    assert verdicts.bound(near, FLOOR) == pytest.approx(0.16)
    assert verdicts.beyond([near], FLOOR) == []


def told(rows):
    """Target number -> verdict, of those that could be judged."""
    found = verdicts.verdicts(rows, FLOOR)
    return {i: v for i, v in enumerate(found) if v.met is not None}


def test_nothing_measured_is_neither_met_nor_missed():
    assert told([]) == {}
    assert told([row({"mpich": 1.0}, 0.5, buffers="cold")]) == {}


def test_small_symmetric_calls():
    good, bad = row({"mpich": 1.0}, 0.5, nbytes=64), row({"mpich": 1.0}, 0.84, "alltoall", 64)
    assert told([good])[0].met and told([good])[0].found == "mean 0.50; 1 of 1 points"
    verdict = told([good, bad])[0]
    assert not verdict.met and [m.point.collective for m in verdict.missed] == ["alltoall"]
    assert verdict.missed[0].factor == pytest.approx(1.05)
    middling = [row({"mpich": 1.0}, 0.75, nbytes=n) for n in (64, 512)]
    assert told(middling)[0].missed == [] and not told(middling)[0].met  # by the mean
    lacking = row({"mpich": 1.0}, {}, "barrier", 0)
    assert told([good, lacking])[0].found.endswith("; 1 not measured")


def test_eight_bytes_against_the_floor():
    assert told([row({"mpich": 1.0}, 0.08)])[1].met
    assert not told([row({"mpich": 1.0}, 0.09)])[1].met


def test_other_sizes_and_rank_counts():
    own = {"openmpi": 1.0, "impi": 2.0}
    assert told([row(own, 1.03, "scan")])[2].met and not told([row(own, 1.05, "scan")])[2].met
    assert told([row(own, 0.7, nbytes=4096)])[3].met
    assert not told([row(own, 0.8, nbytes=4096)])[3].met
    assert told([row(own, 1.04, "alltoall", 2 << 20)])[4].met
    assert not told([row(own, 0.9, "reduce", 2 << 20)])[5].met
    assert told([row(own, 0.75, ranks=4)])[6].met and not told([row(own, 0.75, ranks=8)])[7].met


def test_waiting_on_mpich():
    fast = row({"mpich": 5000.0, "mpich5": 400.0}, {"mpich": 5.0, "mpich5": 5.0}, ranks=4)
    verdict = told([fast])[8]
    assert not verdict.met
    assert [(m.mpi, m.factor) for m in verdict.missed] == [("mpich5", pytest.approx(1.25))]
    assert verdict.found == "mean 283x; 1 of 2 points"


HEAD = {
    "crestacoll": "0.1.0",
    "date": "2026-01-02T03:04:05+00:00",
    "machine": machine.describe(),
    "launches": 3,
    "mpis": {"openmpi5": "Open MPI v5.0.11", "mpich": "MPICH 4.0.2"},
    "missing": ["Intel MPI: the server cannot be reached"],
    "floor": FLOOR,
    "notes": ["something"],
}


def sample_rows():
    own = {"openmpi5": 2.0, "mpich": 1.0}
    return [
        row(own, 0.4, "barrier", 0),
        row(own, 0.95),
        row(own, 0.5, nbytes=4096),
        row(own, 3.0, "bcast", 4096, root="fixed"),
        row(own, {"openmpi5": 0.25, "mpich": 0.5}, "bcast", 8, ranks=4),
        row(own, 0.6, buffers="cold"),
    ]


def test_the_page():
    text = page.page(HEAD, sample_rows())
    lines = text.splitlines()
    assert "| barrier | 0.40 |  |" in lines
    assert "| allreduce | **0.95** | 0.50 |" in lines
    assert "| bcast | **3.00** |" in lines and "| bcast | 0.25 |" in lines
    assert "* not measured: Intel MPI: the server cannot be reached" in lines
    assert "| 2 ranks, one after the other, cold buffers | 0.60 |  |" in lines
    assert "| MPICH 4.0.2 |  | 0.5 |" in lines
    assert "bcast, root 0: 4K (3.00)" in text and "* something" in lines
    assert "in **0.06 us**" in text and "\n\n\n" not in text


def test_a_page_of_next_to_nothing():
    empty = HEAD | {"floor": {"exchange": None, "copy": {}}, "notes": [], "missing": []}
    text = page.page(empty, [])
    assert text.count("not measured | - |") == 9 and "floor" not in text.split("## Targets")[0]


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

    def numbers(self):
        return [1, 2]


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    build, ran = FakeBuild(tmp_path), []
    jobs = launches.all_jobs([build], series.QUICK, 2, tmp_path / "results")
    broken = {"four": 1}

    def run(build, plan, limit):
        name = next(s.name for s in series.QUICK if s.ranks == plan.ranks and plan.root == s.root)
        ran.append(name)
        if broken.pop(name, 0):
            raise launches.Problem("broke off")
        return benchjob.Result({"mpi_library": "x"}, [record()], [], {})

    monkeypatch.setattr(benchjob, "run", run)
    said = []
    launches.run(jobs, 100, lambda job, what, *_: said.append(what), FakeSpeeds(1))
    assert len(ran) == 8 and [s for s in said if "FAILED" in s] == ["FAILED: broke off"]
    launches.run(jobs, 100, lambda *_: None, FakeSpeeds(1))
    assert ran[8:] == ["four"] and len(launches.results(jobs, 1)) == 8
    (tmp_path / "crestacoll-bench").write_text("another build")
    assert launches.results(jobs, 1) == []


def test_only_what_was_measured_at_one_speed_is_compared(tmp_path, monkeypatch):
    build = FakeBuild(tmp_path)
    jobs = launches.all_jobs([build], series.QUICK, 1, tmp_path / "results")
    result = benchjob.Result({"mpi_library": "x"}, [record()], [], {})
    monkeypatch.setattr(benchjob, "run", lambda *_, **__: result)
    said = []
    changing = FakeSpeeds(1, 1, 1, 2, 2, 2, 1)  # the second job: from 1 to 2, then again at 2
    launches.run(jobs, 100, lambda job, what, *_: said.append((job.speed, what)), changing)
    assert [speed for speed, what in said if what == launches.CHANGED] == [1]
    assert [len(launches.results(jobs, k)) for k in (1, 2)] == [3, 1]
    assert launches.most_measured(jobs, changing) == 1


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
    assert list(again.numbers()) == [1, 2] and again.match(0.2) == 2 and again.match(2.0) == 3
    assert table.floor_of(again.floors(1))["exchange"] == pytest.approx(0.055)


def test_time_is_shared_by_what_jobs_take(tmp_path):
    mpich = FakeBuild(tmp_path)
    mpich.name = "mpich5"
    jobs = launches.all_jobs([FakeBuild(tmp_path), mpich], series.FULL, 1, tmp_path)
    total = sum(launches.share(job, 1000, jobs) + launches.LAUNCH for job in jobs)
    assert total == pytest.approx(1000)
    by_mpi = [launches.share(j, 1000, jobs) for j in jobs if j.series.name == "eight"]
    assert by_mpi[1] > 5 * by_mpi[0]
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


def test_drawn_anew_from_its_files(crestacoll, tmp_path):
    (tmp_path / "performance.json").write_text(json.dumps(HEAD))
    table.write_csv(sample_rows(), FLOOR, tmp_path / "performance.csv")
    ran = crestacoll("peers", "--steps", "draw", "--to", tmp_path, "--json")
    assert ran.returncode == 0, ran.stderr
    data = json.loads(ran.stdout)
    assert schemas.problems("peers", data) == [] and len(data["rows"]) == len(sample_rows())
    assert data["rows"][1]["ratio"] == 0.95 and data["rows"][1]["point"]["bytes"] == 8
    assert [t["met"] for t in data["targets"][:2]] == [False, False]
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


def test_skew(crestacoll, build):
    words = "bench bcast,barrier --impl nonblock --sizes 8 --samples 4 --budget 10 --skew".split()
    assert crestacoll(*words, "30", "--mpi", build.name).returncode == 2
    words += ["30", "--timing", "synchronised", "--mpi", build.name]
    data = json.loads(crestacoll(*words, "--json").stdout)
    assert data["verified"] and {r["skew_us"] for r in data["records"]} == {30}
    assert "synchronised with a skew of 30 us" in crestacoll(*words).stdout
