# SPDX-License-Identifier: BSD-3-Clause
"""Points of a profile, and the choices that races try for them."""

import sys

import pytest
from crestacoll_tools.explore import arms
from crestacoll_tools.explore.arms import Choice, Point
from crestacoll_tools.peers import series
from crestacoll_tools.rules import collectives
from library_runs import ROOT

sys.path.insert(0, str(ROOT / "api"))

from table import read_table  # noqa: E402

ALGORITHMS = {"alltoall": [{"name": "bruck"}, {"name": "ring"}]}
DESCRIPTION = {
    "models": [
        {"name": "mpi", "works": True, "algorithms": {}},
        {"name": "shm", "works": True, "algorithms": ALGORITHMS},
        {"name": "p2p", "works": True, "algorithms": ALGORITHMS},
        {"name": "persist", "works": False, "algorithms": {}},
    ]
}


def record(**changes):
    made = {"collective": "alltoall", "mode": "blocking", "communicator": "row", "processes": 2}
    made |= {"bytes_min": 4096, "bytes_max": 8191, "implementation": "mpi", "ranks": 2, "calls": 1}
    made |= {"calls_total": 2}
    made |= {"nodes": None, "time_us": {"mean": 5e5}, "wait_us": {"mean": 1e5}}
    return made | changes


def profile(*records):
    return {"wall_s": 2.0, "ranks": 2, "records": list(records)}


def test_points_are_the_calls_that_cost_time():
    small = {"time_us": {"mean": 1.9e4}, "wait_us": None}
    found = arms.points_of(
        profile(
            record(bytes_min=8, bytes_max=15, **small),
            record(),
            record(collective="alltoallv", bytes_min=8, bytes_max=15),
            record(collective="alltoallv", bytes_min=16, bytes_max=31, wait_us=None),
            record(mode="nonblocking"),
            record(processes=1),
            record(collective="allreduce", ranks=1),
        )
    )
    assert found == [
        Point("alltoallv", "row", 2, None, None, 0.5, pytest.approx(0.05)),
        Point("alltoall", "row", 2, 4096, 8191, 0.25, pytest.approx(0.05)),
        Point("allreduce", "row", 2, 4096, 8191, 0.125, pytest.approx(0.025)),
    ]


def test_begun_calls_count_where_rules_hold_for_them():
    """Whatever time starting them takes: waiting for them is not seen."""
    cheap = {"mode": "nonblocking", "time_us": {"mean": 1e3}, "wait_us": None}
    data = profile(record(communicator="often", calls=5000, **cheap), record(**cheap))
    assert arms.points_of(data) == []
    assert [p.communicator for p in arms.points_of(data, begins=True)] == ["often"]


def test_reductions_are_left_out_on_demand():
    data = profile(record(), *(record(collective=c) for c in collectives.REDUCTIONS))
    assert len(arms.points_of(data)) == 7
    assert [p.collective for p in arms.points_of(data, keep_rounding=True)] == ["alltoall"]
    rules = Choice("shm", ((0, "shm"),)).rules([arms.EVERYTHING], keep_rounding=True)
    assert rules == [*(f"{c}=mpi" for c in collectives.REDUCTIONS), "*=shm"]


def test_where_the_time_goes():
    data = profile(record(), record(wait_us=None, ranks=1))
    assert arms.time_parts(data) == {
        "outside": pytest.approx(0.625),
        "waiting": pytest.approx(0.05),
        "transfer": pytest.approx(0.325),
        "calls": 4,
    }


@pytest.mark.parametrize(
    "name, pattern",
    [
        ("row", "row"),
        ("a=b,c d\n", "a*b*c*d*"),
        ("x" * 63, "x" * 63),
        ("x" * 64, "x" * 62 + "*"),
        ("\u00fc" * 40, "\u00fc" * 31 + "*"),
    ],
)
def test_names_of_communicators_as_patterns(name, pattern):
    made = Point("bcast", name).pattern
    assert made == pattern and len(made.encode()) <= arms.LONGEST_PATTERN


def test_neighbouring_size_classes_share_a_rule():
    points = [
        Point("alltoall", "row", 4, 16, 31),
        Point("alltoall", "row", 4, 8, 15),
        Point("alltoall", "row", 4, 64, None),
        Point("alltoall", "col", 4, 32, 63),
        Point("barrier", "", 8),
    ]
    choice = Choice("x", tuple((i, "shm") for i in range(5)))
    assert choice.rules(points) == [
        "alltoall[32-63](4)@col=shm",
        "alltoall[8-31](4)@row=shm",
        "alltoall[64-inf](4)@row=shm",
        "barrier(8)=shm",
        "*=mpi",
    ]
    assert choice.but("y", 0, "mpi").rules(points)[1] == "alltoall[8-15](4)@row=shm"
    assert arms.REFERENCE.rules(points) == ["*=mpi"]


POINTS = [Point("alltoall", "row", 2, 8, 15), Point("alltoall", "row", 2, 16, 31), Point("bcast")]


