# SPDX-License-Identifier: BSD-3-Clause
"""The profile file of programs that do unusual things."""

import json
import os
import sys

import pytest
from crestacoll_tools.profile import profiles
from library_runs import ROOT, each_build, good, profiled, run

sys.path.insert(0, str(ROOT / "tools"))
from waiting_truth import by_shim  # noqa: E402

pytestmark = [each_build, pytest.mark.by_turns]


def test_spawned_worlds_write_their_own(build, tmp_path):
    """The children disconnect from their parents before they end."""
    done = run(build, "spawn", ranks=1, env={"CRESTA_PROFILE": str(tmp_path / "p.json")})
    if done.returncode == 77:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stderr
    ranks = {path.name: json.loads(path.read_text())["ranks"] for path in tmp_path.iterdir()}
    assert ranks.pop("p.json") == 1
    assert [name.startswith("p.json.spawned-") for name in ranks] == [True]
    assert list(ranks.values()) == [2]
    for path in tmp_path.iterdir():
        check_timeline(profiles.load(path))


def check_timeline(data):
    """It has the time of all records, once: by bin, by collective, by rank."""
    line = data["timeline"]
    total = profiles.total_us(data)
    by_collective = sum(sum(bins) for bins in line["collectives_us"].values())
    by_row = sum(row["ranks"] * sum(row["busy_us"]) for row in line["rows"]) / data["ranks"]
    for found in (sum(line["busy_us"]["mean"]), by_collective, by_row):
        assert found == pytest.approx(total, rel=0.01)
    assert set(line["collectives_us"]) <= {r["collective"] for r in data["records"]}
    assert [row["rank"] for row in line["rows"]] == list(range(data["ranks"]))


@pytest.mark.parametrize(
    "name",
    [
        b"Zeile \xc3\xa4\xc3\xb6\xc3\xbc \xe2\x82\xac \xf0\x9d\x84\x9e",
        b"latin \xe4\xf6\xfc \xff \x80",
        b"cut \xf0\x9d\x84",
        b"too long \xc0\xaf, \xe0\x80\xaf, a half \xed\xa0\x80, \xf4\x90\x80\x80",
        b"\"quoted\" \\ back\nline\x7f\x01",
        b"sixty characters, no less, which is what MPIs take in a name",
    ],
)
def test_names_of_any_bytes(build, tmp_path, name):
    """They come out of the file as Python reads bytes that may be no text."""
    step = f"name={os.fsdecode(name)}"
    records = profiled(build, tmp_path, "script", "dup", step, "allreduce=8")
    assert os.fsencode(records[0]["communicator"]) == name


def test_what_rank_0_has_so_far(build, tmp_path):
    """Written in a call, before the program ends: the first is worth a snapshot."""
    path = tmp_path / "p.json"
    env = {"CRESTA_PROFILE": str(path), "CRESTA_PROFILE_EVERY": "3600"}
    good(run(build, "script", "allreduce=8", "allreduce=8", env=env))
    snapshot = profiles.load_snapshot(f"{path}.so-far")
    assert snapshot["job_ranks"] == 2 and snapshot["ranks"] == 1
    (record,) = snapshot["records"]
    assert (record["collective"], record["calls"], record["ranks"]) == ("allreduce", 1, 1)
    assert record["time_us"]["mean"] > 0
    assert json.loads(path.read_text())["records"][0]["calls"] == 2
    assert not (tmp_path / "p.json.so-far.new").exists()


def test_communicators_of_one_name_are_kept_apart(build, tmp_path):
    """Odd and even ranks share a record, but not their members."""
    path = tmp_path / "p.json"
    steps = ["allreduce=16", "split", "name=half", "allreduce=8", "iallreduce=8", "self", "bcast=8"]
    good(run(build, "script", *steps, ranks=4, env={"CRESTA_PROFILE": str(path)}))
    found = profiles.load(path)["communicators"]
    assert [(c["communicator"], c["processes"], c["members"], c["bytes"]) for c in found] == [
        ("MPI_COMM_WORLD", 4, [[0, 1, 4]], {"allreduce": 16}),
        ("half", 2, [[0, 2, 2]], {"allreduce": 16}),
        ("half", 2, [[1, 2, 2]], {"allreduce": 16}),
    ]


def test_who_waits(build, tmp_path):
    """Every call is sampled while there is room; on a communicator of one rank nobody waits."""
    steps = ["allreduce=8"] * 3 + ["iallreduce=8", "self", "bcast=8"]
    steps += ["world", "split", "barrier=0", "barrier=0"]
    for record in profiled(build, tmp_path, "script", *steps, ranks=4):
        wait, time = record["wait_us"], record["time_us"]
        if record["mode"] != "blocking":
            assert wait is None
            continue
        assert wait["samples"] == record["calls"] and wait["clock_error"] == 0
        assert wait["low"] == wait["mean"] == wait["high"], "nothing is estimated"
        assert wait["mean"] <= time["mean"] and wait["max"] <= time["max"]
        assert wait["max"] == 0 or record["processes"] > 1


@pytest.mark.parametrize("rate", ["0", "1000000000"])
def test_few_samples_say_nothing(build, tmp_path, rate):
    env = {"CRESTA_PROFILE_WAIT": rate}
    for record in profiled(build, tmp_path, "script", "allreduce=8", "allreduce=8", env=env):
        assert record["wait_us"] is None


