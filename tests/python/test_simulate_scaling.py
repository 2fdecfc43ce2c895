# SPDX-License-Identifier: BSD-3-Clause
"""How a profile scales: its communicators, the bytes of its calls, its waiting."""

import place_data
import pytest
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.simulate import shapes, workload
from crestacoll_tools.simulate.shapes import Shape


def test_directions_of_a_grid_grow_alike():
    row, column, everyone = Shape(4), Shape(2, 4), Shape(8)
    assert shapes.scale([row, column, everyone], 8, 512, {}) == {
        **{row: Shape(32), column: Shape(16, 32), everyone: Shape(512)}
    }
    # 4096 ranks are not 8 times as many in both directions; the tie goes to consecutive ranks.
    assert shapes.scale([row, column], 8, 4096, {})[row] == Shape(128)
    assert shapes.scale([Shape(2), Shape(2, 2)], 4, 8, {})[Shape(2, 2)] == Shape(2, 4)


def test_planes_are_made_of_directions():
    line, plane = Shape(4), Shape(12)
    assert shapes.scale([line, Shape(3, 4), plane, Shape(2, 12)], 24, 24 * 27, {}) == {
        **{line: Shape(12), Shape(3, 4): Shape(9, 12), plane: Shape(108)},
        Shape(2, 12): Shape(6, 108),
    }


def test_a_size_that_the_user_says_changes_the_others():
    row, column = Shape(4), Shape(2, 4)
    assert shapes.scale([row, column], 8, 4096, {row: 64})[column] == Shape(64, 64)
    assert shapes.scale([row, column], 8, 4096, {column: 2})[row] == Shape(2048)
    with pytest.raises(Problem, match="in which communicators have 63 ranks instead of 4"):
        shapes.scale([row, column], 8, 4096, {row: 63})
    with pytest.raises(Problem, match="-n 13: no grid like that of 4x2 ranks:"):
        shapes.scale([row, column], 8, 13, {})


def test_communicators_of_no_common_grid_have_grids_of_their_own():
    row, other = Shape(4), Shape(6)
    scaled = shapes.scale([row, other], 12, 48, {})
    assert scaled == {row: Shape(8), other: Shape(12)}


def test_the_same_number_of_ranks_changes_nothing():
    every = [Shape(2), Shape(2, 2), Shape(6, 4), Shape(24)]
    assert shapes.scale(every, 24, 24, {}) == {s: s for s in every}


def test_rows_and_columns_without_names_are_told_apart():
    data = place_data.grid(2, 2, row={"alltoall": 3000}, col={"alltoall": 1000})
    for c in data["records"] + data["communicators"]:
        c["communicator"] = ""
    works = workload.of_profile(data, "p.json")
    shares = {w.shape: w.calls for w in works if w.collective == "alltoall"}
    # Two records of 10 calls, which row and column share as they share the bytes: 3 to 1.
    assert shares == {Shape(2): pytest.approx(15), Shape(2, 2): pytest.approx(5)}


def test_what_is_no_grid_is_left_out():
    data = place_data.profile(
        4,
        {
            "half": ([[0, 1]], {"alltoall": 8}),
            "back": ([[3, 2], [1, 0]], {"alltoall": 8}),
            "lost": ([[0, 1], [2, 3]], {"bcast": 8}),
            "world": ([[0, 1, 2, 3]], {"bcast": 8}),
        },
    )
    data["communicators"] = [
        c | ({"members": []} if c["communicator"] == "lost" else {}) for c in data["communicators"]
    ]
    data["records"].append(place_data.record("one", 1, "bcast", 4, 8))
    data["records"].append(place_data.record("world", 4, "scan", 1, 8) | {"mode": "nonblocking"})
    data["records"].append(place_data.record("world", 4, "gather", 1, 8) | {"rule": None})
    why = {(w.label, w.communicator): w.why for w in workload.of_profile(data, "p.json")}
    assert why == {
        ("alltoall", "half"): "not every rank is in a communicator of this kind",
        ("alltoall", "back"): "its ranks do not ascend at equal distances",
        ("bcast", "lost"): "the profile does not have its ranks",
        ("bcast", "one"): "a communicator of one process",
        ("iscan", "world"): "it only starts: the profile does not have what comes before its end",
        ("gather", "world"): "an intercommunicator",
        ("bcast", "world"): "",
    }


# How sizes and times scale.


def work(collective, size, shape=Shape(4), low=None):
    low = size if low is None else low
    made = workload.Work(collective, "blocking", "row", shape.size, low, 2 * low - 1, shape)
    made.calls, made.bytes = 10, 10 * size
    return made


@pytest.mark.parametrize(
    "collective, size, weak, strong",
    [
        ("alltoall", 4096, 512, 64),  # 8 times as many blocks; of an eighth of the data
        ("alltoallv", 4096, 512, 64),
        ("reduce_scatter_block", 4096, 512, 64),
        ("allgather", 4096, 4096, 512),
        ("reduce_scatter", 4096, 4096, 512),
        ("allreduce", 4096, 4096, 512),
        ("allreduce", 64, 64, 64),
        ("alltoall", 8, 8, 8),
        ("alltoall", 128, 16, 8),  # a number is not divided
        ("bcast", 1, 1, 1),
    ],
)
def test_bytes(collective, size, weak, strong):
    grid = {Shape(4): Shape(32)}
    found = [
        workload.Scaling(16, 128, how, grid).bytes(work(collective, size)) for how in (False, True)
    ]
    assert found == [weak, strong]


def test_sizes_of_rules_scale_with_the_bytes():
    scaling = workload.Scaling(16, 128, False, {Shape(4): Shape(32)})
    assert scaling.sizes(work("alltoall", 5000, low=4096)) == (512, 1023)
    assert scaling.sizes(work("alltoallv", 5000, low=4096)) == (None, None)


def test_waiting_becomes_lateness():
    """Two ranks that come at any time in [0, T] wait T / 6 for each other in the mean."""
    waited = work("barrier", 0, Shape(2))
    assert waited.lateness().kind == "none"
    waited.waits.append((10, 20e-6))
    assert waited.lateness().kind == "uniform"
    assert waited.lateness().seconds == pytest.approx(12e-6)