def test_a_rule_for_unnamed_communicators_does_not_reach_named_ones():
    """It has no pattern, so that it matches every communicator of that size."""
    points = [Point("bcast", "", 2, 8, 15), Point("bcast", "row", 2, 8, 15), Point("bcast", "b", 4)]
    both = Choice("x", ((0, "shm"), (1, "p2p")))
    assert both.rules(points) == ["bcast[8-15](2)@row=p2p", "bcast[8-15](2)=shm", "*=mpi"]
    one = Choice("x", ((0, "shm"),))
    assert one.rules(points) == ["bcast[8-15](2)@row=mpi", "bcast[8-15](2)=shm", "*=mpi"]


def names(choices):
    return [c.name for c in choices]


def test_what_the_races_try():
    models = arms.model_choices(POINTS, DESCRIPTION)
    assert names(models) == ["p2p", "shm"]
    assert models[0].picks == ((0, "p2p"), (1, "p2p"), (2, "p2p"))
    shm = models[1]
    rule_by_rule = arms.point_choices(POINTS, shm, ["shm", "p2p"])
    assert names(rule_by_rule) == [
        "shm,alltoall[8]@row=mpi",
        "shm,alltoall[8]@row=p2p",
        "shm,alltoall[16]@row=mpi",
        "shm,alltoall[16]@row=p2p",
        "shm,bcast=mpi",
        "shm,bcast=p2p",
    ]
    assert rule_by_rule[0].picks == ((1, "shm"), (2, "shm"))
    assert arms.point_choices(POINTS[:1], shm, ["shm"]) == []
    split = arms.point_choices(POINTS[1:], arms.REFERENCE, ["shm", "p2p"])
    assert names(split) == ["alltoall@row=shm", "alltoall@row=p2p", "bcast=shm", "bcast=p2p"]
    tried = arms.algorithm_choices(POINTS, shm, ["p2p", "shm"], DESCRIPTION)
    assert names(tried) == ["shm,alltoall[8]@row=shm:bruck", "shm,alltoall[8]@row=shm:ring"]
    assert arms.algorithm_choices([arms.EVERYTHING], shm, ["p2p"], DESCRIPTION) == []


BY_NODES = {"alltoall": [{"name": "leaders"}, *ALGORITHMS["alltoall"]]}
WITH_NODES = {
    "models": [*DESCRIPTION["models"], {"name": "hier", "works": True, "algorithms": BY_NODES}]
}


def test_nodes_of_points_are_those_of_the_profile():
    """The most of communicators of one name; what begins a collective may not know."""
    rows = [record(nodes=1), record(nodes=2), record(nodes=None), record(communicator="col")]
    found = {p.communicator: p.nodes for p in arms.points_of(profile(*rows))}
    assert found == {"row": 2, "col": None}


def test_hier_takes_part_where_a_program_spans_nodes():
    points = [Point("alltoall", "all", 4, nodes=2), Point("alltoall", "row", 2, nodes=1)]
    assert names(arms.model_choices(points, WITH_NODES)) == ["p2p", "shm", "hier"]
    for others in (points[1:], POINTS):
        assert names(arms.model_choices(others, WITH_NODES)) == ["p2p", "shm"]
    split = arms.point_choices(points, arms.REFERENCE, ["hier", "shm"])
    assert names(split) == ["alltoall@all=hier", "alltoall@all=shm", "alltoall@row=shm"]


def test_algorithms_that_know_nodes_are_tried_on_several():
    """Also where another model is ahead; on one node they would be ordinary ones."""
    point, one = [Point("alltoall", "all", 4, nodes=2)], [Point("alltoall", "all", 4, nodes=1)]

    def tried(points, model):
        leader = Choice(model, ((0, model),))
        made = arms.algorithm_choices(points, leader, ["p2p"], WITH_NODES)
        return [c.picks[0][1] for c in made]

    assert tried(point, "hier") == ["hier:leaders", "hier:bruck", "hier:ring"]
    assert tried(point, "p2p") == ["p2p:bruck", "p2p:ring", "hier:leaders"]
    assert tried(one, "p2p") == ["p2p:bruck", "p2p:ring"]


def test_large_data_may_be_copied_by_the_kernel():
    large = [Point("alltoall", "row", 2, 32768, 65535)]
    shm = Choice("shm", ((0, "shm?copy=single"),))
    tried = [c.picks[-1][1] for c in arms.algorithm_choices(large, shm, [], DESCRIPTION)]
    assert tried == ["shm?copy=single", "shm:bruck", "shm:ring"]
    assert arms.single_copy("shm", "alltoallv", None) and not arms.single_copy("p2p", "bcast", None)
    assert not arms.single_copy("shm", "alltoall", 8192)


def test_names_of_arms_have_no_blanks():
    points = [Point("bcast", "my row", 2), Point("scan", "b", 2)]
    made = arms.point_choices(points, arms.REFERENCE, ["shm"])
    assert made[0].arm(points).name == "bcast@my*row=shm"
    assert made[0].arm(points).rules == "bcast(2)@my*row=shm,*=mpi"


def test_lists_of_collectives_are_those_of_the_table():
    table = read_table()
    # Those of neighbours, which no MPI has, round alike in every implementation.
    assert set(collectives.REDUCTIONS) == {c.name for c in table if c.reduces and not c.near}
    assert set(collectives.UNSIZED) == {c.name for c in table if "sized" not in c.properties}
    assert set(collectives.NEIGHBORS) == {c.name for c in table if c.near}
    assert sorted(series.EVERY) == sorted(c.name for c in table if not c.near)
