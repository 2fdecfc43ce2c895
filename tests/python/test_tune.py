# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll tune`: the grid, what becomes a rule, interruptions; one launch at the end."""

import json

import pytest
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.builds import builds
from crestacoll_tools.explore.runs import Interrupted
from crestacoll_tools.race import racestats
from crestacoll_tools.rules import tuning
from crestacoll_tools.tune import grid, measure, rules, state as states, words
from fake_tuning import LIBRARY, FakeJobs, new_state, tune


def cell(size, name=None, trimmed=-0.2, high=-0.1):
    proof = racestats.Difference(trimmed, -0.3, high, trimmed, True, 40).as_dict()
    given = {"bytes": size, "found": {}, "candidate": name, "arms": ["mpi", "p2p"]}
    return given | {"proof": proof if name else None}


def point(cells, collective="bcast", ranks=2):
    return {"collective": collective, "ranks": ranks, "done": True, "cells": cells, "notes": []}


def short_rules(points):
    return [(c, ranks, span[0], span[1]) for c, ranks, span in rules.chains(points)]


@pytest.mark.parametrize(
    "text, counts",
    [("2", [2]), ("4", [2, 4]), ("2,4", [2, 4]), ("6", [2, 4, 6]), ("3,8", [2, 3, 4, 8])],
)
def test_rank_counts(text, counts):
    assert grid.rank_counts(text) == counts


@pytest.mark.parametrize("text", ["", "x", "0", "1", "2,,4", "-2"])
def test_wrong_rank_counts(text):
    with pytest.raises(Problem, match="expected numbers of ranks"):
        grid.rank_counts(text)


def test_collectives():
    assert grid.collectives("all", ["bcast", "scan"], True) == ["bcast"]
    assert grid.collectives("Scan,bcast,scan", ["bcast", "scan"], False) == ["scan", "bcast"]
    with pytest.raises(Problem, match="no collective 'x'; there are: bcast"):
        grid.collectives("x", ["bcast"], False)
    with pytest.raises(Problem, match="keep-rounding"):
        grid.collectives("scan", ["scan"], True)


def test_limits_leave_no_gap_and_do_not_overlap():
    assert rules.limits([8]) == [(8, 8)]
    found = rules.limits([0, 8, 64, 4096])
    assert found[0][0] == 0 and found[-1][1] == 4096
    assert all(b[0] == a[1] + 1 for a, b in zip(found, found[1:]))
    assert all(low <= s <= high for s, (low, high) in zip([0, 8, 64, 4096], found))


def test_neighbouring_sizes_with_one_winner_are_one_range():
    cells = [cell(8, "p2p"), cell(64, "p2p"), cell(512), cell(4096, "p2p"), cell(32768, "shm")]
    assert short_rules([point(cells)]) == [
        ("bcast", [2], "p2p", (8, 181)),
        ("bcast", [2], "p2p", (1449, 11585)),
        ("bcast", [2], "shm", (11586, 32768)),
    ]


def test_what_is_within_the_noise_is_no_rule():
    assert short_rules([point([cell(8, "p2p", trimmed=-0.1, high=0.01)])]) == []
    unsure = cell(8, "p2p")
    unsure["proof"] |= {"agree": False}
    assert short_rules([point([unsure])]) == []


def test_without_a_common_size_one_must_win_at_all_sizes():
    win, other = [cell(8, "p2p"), cell(64, "p2p")], [cell(8, "p2p"), cell(64, "shm")]
    assert short_rules([point(win, "gatherv")]) == [("gatherv", [2], "p2p", None)]
    assert short_rules([point(other, "gatherv")]) == []
    assert short_rules([point([cell(8, "p2p"), cell(64)], "gatherv")]) == []


def test_neighbouring_numbers_of_ranks():
    def same(n):
        return point([cell(8, "p2p"), cell(64)], ranks=n)

    none = point([cell(8), cell(64)], ranks=8)
    assert short_rules([same(2), same(4), none, same(16)]) == [
        ("bcast", [2, 4], "p2p", (8, 22)),
        ("bcast", [16], "p2p", (8, 22)),
    ]


