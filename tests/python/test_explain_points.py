# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll explain FILE`: which rule won, what else was measured, the schedule. No launches:
files as commands write them.
"""

import json

import pytest
import report_data
from crestacoll_tools import schemas
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.explain import explanation
from crestacoll_tools.race.racestats import Difference
from crestacoll_tools.rules import points
from crestacoll_tools.rules.points import Point, parse_point, parse_rule
from crestacoll_tools.tune import state

pytestmark = pytest.mark.by_turns


@pytest.fixture
def crestacoll(in_process):
    """It only reads files."""
    return in_process


@pytest.fixture
def files(tmp_path):
    """A file of each kind in the folder of the test."""
    assert schemas.problems("explore", report_data.explored()) == []
    made = {"p": report_data.profile(), "e": report_data.explored(), "t": report_data.TUNING}
    for name, data in made.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    return tmp_path


@pytest.mark.parametrize(
    "text, point",
    [
        ("allreduce", Point("allreduce")),
        ("allreduce 8", Point("allreduce", 8, 8)),
        ("Allreduce 8 bytes 4 ranks comm world", Point("allreduce", 8, 8, 4, "world")),
        ("allreduce 4 ranks 4K bytes", Point("allreduce", 4096, 4096, 4)),
        ("alltoall on my row", Point("alltoall", communicator="my row")),
        ("alltoall[4K-inf](4)@row", Point("alltoall", 4096, None, 4, "row")),
        ("alltoall[8]", Point("alltoall", 8, 8)),
    ],
)
def test_points_as_people_write_them(text, point):
    assert parse_point(text, ["allreduce", "alltoall"]) == point
    assert parse_point(text, None) == point


@pytest.mark.parametrize(
    "text", ["", "8 bytes", "nonsense 8", "allreduce x", "allreduce[8", "allreduce two ranks"]
)
def test_points_that_are_none(text):
    with pytest.raises(Problem, match="such as 'allreduce 8 bytes 4 ranks") as e:
        parse_point(text, ["allreduce"])
    assert e.value.exit_code == 2


@pytest.mark.parametrize(
    "rule, point, wins",
    [
        ("*=shm", Point("bcast"), True),
        ("bcast=shm", Point("allreduce"), False),
        ("bcast[8-15]=shm", Point("bcast", 8, 15), True),
        ("bcast[8-15]=shm", Point("bcast", 16, 16), False),
        ("bcast[1K-inf]=shm", Point("bcast", 4096, None), True),
        ("bcast(2-4)=shm", Point("bcast", ranks=5), False),
        ("bcast@row*=shm", Point("bcast", communicator="row 1"), True),
        ("bcast@row*=shm", Point("bcast", communicator="a row"), False),
        ("bcast@MPI_COMM_WORLD=shm", Point("bcast", communicator="world"), True),
        ("bcast@a=b", Point("bcast", communicator="*"), False),
        ("*[0-4K]=shm", Point("alltoallv"), False),
        ("*[0-inf]=shm", Point("alltoallv"), True),
    ],
)
def test_rules_match_as_in_the_library(rule, point, wins):
    assert points.matches(parse_rule(rule), point) == wins


def test_conditions_in_braces():
    """What a point does not know is taken to be so, except a type where there is none."""
    rule = parse_rule("*[8-inf](2){nodes=2-inf & ranks_per_node=4&type=floating}@x=p2p:ring")
    assert rule["nodes"] == [2, "inf"] and rule["ranks_per_node"] == [4, 4]
    assert (rule["type"], rule["communicator"]) == ("floating", "x")
    assert rule["implementation"] == "p2p:ring"
    assert points.matches(rule, Point("allreduce", 8, 8, 2, "x"))
    assert not points.matches(rule, Point("bcast", 8, 8, 2, "x"))
    assert points.implementation_at(["bcast{nodes=1}=shm"], Point("bcast")) == "shm"



def test_what_a_profile_recorded(files):
    entry, others = explanation.at_point(files / "p.json", Point("allreduce", 8, 8, 4, "world"))
    assert entry["implementation"] == "p2p:recursive_doubling" and others == 0
    assert entry["decided"] == "CRESTA_IMPL: allreduce=p2p:recursive_doubling"
    assert entry["share"] == pytest.approx(2 / 15) and entry["waiting"] == pytest.approx(0.9)
    entry, others = explanation.at_point(files / "p.json", Point("alltoall"))
    assert others == 2 and entry["point"].communicator == "row"
    listed = {e["point"].collective: e["decided"] for e in explanation.explained(files / "p.json")}
    assert listed["barrier"] == "no rule: the MPI's own"
    assert listed["allgather"].startswith("a call that only starts a collective")


def test_profiles_without_rules(profile_data, tmp_path):
    (tmp_path / "p.json").write_text(json.dumps(profile_data))
    entry, _ = explanation.at_point(tmp_path / "p.json", Point("alltoall"))
    assert entry["decided"] == "not recorded"


def test_what_an_exploration_measured(files):
    entry, _ = explanation.at_point(files / "e.json", Point("allreduce", 8, 8))
    assert entry["implementation"] == "shm" and entry["remarks"][0].startswith("sums may differ")
    rows = {(r["race"], r["implementation"]): r for r in entry["measured"]}
    alone, together = rows["rule by rule", "p2p"], rows["models", "p2p"]
    assert alone["against_choice"] == pytest.approx(0.84 / 0.8 - 1) and not alone["others"]
    assert together["against_choice"] == pytest.approx(0.96 / 0.8 - 1) and together["others"]
    assert rows["models", "shm"]["chosen"] and rows["models", "shm"]["against_choice"] == 0


def test_rules_that_are_not_proved_are_not_used(files):
    bound = {"margin": 0.05, "of": "step", "gain": 0.01, "candidates": 4, "open": []}
    bound["more_s"] = None
    data = report_data.explored() | {"verdict": "not-faster", "bound": bound}
    (files / "e.json").write_text(json.dumps(data))
    entry, _ = explanation.at_point(files / "e.json", Point("allreduce"))
    assert entry["implementation"] == "mpi" and "keep the MPI's own" in entry["remarks"][0]
    assert len(entry["measured"]) == 4


def test_which_rule_of_a_tuning_file_wins(files):
    entry, _ = explanation.at_point(files / "t.json", Point("alltoall", 8192, 8192, 4, "row 3"))
    assert entry["implementation"] == "p2p:bruck?k=3"
    assert "rule 1 of" in entry["decided"] and entry["behind"] == ["*=nonblock", "alltoall=shm"]
    (mpi,) = [r for r in entry["measured"] if not r["chosen"]]
    assert mpi["implementation"] == "mpi" and mpi["against_choice"] == pytest.approx(0.25)
    entry, _ = explanation.at_point(files / "t.json", Point("alltoall", 8, 8, 4))
    assert entry["implementation"] == "nonblock" and "written by hand" in entry["remarks"]
    last = explanation.explained(files / "t.json")[2]
    assert last["implementation"] == "nonblock"
    assert last["decided"] == "*=nonblock: rule 3 never wins"


def test_what_a_bench_measured(files, crestacoll):
    """`bench --json=FILE`."""
    data = report_data.bench()
    data["records"][-1]["verified"] = False  # 256K of p2p:ring
    (files / "b.json").write_text(json.dumps(data))
    assert len(explanation.explained(files / "b.json")) == len(data["records"]) / 3
    entry, others = explanation.at_point(files / "b.json", Point("alltoall", 1 << 18, 1 << 18, 4))
    assert (entry["implementation"], others) == ("shm", 0)
    rows = {r["implementation"]: r for r in entry["measured"]}
    assert rows["shm"]["chosen"] and rows["shm"]["against_mpi"] == pytest.approx(-0.4)
    assert rows["mpi"]["against_choice"] == pytest.approx(1 / 0.6 - 1)
    assert rows["p2p:ring"]["failed"] == "gives a wrong result"
    shown = crestacoll("explain", "b.json", "--point", "alltoall 256K bytes 4 ranks").stdout
    assert "call against the MPI" in shown and "gives a wrong result" in shown
    assert "least median of 2 implementations, openmpi" in crestacoll("explain", "b.json").stdout


def difference(trimmed, half):
    return Difference(trimmed, trimmed - half, trimmed + half, trimmed, True, 40).as_dict()


def test_what_a_tuning_measured(files, crestacoll):
    """The folder of `tune`, and what `tune --json=FILE` writes."""
    options = {"collectives": ["barrier", "bcast"], "ranks": [2], "sizes": [8, 512]}
    made = state.new(files / "tuned", options | {"native": False})
    found = {"shm": difference(-0.4, 0.1), "p2p": difference(0.2, 0.1)}
    cell = {"bytes": 8, "found": found, "candidate": "shm", "arms": ["mpi", "shm", "p2p"]}
    unproved = cell | {"bytes": 512, "proof": difference(-0.01, 0.1)}
    cells = [cell | {"proof": difference(-0.3, 0.1)}, unproved]
    made.points[1] |= {"done": True, "cells": cells}
    made.save()
    (files / "t2.json").write_text(json.dumps(made.data | {"rules": [], "file": None}))
    for name in "tuned", "t2.json":
        barrier, small, large = explanation.explained(files / name)
        assert barrier["point"] == Point("barrier", None, None, 2)
        assert "not measured yet" in barrier["decided"]
        assert (small["implementation"], large["implementation"]) == ("shm", "mpi")
        assert large["decided"].endswith("shm was ahead, and this was not proved")
    rows = {(r["race"], r["implementation"]): r for r in small["measured"]}
    assert rows["selection", "p2p"]["against_choice"] == pytest.approx(1.2 / 0.6 - 1)
    assert rows["proof", "shm"]["against_mpi"] == -0.3 and rows["proof", "shm"]["chosen"]
    shown = crestacoll("explain", "tuned", "--point", "bcast 8 bytes 2 ranks").stdout
    assert "proved faster than the MPI's own" in shown and "call against the MPI" in shown


def test_the_command(files, crestacoll, build):
    asked = ("--point", "alltoall 8K bytes 4 ranks comm row", "--mpi", build.name)
    shown = crestacoll("explain", "t.json", *asked, COLUMNS="200")
    assert shown.returncode == 0, shown.stderr
    for said in (
        "alltoall of 8K bytes, 4 ranks, communicator row",
        "decided by      rule 1 of t.json: alltoall[4K-inf](2-64)@row*=p2p:bruck?k=3",
        "earned: a step takes 20.0 % less time (95 % interval 10.0 to 30.0 %)",
        "behind it       *=nonblock (an earlier rule wins)",
        "25.0 %",
        "p2p:bruck?k=3: blocks hop",
        "messages sent",
        "p2p:pairwise",
    ):
        assert said in shown.stdout, said
    data = json.loads(crestacoll("explain", "t.json", *asked, "--schedule", "1", "--json").stdout)
    (algorithm,) = data["schedules"]["runs"]["algorithms"]
    assert algorithm["rank"]["rank"] == 1 and algorithm["messages"] > 0
    assert data["points"][0]["point"]["bytes"] == [8192, 8192]


def test_p2p_alone_shows_the_algorithm_that_it_chooses(files, crestacoll, build):
    data = report_data.TUNING | {"rules": [{"collective": "alltoall", "implementation": "p2p"}]}
    (files / "t.json").write_text(json.dumps(data))
    for size, name in ((8, "bruck"), (1024, "linear"), (1 << 20, "pairwise")):
        asked = ("--point", f"alltoall {size} bytes 5 ranks", "--mpi", build.name, "--json")
        found = json.loads(crestacoll("explain", "t.json", *asked).stdout)
        assert found["schedules"]["runs"]["algorithms"][0]["name"] == name


def test_the_list(files, crestacoll):
    shown = crestacoll("explain", "p.json", COLUMNS="200").stdout
    assert "CRESTA_IMPL: allreduce=p2p:recursive_doubling" in shown and "\x1b" not in shown
    assert "13.3 %" in shown and "MPI_COMM_WORLD" in shown


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["p.json", "--point", "bcast 8 bytes"], 125, "no calls of bcast of 8 bytes"),
        (["p.json", "-n", "4"], 2, "--ranks goes with a COLLECTIVE"),
        (["p.json", "--schedule", "0"], 2, "--schedule needs --point"),
        (["alltoall", "--point", "alltoall"], 2, "--point goes with a FILE"),
        (["p.json", "--point", "oops"], 2, "no collective in front"),
        (["o.json"], 125, "o.json has no points to explain: explain reads profiles,"),
        (["b.json", "--point", "bcast 9 bytes"], 125, "no calls of bcast of 9 bytes"),
        (["broken"], 125, "broken is not a state of `crestacoll tune`"),
        (["no.json"], 2, "there is no file no.json"),
    ],
)
def test_mistakes(words, code, said, files, crestacoll, build):
    (files / "b.json").write_text(json.dumps(report_data.bench()))
    (files / "o.json").write_text(json.dumps(report_data.overlap()))
    (files / "broken").mkdir()
    broken = {"schema": state.State.SCHEMA, "points": [{}], "options": {}}
    (files / "broken" / "state.json").write_text(json.dumps(broken))
    (files / "alltoall").write_text("a file that has the name of a collective")
    ran = crestacoll("explain", *words)
    assert (ran.returncode, said in ran.stderr) == (code, True), ran.stderr
