# SPDX-License-Identifier: BSD-3-Clause
"""Machine files from measured times: made-up measurements of a known machine."""

import json
import random

import pytest
from click.testing import CliRunner
from crestacoll_tools import cli, schemas
from crestacoll_tools.builds import builds
from crestacoll_tools.simulate import calibrate, measured

MACHINE = {
    "levels": {
        "node": {"latency": 2e-7, "send": 4e-7, "receive": 3e-7, "send_byte": 2e-10,
                 "receive_byte": 1e-10},
        "network": {"latency": 3e-5, "send": 4e-6, "receive": 6e-6, "gap": 2e-6, "byte": 8e-9},
    },
    "copy": {"byte": 1e-10},
    "reduce": {"byte": 2e-10},
}  # fmt: skip
HEAD = {"schema": "crestacoll-machine-1", "name": "made up", "source": "for tests"}
ALGORITHMS = {
    "allgather": ["p2p:ring", "p2p:bruck", "hier:leaders"],
    "allreduce": ["p2p:recursive_doubling", "p2p:rabenseifner", "hier:lanes"],
    "bcast": ["p2p:binomial", "hier:pipeline"],
    "alltoall": ["p2p:pairwise", "p2p:linear"],
}


@pytest.fixture(scope="module", name="built")
def find_build():
    found = builds.all_builds()
    return found[0] if found else pytest.skip("nothing is built")


def record(point):
    us = 1e6 * point.seconds
    return {
        "mpi": "made-up", "collective": point.collective, "implementation": point.implementation,
        "bytes": point.bytes, "ranks": point.ranks, "timing": "back_to_back", "buffers": "hot",
        "calls": "blocking", "root": "rotate" if point.rotates else "none", "skew_us": 0,
        "oversubscribed": False, "verified": True, "batch": 1, "samples": 30, "samples_asked": 30,
        "samples_dropped": 0, "median_us": us, "p10_us": us, "p90_us": us, "min_us": us,
        "ratio_to_mpi": 1.0, "ratio_p10": 1.0, "ratio_p90": 1.0,
    }  # fmt: skip


def write(path, build, collectives, sizes):
    """A result of bench, as the known machine gives it within 3 %."""
    chance = random.Random(7)
    records = []
    for collective in collectives:
        for name in ALGORITHMS[collective]:
            for size in sizes:
                point = measured.Point(collective, size, name, 6, 2, collective == "bcast", 1.0)
                time = measured.simulate(build, MACHINE, point) * chance.uniform(0.97, 1.03)
                records.append(record(measured.dataclasses.replace(point, seconds=time)))
    job = {
        "mpi": "made-up", "mpi_library": "none", "ranks": 6, "hosts": 2, "cores": 3,
        "cores_each": 1, "oversubscribed": False, "clock": "none", "command": [], "seconds": 1,
    }  # fmt: skip
    machine = {"cpu": "none", "cores": 6, "allowed_cores": 6, "memory_gib": 1, "system": "none"}
    data = {
        "schema": "crestacoll-bench-1", "crestacoll": "0", "date": "2026-01-01T00:00:00+00:00",
        "machine": machine, "verified": True, "jobs": [job], "notes": [], "records": records,
    }  # fmt: skip
    path.write_text(json.dumps(data))
    assert schemas.problems("bench", data) == []
    return str(path)


def test_a_machine_is_found_again(built, tmp_path, monkeypatch):
    """Fitted to small and large messages of some collectives, right for others in between, after a
    few rounds.
    """
    monkeypatch.setattr(calibrate, "ROUNDS", 4)
    some = write(tmp_path / "some.json", built, ["allgather", "allreduce"], [8, 1024, 1 << 17])
    others = write(tmp_path / "others.json", built, ["bcast", "alltoall"], [64, 8192, 1 << 16])
    to = str(tmp_path / "machine.json")
    words = ["simulate", "--calibrate", some, "--check", others, "--output", to]
    shown = CliRunner().invoke(cli.main, words)
    assert shown.exit_code == 0, shown.output
    found = json.loads((tmp_path / "machine.json").read_text())
    assert schemas.problems("machine", found) == []
    assert found["fit"]["points"] == 12 and found["fit"]["median"] < 0.15
    assert found["levels"]["network"]["byte"] == pytest.approx(8e-9, rel=0.15)
    assert f"error {100 * found['fit']['median']:.0f} % in the median" in shown.output
    checked = CliRunner().invoke(
        cli.main, ["simulate", "--machine", to, "--check", others, "--json"]
    )
    assert len(json.loads(checked.output)["points"]) == 12