def test_a_rule_has_the_least_gain_of_its_sizes():
    span = ("p2p", (8, 64), [cell(8, "p2p", -0.2), cell(64, "p2p", -0.12)])
    made = rules.rule("scan", [2, 4], span, 1)
    assert made["ranks"] == [2, 4] and made["nodes"] == [1, 1] and made["changes_rounding"]
    assert made["earned"]["gain"] == 0.12 and made["earned"]["blocks"] == 80
    assert [s["gain"] for s in made["earned"]["sizes"]] == [0.2, 0.12]
    data = {"schema": tuning.SCHEMA, "head": tuning.head(LIBRARY), "rules": [made]}
    assert tuning.problems(data) == []


def test_the_best_algorithm_wins_where_it_is_faster(tmp_path):
    def time_of(point, size, arm):
        fast = {"p2p": 8.0, "p2p:chain": 5.0 if size > 100 else 9.0, "nonblock": 11.0}
        return fast.get(arm, 10.0)

    jobs = FakeJobs(time_of)
    found = tune(new_state(tmp_path), jobs)
    assert [(r["bytes"], r["implementation"]) for r in found] == [
        ([8, 181], "p2p"), ([182, 512], "p2p:chain"),
    ]
    assert jobs.asked == [
        ("bcast", 2, (8, 64, 512), ("mpi", "nonblock", "p2p")),
        ("bcast", 2, (8, 64, 512), ("mpi", "p2p", "p2p:tree", "p2p:chain")),
        *2
        * [
            *2 * [("bcast", 2, (8, 64), ("mpi", "p2p"))],
            *2 * [("bcast", 2, (512,), ("mpi", "p2p:chain"))],
        ],
    ]
    earned = found[0]["earned"]  # of two measurements that which gains less
    assert 0.15 < earned["low"] < 0.2 and 0.18 < earned["high"] < 0.25


def test_equal_implementations_earn_nothing(tmp_path):
    """At 60 sizes, with four arms each that are equal to the MPI's own."""
    jobs = FakeJobs(lambda *_: 10.0, noise=0.1)
    assert tune(new_state(tmp_path, sizes=[8 + i for i in range(60)]), jobs) == []


def test_a_gain_that_does_not_last_is_no_rule(tmp_path):
    """Faster in short samples, not in the long ones of the proof."""
    class Fading(FakeJobs):
        def race(self, point, sizes, arms, seconds, batch_us, *tick, **data):
            gain = 0.5 if batch_us == measure.SHORT_US else 1.0
            self.time_of = lambda p, s, a: gain if a == "nonblock" else 1.0
            return super().race(point, sizes, arms, seconds, batch_us, *tick, **data)

    assert tune(new_state(tmp_path), Fading(None)) == []


@pytest.mark.parametrize("slower", ["hot", "written", None])
def test_a_rule_must_gain_with_data_written_again_and_not(tmp_path, slower):
    jobs = FakeJobs(None)
    jobs.time_of = lambda p, s, a: (
        (12.0 if jobs.data == slower and jobs.asked[-1][3] == ("mpi", "nonblock") else 5.0)
        if a == "nonblock"
        else 10.0
    )
    assert len(tune(new_state(tmp_path), jobs)) == (slower is None)


def test_interrupted_and_resumed(tmp_path):
    """What is done stays, and is not measured again."""
    class Stopped(FakeJobs):
        def race(self, point, *rest, **data):
            if point["ranks"] == 4:
                raise Interrupted(2)
            return super().race(point, *rest, **data)

    state = new_state(tmp_path, ranks=(2, 4))
    with pytest.raises(Interrupted):
        tune(state, Stopped(lambda p, s, a: 5.0 if a == "nonblock" else 10.0))
    again = states.resumed(state.folder)
    assert [p["done"] for p in again.points] == [True, False]
    assert len(rules.rules(again)) == 1 and rules.write(again)[0].exists()
    jobs = FakeJobs(lambda p, s, a: 5.0 if a == "nonblock" else 10.0)
    (rule,) = tune(again, jobs)
    assert rule["ranks"] == [2, 4] and {a[1] for a in jobs.asked if len(a[3]) > 2} == {4}
    assert again.data["ended"] == "done"


def test_points_with_too_few_rounds_are_measured_again(tmp_path):
    state = new_state(tmp_path)
    assert tune(state, FakeJobs(lambda *_: 1.0, rounds=racestats.FEWEST - 1)) == []
    assert states.resumed(state.folder).open_points


