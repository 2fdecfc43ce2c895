# SPDX-License-Identifier: BSD-3-Clause
"""tools/never_slower.py: its figures, what it measures again, and one small grid of two launches.
"""

import importlib
import json
import random
import sys

import pytest
from conftest import ROOT
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.bench import benchjob

pytestmark = pytest.mark.by_turns

sys.path.insert(0, str(ROOT / "tools"))
never_slower = importlib.import_module("never_slower")
report = importlib.import_module("never_slower_report")

GRID = "--impl shm -n 2 --collectives bcast,barrier --sizes 8,64 --buffers hot --runs 3".split()


def rounds(n=200, mpi=1.0, control=1.0, candidate=1.0, scatter=0.05, seed=1):
    """Three series with independent noise, and a machine that is slow in some rounds for all."""
    chance = random.Random(seed)
    slow = [chance.choice([0, 0, 0, 5]) for _ in range(n)]
    means = {"mpi": mpi, "control": control, "auto": candidate}
    return {name: [m + s + chance.gauss(0, scatter) for s in slow] for name, m in means.items()}


def line(**more):
    given = report.figures(rounds(**more), "auto")
    return given | {"verified": True}


def test_figures_are_those_of_pairs():
    found = line(candidate=1.3)
    assert found["excess_us"] == pytest.approx(0.3, abs=0.03)
    assert found["mpi_p90_us"] > 5 > found["mpi_median_us"]
    assert 0 < found["noise_us"] < 0.03


def test_noise_is_of_the_median_of_as_many_rounds():
    few, many = (line(n=n)["noise_us"] for n in (25, 2500))
    assert few > 3 * many


def test_noise_holds_what_differs_all_through_the_job():
    assert line(control=1.2)["noise_us"] == pytest.approx(0.2, abs=0.03)
    assert line(control=0.8)["noise_us"] == pytest.approx(0.2, abs=0.03)


def test_noise_grows_when_neighbours_are_alike():
    chance = random.Random(3)
    apart = [chance.gauss(0, 1) for _ in range(400)]
    together = [x for x in apart[:20] for _ in range(20)]
    alone = report.noise(apart, [0.0] * 400)
    assert report.noise(together, [0.0] * 400) > 1.5 * alone


def test_a_single_round_is_enough_for_figures():
    assert report.figures({"mpi": [2], "control": [3], "auto": [2]}, "auto")["noise_us"] == 1


@pytest.mark.parametrize(
    "mpi, excess, noise, short",
    [
        (0.2, 0.039, 0.0, False),  # 40 ns of a short call
        (0.2, 0.041, 0.0, True),
        (0.2, 0.041, 0.002, False),
        (100, 2.9, 0.0, False),  # 3 % of a long one
        (100, 3.1, 0.0, True),
        (100, 3.1, 0.2, False),
    ],
)
def test_what_falls_short(mpi, excess, noise, short):
    found = {"mpi_median_us": mpi, "excess_us": excess, "noise_us": noise, "verified": True}
    assert report.falls_short([found]) is short


def test_the_median_of_the_runs_counts_and_a_wrong_result_always():
    good, bad = line(), line(candidate=2)
    assert not report.falls_short([bad, good, good])
    assert report.falls_short([bad, good, bad])
    assert report.falls_short([good, good | {"verified": False}, good])


def test_the_gain_is_of_points_not_of_runs():
    def run(collective, ratio):
        where = dict.fromkeys(report.POINT, 1) | {"collective": collective}
        return where | {"mpi_median_us": 2.0, "candidate_median_us": 2.0 * ratio}

    lines = [run("bcast", ratio) for ratio in (0.5, 0.5, 50)] + [run("scan", 2)]
    assert report.geometric_mean(lines) == pytest.approx(1)
    assert report.geometric_mean([]) is None


def test_speeds_are_told_apart():
    lines = [{"exchange_us": us} for us in ([0.05, 0.06], [0.15, 0.14], [0.06, 0.06], [None, None])]
    found = [x["speed"] for x in report.with_speeds(lines)]
    assert found[0] == found[2] and len(set(found)) == 3


class Fake:
    """In place of the jobs: remembers what they were asked for."""

    def __init__(self, monkeypatch, lacking=()):
        self.plans, self.lacking = [], set(lacking)
        monkeypatch.setattr(never_slower, "exchange", lambda build: 0.05)
        monkeypatch.setattr(never_slower, "start", self.start)
        monkeypatch.setattr(never_slower.machine, "LOOK_S", 0)

    def start(self, job, plan, variables=None):
        if variables:
            records = [{"communicator": "bench shm", "implementation": "shm", "collective": "bcast",
                        "bytes_min": 8, "bytes_max": 8}]
            with open(variables["CRESTA_PROFILE"], "w") as file:
                json.dump({"records": records}, file)
            return None
        self.plans.append((job.run, plan.collectives, plan.sizes))
        cells = [(c, b) for c in plan.collectives for b in ([0] if c == "barrier" else plan.sizes)]
        us = {"mpi": [1.0] * 9, "control": [1.0] * 9, "shm": [0.5] * 9}
        lines = [{"collective": c, "bytes": b, "us": us} for c, b in cells]
        return benchjob.Result(rounds=[x for x in lines if x["collective"] not in self.lacking])


def words(build, path):
    return [*GRID, "--mpi", build.name, "--output", str(path)]


