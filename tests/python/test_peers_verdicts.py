# SPDX-License-Identifier: BSD-3-Clause
"""What crestacoll is to reach beside other MPIs, judged from made-up rows."""

import pytest
from crestacoll_tools.peers import verdicts
from peers_rows import FLOOR, WRITTEN, again, row


@pytest.mark.parametrize(
    "limit, collective, nbytes, changes",
    [
        (1.05, "allreduce", 8, {}),
        (1.0, "allreduce", 8, WRITTEN),
        (1.04, "bcast", 512, {"root": "fixed"}),
        (1.04, "scan", 64, WRITTEN),
        (1.05, "scan", 4096, {}),
        (1.0, "gatherv", 256 << 10, {"root": "fixed"} | WRITTEN),
        (1.05, "alltoall", 2 << 20, {}),
        (1.0, "reduce", 8 << 20, WRITTEN),
        (1.05, "bcast", 8, {"ranks": 4}),
        (1.05, "bcast", 2 << 20, {"ranks": 4} | WRITTEN),
        (1.05, "barrier", 0, {"ranks": 8}),
        (None, "scan", 8, {"ranks": 4}),
        (None, "bcast", 8 << 20, {"ranks": 8}),
        (None, "allreduce", 8, {"buffers": "cold"}),
        (None, "allreduce", 8, {"ranks": 3}),
    ],
)
def test_bounds(limit, collective, nbytes, changes):
    assert verdicts.bound(row({"mpich": 1.0}, 1, collective, nbytes, **changes)) == limit


def told(rows, floor=FLOOR):
    """Target number -> verdict, of those that could be judged."""
    found = verdicts.verdicts(rows, floor)
    return {i: v for i, v in enumerate(found) if v.met is not None}


def test_nothing_measured_is_neither_met_nor_missed():
    assert told([]) == {}
    assert told([row({"mpich": 1.0}, 0.5, buffers="cold")]) == {}


def test_small_symmetric_calls():
    own = {"mpich": 1.0}
    good, bad = again(own, 0.4, nbytes=64), again(own, 1.05, "alltoall", 64)
    assert told([good])[0].met and told([good])[0].found == "mean 0.40; 1 of 1 points"
    verdict = told([good, bad])[0]
    assert not verdict.met and [m.point.collective for m in verdict.missed] == ["alltoall"]
    assert verdict.missed[0].factor == pytest.approx(1.05)
    middling = [again(own, 0.6, nbytes=n) for n in (64, 512)]
    assert told(middling)[0].missed == [] and not told(middling)[0].met  # by the mean
    assert told(middling, FLOOR | {"exchange": 0.2})[0].met  # of cores that are far
    lacking = again(own, {}, "barrier", 0)
    assert told([good, lacking])[0].found.endswith("; 1 not measured")
    assert 0 not in told([row(own, 0.4)])


def test_eight_bytes_against_the_exchange_beside_them():
    far = FLOOR | {"exchange": 0.15}
    beside = {"line_us": [0.19, 0.21]}
    assert told([row({"mpich": 1.0}, 0.099)])[1].met
    assert not told([row({"mpich": 1.0}, 0.102)])[1].met
    assert told([row({"mpich": 1.0}, 0.25, **beside)], far)[1].met
    verdict = told([row({"mpich": 1.0}, 0.3, **beside)], far)[1]
    assert not verdict.met and verdict.found == "100 ns more, 1.50x"
    unknown = row({"mpich": 1.0}, 0.25)
    unknown.line = None
    assert 1 not in told([unknown], far)


def test_other_sizes_and_rank_counts():
    own = {"openmpi": 1.0, "impi": 2.0}
    assert told([row(own, 1.03, "scan")])[2].met and not told([row(own, 1.05, "scan")])[2].met
    assert told([again(own, 0.6, nbytes=4096)])[3].met
    assert not told([again(own, 0.7, nbytes=4096)])[3].met
    assert told([again(own, 0.85, "alltoall", 2 << 20)])[4].met
    assert not told([again(own, 0.9, "reduce", 8 << 20)])[4].met
    assert told([row(own, 1.04, "reduce", 8 << 20)])[5].met
    assert not told([row(own, 1.06, "alltoall", 8 << 10)])[5].met
    assert told([row(own, 0.5, ranks=4)])[6].met and not told([row(own, 0.6, ranks=4)])[6].met
    assert told([row(own, 0.8, nbytes=2 << 20, ranks=8)])[9].met


def test_the_best_setting_of_an_mpi_counts():
    only = row({"openmpi5": 1.0, "openmpi5-xhc": 0.5}, 0.6)
    assert only.best == 0.5 and only.ratio == 1.2 and only.on("openmpi5") == 0.6


def test_waiting_on_mpich():
    fast = row({"mpich": 5000.0, "mpich5": 400.0}, {"mpich": 5.0, "mpich5": 5.0}, ranks=4)
    verdict = told([fast])[10]
    assert not verdict.met
    assert [(m.mpi, m.factor) for m in verdict.missed] == [("mpich5", pytest.approx(1.25))]
    assert verdict.found == "mean 283x; 1 of 2 points"