def test_no_time_left(tmp_path):
    state, jobs = new_state(tmp_path), FakeJobs(lambda *_: 1.0)
    assert tune(state, jobs, budget=1.0) == [] and jobs.asked == []
    assert state.data["ended"] == "time" and rules.write(state) == (None, [])
    assert any("1 of 1 point (a coll" in line for line in words.summary(state, [], None))


def test_a_job_that_breaks_off_ends_its_point_only(tmp_path):
    class Breaks(FakeJobs):
        def race(self, point, *rest, **data):
            if point["collective"] == "scan":
                raise Problem("the benchmark broke off")
            return super().race(point, *rest, **data)

    state = new_state(tmp_path, collectives=("bcast", "scan", "exscan"))
    tune(state, Breaks(lambda *_: 1.0))
    assert [bool(p["cells"]) for p in state.points] == [True, False, True]
    assert state.points[1]["notes"] == ["scan on 2 ranks: the benchmark broke off"]
    first = new_state(tmp_path / "other", collectives=("scan",))
    with pytest.raises(Problem, match="broke off"):
        tune(first, Breaks(None))


def test_another_mpi_on_resume(tmp_path):
    state = new_state(tmp_path)
    state.data["mpi_library"] = "Other MPI"
    with pytest.raises(Problem, match="begun with Other MPI"):
        tune(state, FakeJobs(lambda *_: 1.0))


def test_few_ranks_are_on_fewer_hosts_than_many(tmp_path):
    """As launchers fill one host after the other."""
    jobs = FakeJobs(lambda p, s, a: 5.0 if a == "nonblock" else 10.0)
    jobs.hosts = lambda ranks: 1 + (ranks > 2) + (ranks > 4)
    state = new_state(tmp_path, ranks=(2, 4, 8))
    found = tune(state, jobs)
    assert [(r["ranks"], r["nodes"]) for r in found] == [
        ([2, 2], [1, 1]), ([4, 4], [2, 2]), ([8, 8], [3, 3]),
    ]
    assert tuning.read(rules.write(state)[0])["head"]["hosts"] == 3
    again = states.resumed(state.folder)
    again.points[0]["done"], jobs.hosts = False, lambda ranks: 2
    with pytest.raises(Problem, match="with 1 as number of hosts of 2 ranks, and now it is 2"):
        tune(again, jobs)


def test_a_folder_is_not_overwritten(tmp_path):
    new_state(tmp_path)
    with pytest.raises(Problem, match="--resume goes on"):
        new_state(tmp_path)
    with pytest.raises(Problem, match="nothing to resume"):
        states.resumed(tmp_path / "none")


def test_wrong_results_take_no_part():
    line = {"bytes": 8, "us": {"mpi": [1.0, 2.0], "p2p": [0.5, 0.6]}}
    assert measure.rounds_of(line, {(8, "p2p")}) == [{"mpi": 1.0}, {"mpi": 2.0}]
    assert measure.rounds_of(line, {(64, "p2p")})[1] == {"mpi": 2.0, "p2p": 0.6}


def tuned(crestacoll, tmp_path, *asked):
    """The run, and what it found. Beside other programs the time may be over before there are
    enough rounds of one point, or a job is started: then it is to go on with twice as much.
    """
    found = {"points": "no job ended"}
    for seconds in (24, 48, 96, 192):
        ran = crestacoll(*asked, "--budget", f"{seconds}s", "--output", "t", "--json=t.json")
        asked = ("tune", "--resume")
        if ran.returncode == 125 and "was ended after" in ran.stderr:
            continue
        assert ran.returncode == 0, ran.stderr
        found = json.loads((tmp_path / "t.json").read_text())
        if any(p["done"] and p["cells"] and p["cells"][0]["found"] for p in found["points"]):
            return ran, found
    return pytest.fail(f"no point has enough rounds: {found['points']}")


def test_end_to_end(crestacoll, tmp_path):
    if not builds.all_builds():
        pytest.skip("nothing is built")
    build = builds.all_builds()[0]
    asked = ("tune", "barrier,bcast", "--sizes", "8", "--mpi", build.name)
    ran, found = tuned(crestacoll, tmp_path, *asked)
    assert "fastest" in ran.stdout and "barrier" in ran.stdout
    made = tuning.read(tmp_path / "t" / "tuning.json")
    assert made["rules"] == found["rules"]
    assert build.tuning(tmp_path / "t" / "tuning.json")["used"]
    again = crestacoll(*asked, "--output", "t")
    assert again.returncode == 2 and "already holds a tuning" in again.stderr