def test_points_that_were_fitted_do_not_count_as_checked(built, tmp_path):
    some = write(tmp_path / "some.json", built, ["bcast"], [8, 1024])
    shown = CliRunner().invoke(cli.main, ["simulate", "--calibrate", some, "--check", some])
    assert shown.exit_code == 2 and "no point that --calibrate has not seen" in shown.output


@pytest.mark.parametrize(
    "change, why",
    [
        ({"oversubscribed": True}, "more ranks than cores"),
        ({"ranks": 8}, "more ranks than cores"),  # 4 on each of 2 hosts, which share 6 cores
        ({"skew_us": 5}, "ranks began late"),
        ({"verified": False}, "not verified"),
        ({"median_us": 0}, "a time of 0"),
    ],
)
def test_points_that_tell_nothing_are_skipped(built, tmp_path, change, why):
    path = write(tmp_path / "some.json", built, ["bcast"], [8, 1024])
    data = json.loads((tmp_path / "some.json").read_text())
    data["records"][0] |= change
    (tmp_path / "some.json").write_text(json.dumps(data))
    points, skipped = measured.load(path)
    assert len(points) == 3
    assert [(why in text, count) for text, count in skipped.items()] == [(True, 1)]


@pytest.mark.parametrize("change", [{"oversubscribed": True}, {"ranks": 8}])
def test_crowded_takes_points_with_more_ranks_than_cores(built, tmp_path, change):
    path = write(tmp_path / "some.json", built, ["bcast"], [8, 1024])
    data = json.loads((tmp_path / "some.json").read_text())
    data["records"][0] |= change
    (tmp_path / "some.json").write_text(json.dumps(data))
    points, skipped = measured.load(path, crowded=True)
    assert len(points) == 4 and not skipped
    (tmp_path / "m.json").write_text(json.dumps(HEAD | {"levels": MACHINE["levels"]}))
    words = ["simulate", "--machine", str(tmp_path / "m.json"), "--check", path, "--json"]
    shown = CliRunner().invoke(cli.main, [*words, "--crowded"])
    assert shown.exit_code == 0, shown.output
    assert len(json.loads(shown.stdout)["points"]) == 4


def test_points_that_cannot_be_simulated_are_named(built, tmp_path):
    path = write(tmp_path / "some.json", built, ["allreduce"], [64])
    data = json.loads((tmp_path / "some.json").read_text())
    data["records"][0]["implementation"] = "p2p:swing"  # not for 6 ranks
    (tmp_path / "some.json").write_text(json.dumps(data))
    (tmp_path / "m.json").write_text(json.dumps(HEAD | {"levels": MACHINE["levels"]}))
    words = ["simulate", "--machine", str(tmp_path / "m.json"), "--check", path, "--json"]
    shown = CliRunner().invoke(cli.main, words)
    assert shown.exit_code == 0, shown.output
    assert "not compared: allreduce 64 p2p:swing" in shown.stderr
    assert len(json.loads(shown.stdout)["points"]) == 2


def test_a_fit_begins_with_a_machine_file(built, tmp_path, monkeypatch):
    """What that lacks is assumed, and its error is not that of the machine that is found."""
    monkeypatch.setattr(calibrate, "ROUNDS", 1)
    path = write(tmp_path / "some.json", built, ["bcast"], [8, 1024])
    fit = {"median": 0.01, "worst": 0.02, "points": 99}
    start = HEAD | {"levels": MACHINE["levels"], "fit": fit}
    (tmp_path / "m.json").write_text(json.dumps(start))
    words = ["--machine", str(tmp_path / "m.json"), "--output", str(tmp_path / "out.json")]
    shown = CliRunner().invoke(cli.main, ["simulate", "--calibrate", path, *words])
    assert shown.exit_code == 0, shown.output
    found = json.loads((tmp_path / "out.json").read_text())
    assert "fit" not in found and "error unknown" in shown.output
    assert {"copy", "reduce", "round"} <= set(found)


def test_results_without_schedules_are_refused(tmp_path, built):
    path = write(tmp_path / "some.json", built, ["bcast"], [8])
    data = json.loads((tmp_path / "some.json").read_text())
    data["records"] = [r | {"implementation": "shm"} for r in data["records"]]
    (tmp_path / "some.json").write_text(json.dumps(data))
    shown = CliRunner().invoke(cli.main, ["simulate", "--calibrate", path])
    assert shown.exit_code == 125 and "no point that can be simulated" in shown.output
