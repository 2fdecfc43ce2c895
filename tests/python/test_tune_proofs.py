# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll tune`: the proofs of a rule, later ones and those at other speeds of the machine."""

import pytest
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.tune import measure, search, state as states, words
from crestacoll_tools.tune.speeds import Speeds
from fake_tuning import FakeJobs, new_state, tune


class Later(FakeJobs):
    """From its second proof on, nonblock takes so long."""

    def __init__(self, late_us):
        super().__init__(self.time)
        self.late_us, self.proofs = late_us, 0

    def race(self, point, sizes, arms, seconds, batch_us, *tick, **data):
        self.proofs += batch_us == measure.LONG_US
        return super().race(point, sizes, arms, seconds, batch_us, *tick, **data)

    def time(self, point, size, arm):
        return 10.0 if arm != "nonblock" else self.late_us if self.proofs > 2 else 5.0


@pytest.mark.parametrize("late_us, count", [(5.0, 1), (12.0, 0), (9.99, 0)])
def test_a_rule_must_gain_a_second_time(tmp_path, late_us, count):
    state, jobs = new_state(tmp_path, sizes=(8,)), Later(late_us)
    assert len(tune(state, jobs)) == count
    assert jobs.proofs == 4 and state.data["ended"] == "done"
    assert state.points[0]["cells"][0]["proofs"] == 2


def test_the_second_proof_comes_when_there_is_time(tmp_path, monkeypatch):
    """A quarter of it is kept; what does not fit is done by --resume."""
    clock = [0.0]
    monkeypatch.setattr(search.time, "monotonic", lambda: clock[0])

    class Slow(Later):
        def race(self, *rest, **data):
            clock[0] += 10.0
            return super().race(*rest, **data)

    state, jobs = new_state(tmp_path, sizes=(8,)), Slow(12.0)
    assert len(tune(state, jobs, budget=41.0)) == 1 and state.data["ended"] == "time"
    assert any("1 size has one proof only" in line for line in words.summary(state, [], "t"))
    again = states.resumed(state.folder)
    assert tune(again, jobs, budget=41.0) == [] and again.data["ended"] == "done"


NEAR, FAR = 0.05, 0.2  # microseconds


class Moved(Later):
    """The cores of the machine are moved: far[k] says whether they are far apart in job k, and the
    last one of all that follow. nonblock takes `far_us` then."""

    def __init__(self, far, far_us):
        super().__init__(5.0)
        self.far, self.far_us, self.jobs = far, far_us, 0

    def race(self, point, sizes, *rest, **data):
        self.is_far = self.far[min(self.jobs, len(self.far) - 1)]
        self.jobs += 1
        us = FAR if self.is_far else NEAR
        self.line_us = {b: [us, 1.2 * us] for b in sizes}
        return super().race(point, sizes, *rest, **data)

    def time(self, point, size, arm):
        return 10.0 if arm != "nonblock" else self.far_us if self.is_far else 5.0


# Jobs: models, algorithms, two of a proof; then two for each proof again.
@pytest.mark.parametrize(
    "far, far_us, count, proofs",
    [
        ([0], 20.0, 1, 2),
        ([0, 1, 0, 0, 0, 0, 1], 6.0, 1, 3),
        ([0, 0, 0, 0, 1], 11.0, 0, 2),
        ([0, 1, 0], 6.0, 0, 1 + search.PASSES),  # never proved while far
        ([0, 1, 0, 1, 0], 6.0, 0, 1 + search.PASSES),  # with one kind of data only
        ([0, 0, 0, 1, 1, 0], 6.0, 1, 2),
    ],
)
def test_a_rule_is_proved_at_each_speed_of_the_machine(tmp_path, far, far_us, count, proofs):
    state = new_state(tmp_path, sizes=(8,))
    assert len(tune(state, Moved(far, far_us))) == count
    (one,) = state.points[0]["cells"]
    assert one["proofs"] == proofs
    told = [line for line in words.summary(state, [], "t") if "each speed" in line]
    assert bool(told) == bool(one["lacks"])
    if told:
        assert "0.05, 0.20 us" in told[0] and state.data["ended"] == "time"


def test_ranks_on_other_cores_have_speeds_of_their_own(tmp_path):
    """Two ranks that are near, four that are far, eight on two hosts, whose speed is not known."""
    class Placed(FakeJobs):
        def race(self, point, sizes, *rest, **data):
            us = {2: NEAR, 4: FAR}.get(point["ranks"])
            self.line_us = {b: [us, us] for b in sizes} if us else {}
            return super().race(point, sizes, *rest, **data)

    state = new_state(tmp_path, ranks=(2, 4, 8), sizes=(8,))
    (rule,) = tune(state, Placed(lambda p, s, a: 5.0 if a == "nonblock" else 10.0))
    assert rule["ranks"] == [2, 8] and state.data["ended"] == "done"


def test_noise_is_no_other_speed(tmp_path):
    class Noisy(FakeJobs):
        def race(self, point, sizes, *rest, **data):
            self.line_us = {b: [NEAR, FAR] if "written" in data.values() else [NEAR, NEAR]
                            for b in sizes}
            return super().race(point, sizes, *rest, **data)

    state = new_state(tmp_path, sizes=(8,))
    assert len(tune(state, Noisy(lambda p, s, a: 5.0 if a == "nonblock" else 10.0))) == 1


def test_a_speed_that_is_met_seldom_asks_for_no_proof():
    met = Speeds([])
    for us in [NEAR] * 39 + [FAR, NEAR]:
        met.take([us, us])
    met.take([NEAR, FAR])
    met.take(None)
    assert [known["times"] for known in met.met] == [40, 1]
    assert met.usual() == {0} and met.number([FAR, FAR]) == 1 and met.number([NEAR, FAR]) is None


def test_a_second_proof_that_breaks_off_leaves_the_first(tmp_path):
    class Breaks(Later):
        def race(self, *rest, **data):
            found = super().race(*rest, **data)
            if self.proofs > 2:
                raise Problem("the benchmark broke off")
            return found

    state = new_state(tmp_path, sizes=(8,))
    assert len(tune(state, Breaks(12.0))) == 1 and state.data["ended"] == "time"