def test_what_is_in_the_file_is_not_measured_again(build, tmp_path, monkeypatch, capsys):
    path, fake = tmp_path / "grid.jsonl", Fake(monkeypatch)
    assert never_slower.main(words(build, path)) == 0
    assert fake.plans == [(run, ["bcast", "barrier"], [8, 64]) for run in (1, 2, 3)]
    assert "0 of 3 points fall short; 0 results are missing" in capsys.readouterr().out
    whole = path.read_text().splitlines()
    kept = [x for x in whole if '"run": 2' not in x or "barrier" in x]
    path.write_text("\n".join([*kept, whole[0][:50]]))  # the last one was cut off by a kill
    assert never_slower.main(words(build, path)) == 0
    assert fake.plans[3:] == [(2, ["bcast"], [8, 64])]
    assert never_slower.main(words(build, path)) == 0
    assert len(fake.plans) == 4
    assert never_slower.main([*words(build, path), "--runs", "4", "--report"]) == 1
    assert len(fake.plans) == 4
    points = [json.loads(x) for x in path.read_text().splitlines() if x != whole[0][:50]]
    ran = {(x["collective"], x["bytes"]): x["ran"] for x in points if x["type"] == "point"}
    assert ran == {("barrier", 0): None, ("bcast", 8): "shm", ("bcast", 64): None}


def test_results_of_another_build_are_measured_again(build, tmp_path, monkeypatch):
    path, fake = tmp_path / "grid.jsonl", Fake(monkeypatch)
    never_slower.main(words(build, path))
    monkeypatch.setattr(never_slower.launches, "digest", lambda build: "another")
    assert never_slower.main(words(build, path)) == 0
    assert len(fake.plans) == 6


def test_what_cannot_be_measured_is_missing(build, tmp_path, monkeypatch, capsys):
    path, fake = tmp_path / "grid.jsonl", Fake(monkeypatch, lacking=["barrier"])
    assert never_slower.main(words(build, path)) == 1
    assert fake.plans[:2] == [(1, ["bcast", "barrier"], [8, 64]), (1, ["barrier"], [0])]
    assert "3 results are missing" in capsys.readouterr().out


def test_a_job_that_breaks_off_ends_its_points_only(build, tmp_path, monkeypatch, capsys):
    path, fake = tmp_path / "grid.jsonl", Fake(monkeypatch)
    good = fake.start

    def start(job, plan, variables=None):
        if "barrier" in plan.collectives and variables is None:
            raise Problem("it broke off")
        return good(job, plan, variables)

    monkeypatch.setattr(never_slower, "start", start)
    assert never_slower.main(words(build, path)) == 1
    assert fake.plans == [(run, ["bcast"], [8, 64]) for run in (1, 2, 3)]
    told = capsys.readouterr()
    assert "it broke off" in told.err and "3 results are missing" in told.out


def test_a_candidate_that_is_slower_is_listed(build, tmp_path, monkeypatch, capsys):
    fake = Fake(monkeypatch)
    good = fake.start

    def start(*given, **more):
        found = good(*given, **more)
        for x in found.rounds if found else []:
            x["us"] = x["us"] | {"shm": [1.2 if x["bytes"] == 64 else 1.0] * 9}
        return found

    monkeypatch.setattr(never_slower, "start", start)
    assert never_slower.main(words(build, tmp_path / "grid.jsonl")) == 1
    told = capsys.readouterr().out
    assert f"shm bcast 64, 2 ranks, {build.name}, hot" in told and "shortfall +0.160" in told
    assert "1 of 3 points fall short" in told


@pytest.mark.parametrize("build", ["openmpi"], indirect=True)
def test_two_launches(build, tmp_path, monkeypatch):
    """Rules by a name, data written again, and what really ran, from the profile."""
    monkeypatch.setattr(never_slower, "exchange", lambda build: 0.05)
    monkeypatch.setattr(never_slower, "MOST", 5)
    path = tmp_path / "grid.jsonl"
    given = "--impl nonblock --rules some=bcast[0-8]=shm,barrier=nonblock -n 2 --runs 1".split()
    given += "--collectives bcast,barrier,scatter --sizes 8,16 --buffers written".split()
    given += ["--seconds", "5", "--mpi", build.name, "--output", str(path)]
    assert never_slower.main(given) in (0, 1)
    points = [x for x in map(json.loads, path.read_text().splitlines()) if x["type"] == "point"]
    assert all(x["verified"] and x["buffers"] == "written" and x["rounds"] for x in points)
    ran = {(x["candidate"], x["collective"], x["bytes"]): x["ran"] for x in points}
    assert len(points) == len(ran) == 10
    assert [ran["some", "bcast", b] for b in (8, 16)] == ["shm", "mpi"]
    assert ran["some", "barrier", 0] == ran["nonblock", "barrier", 0] == "nonblock"


@pytest.mark.parametrize(
    "given",
    [["--impl", "mpi"], ["--rules", "mpi=*=shm"], ["--rules", "words"], ["--sizes", "x"]],
)
def test_wrong_usage(given, capsys):
    with pytest.raises(SystemExit) as ended:
        never_slower.main(given)
    assert ended.value.code == 2


def test_unknown_names(build, tmp_path, capsys):
    given = ["--mpi", build.name, "--collectives", "nothing", "--output", str(tmp_path / "x")]
    assert never_slower.main(given) == 2
    assert "no collective 'nothing'" in capsys.readouterr().err