@pytest.mark.parametrize("ahead_us, ppm, nodes", [(3e7, 0, "2x2"), (-3e4, 2000, "4x1")])
def test_clocks_that_differ(build, tmp_path, ahead_us, ppm, nodes):
    """What the profile says of the nodes' clocks holds within the errors that it states, whatever
    else runs, and errors are carried on.
    """
    path = tmp_path / "p.json"
    env = {"CRESTA_PROFILE": str(path), "CRESTA_NODES": nodes}
    env["CRESTA_DEBUG"] = f"clock={ahead_us}:{ppm}"
    good(run(build, "script", "allreduce=8", "split", "allreduce=8", ranks=4, env=env))
    data = profiles.load(path)
    clocks = data["clocks"]
    each = 4 // len(clocks)
    assert [c["rank"] for c in clocks] == list(range(0, 4, each))
    assert set(clocks[0].values()) == {0}
    for i, clock in enumerate(clocks[1:], 1):
        assert abs(clock["drift_ppm"] - i * ppm) <= clock["drift_error_ppm"]
        if ppm == 0:
            assert abs(clock["ahead_us"] - i * ahead_us) <= clock["error_us"]
    worst = max(c["error_us"] for c in clocks)
    for record in data["records"]:
        wait = record["wait_us"]
        assert wait["samples"] == 1 and 0 < wait["clock_error"] <= 2 * worst
        assert wait["high"] - wait["mean"] <= wait["clock_error"] + 0.01


def test_late_ranks(build, tmp_path):
    """What ranks wait is what the program's stamps say, and those of a library around each call,
    with clocks that differ, too. Ranks that are held up between two stamps make both differ: they
    come later then, until that does not count.
    """
    calls, late = 20, 1000
    while True:
        asked = [f"{pattern}:{late}" for pattern in ("one", "rotating", "random")]
        wrong = lateness(build, tmp_path, calls, asked)
        if not wrong or late >= 64000:
            break
        late *= 2
    assert not wrong


def lateness(build, tmp_path, calls, asked):
    path, stamps = tmp_path / "p.json", tmp_path / "stamps"
    env = {"CRESTA_PROFILE": str(path), "CRESTA_NODES": "2x1", "CRESTA_DEBUG": "clock=30000:20"}
    both = [build / "lib" / f"lib{name}.so" for name in ("arrival_stamps", "crestacoll-preload")]
    env |= {"LD_PRELOAD": ":".join(map(str, both)), "ARRIVAL_STAMPS": str(stamps)}
    done = good(run(build, "lateness", str(calls), *asked, env=env))
    records = {r["communicator"]: r for r in profiles.load(path)["records"]}
    shim = by_shim(stamps, 2, calls, asked, library=False)
    stamps.unlink()
    wrong = []
    for word, _, waited, _ in (line.split() for line in done.stdout.splitlines() if ":" in line):
        wait = records[word]["wait_us"]
        for truth in (float(waited), shim[word][1]):
            allowed = 0.1 * truth + 0.2 * calls + wait["clock_error"]
            if abs(wait["mean"] - truth) > allowed:
                wrong.append((word, truth, wait))
    assert set(asked) <= set(records)
    return wrong


def test_calls_that_are_not_timed(build, tmp_path):
    """In a loop of nothing but calls some are not timed. All are counted, and the time is what the
    program measures, or less by its own part.
    """
    path, calls = tmp_path / "p.json", 100000
    env = {"CRESTA_PROFILE": str(path)}
    done = good(run(build, "lateness", str(calls), "one:0", ranks=1, env=env, preload=True))
    data = profiles.load(path)
    [record] = [r for r in data["records"] if r["communicator"] == "one:0" and r["calls"] > 1]
    [truth] = [float(line.split()[1]) for line in done.stdout.splitlines() if ":" in line]
    time = record["time_us"]
    assert record["calls"] == calls and record["bytes_total"] == 8 * calls
    assert 0 < time["timed"] < calls
    assert time["mean"] <= truth + time["error"]
    assert f"{time['timed']} of {calls} calls" in profiles.untimed(data)


@pytest.mark.parametrize("impl", ["mpi", "p2p", "shm"])
def test_calls_that_repeat_are_counted(build, tmp_path, impl):
    """Each in its own record, also where one takes the place of another that was remembered, and
    where recording or the choice changes in between.
    """
    steps = [f"set=*={impl}"]
    steps += ["allreduce=8", "sum=8", "isum=8", "allreduce=16", "alltoall=8", "barrier=0"] * 3
    steps += ["allreduce=8"] * 4 + ["alltoall=8"] * 5 + ["gatherv=8"] * 3 + ["bcast=8"] * 4
    steps += ["pcontrol=0"] + ["allreduce=8"] * 7 + ["pcontrol=1"] + ["allreduce=8"] * 2
    steps += ["set=allreduce=nonblock"] + ["allreduce=8"] * 3
    found = {}
    for r in profiled(build, tmp_path, "script", *steps):
        key = r["collective"], r["bytes_min"], r["implementation"].split(":")[0].split("?")[0]
        found[key] = r["calls"], r["bytes_total"]
    assert found == {
        ("allreduce", 8, impl): (15, 240),
        ("allreduce", 16, impl): (3, 96),
        ("allreduce", 8, "nonblock"): (3, 48),
        ("alltoall", 8, impl): (8, 128),
        ("barrier", 0, impl): (3, 0),
        ("gatherv", 8, impl): (3, 48),
        ("bcast", 8, impl): (4, 64),
    }
