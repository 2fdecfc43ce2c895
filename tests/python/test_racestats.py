# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of races: t quantiles, null arms, a planted difference, a shared machine."""

import dataclasses
import math

import numpy as np
import pytest
from crestacoll_tools.race import racestats

# Two-sided 95 % and 99 % of any table.
T_TABLE = [
    (0.975, 1, 12.7062),
    (0.975, 5, 2.57058),
    (0.975, 30, 2.04227),
    (0.975, 1000, 1.96234),
    (0.995, 10, 3.16927),
    (0.9995, 4, 8.61030),
]


@pytest.mark.parametrize("p, df, value", T_TABLE)
def test_t_quantiles_are_those_of_the_tables(p, df, value):
    assert racestats.t_quantile(p, df) == pytest.approx(value, rel=1e-5)
    assert racestats.t_quantile(1 - p, df) == pytest.approx(-value, rel=1e-5)


def test_incomplete_beta():
    assert racestats.incomplete_beta(1, 1, 0.3) == pytest.approx(0.3)
    assert racestats.incomplete_beta(2, 3, 0.5) == pytest.approx(0.6875)
    assert racestats.t_cdf(0, 7) == pytest.approx(0.5)


def noisy(generator, rounds, effect=0.0, scatter=0.1, spikes=0.05):
    """Seconds per step of an arm and the reference, on a machine that drifts and interrupts."""
    drift = 1 + 0.3 * np.sin(np.arange(rounds) / 7)
    pair = []
    for factor in (1 + effect, 1.0):
        spike = np.where(generator.random(rounds) < spikes, generator.exponential(3, rounds), 0)
        pair.append(factor * drift * np.exp(scatter * generator.standard_normal(rounds)) + spike)
    return pair


def test_null_arms_claim_something_at_about_the_stated_rate():
    generator = np.random.default_rng(3)
    found = [racestats.difference(*noisy(generator, 60)) for _ in range(1500)]
    outside = sum(d.high < 0 or d.low > 0 for d in found) / len(found)
    faster = sum(d.faster for d in found) / len(found)
    slower = sum(d.slower for d in found) / len(found)
    assert 0.02 < outside < 0.08
    assert faster < 0.035 and slower < 0.035


def test_equal_arms_are_not_biased_where_rounds_scatter_widely():
    """Differences divided by the reference of the round would be some 6 % here."""
    generator = np.random.default_rng(5)
    arm, reference = noisy(generator, 4000, scatter=0.35, spikes=0)
    assert abs(racestats.difference(arm, reference).trimmed) < 0.02
    assert np.mean(arm / reference - 1) > 0.06


def test_a_planted_difference_of_3_percent_is_found():
    generator = np.random.default_rng(7)
    planted = {"effect": -0.03, "scatter": 0.08, "spikes": 0.01}
    found = [racestats.difference(*noisy(generator, 400, **planted)) for _ in range(50)]
    assert sum(d.high < 0 for d in found) >= 48
    assert np.mean([d.trimmed for d in found]) == pytest.approx(-0.03, abs=0.004)


def test_a_better_median_with_a_worse_mean_does_not_win():
    """A waiting rank that loses its core now and then: short blocks do not show it."""
    generator = np.random.default_rng(9)
    arm, reference = noisy(generator, 300, effect=-0.11, spikes=0)
    arm[::20] *= 60
    found = racestats.difference(arm, reference)
    assert found.high < 0 and found.mean > 1
    assert not found.agree and not found.faster


def test_correction_for_several_arms():
    assert racestats.corrected(0.95, 5) == pytest.approx(0.99)
    generator = np.random.default_rng(11)
    wrong = 0
    for _ in range(300):
        columns = [noisy(generator, 40, spikes=0)[0] for _ in range(6)]
        rounds = [dict(zip("rabcde", row)) for row in zip(*columns)]
        wrong += racestats.best(racestats.compare(rounds, "rabcde", "r")) is not None
    assert wrong / 300 < 0.06


def test_slow_changes_widen_the_interval():
    generator = np.random.default_rng(13)
    white = generator.standard_normal(400)
    slow = np.convolve(white, np.ones(20) / math.sqrt(20), mode="same")
    assert racestats.inflation(white) == 1
    assert racestats.inflation(slow) > 3


def disturbed(generator, times, rounds, kind, runs=4):
    """Differences of `times` proofs: heavy tails, and what a machine does for a while."""
    found = generator.standard_t(3, (times, rounds))
    slow, change = np.zeros((times, rounds)), generator.standard_normal((times, rounds))
    keeps, size = {"alone": (0, 0), "echo": (0.5, 1), "drift": (0.9, 0.5)}.get(kind, (0, 0))
    slow[:, 0] = change[:, 0]
    for i in range(1, rounds):
        slow[:, i] = keeps * slow[:, i - 1] + math.sqrt(1 - keeps**2) * change[:, i]
    if kind == "runs":
        own = math.sqrt(runs / rounds) * generator.standard_normal((times, runs))
        slow, size = np.repeat(own, -(-rounds // runs), axis=1)[:, :rounds], 1
    return found + size * slow


def judged(kinds, effect=0.0, scatter=0.03, times=100, lengths=(24, 60, 150, 400)):
    """The Difference of each of many proofs."""
    generator = np.random.default_rng(17)
    return [
        racestats.difference(np.exp(effect + scatter * values), np.ones(rounds))
        for rounds in lengths
        for kind in kinds
        for values in disturbed(generator, times, rounds, kind)
    ]


@pytest.mark.long
def test_equal_arms_are_hardly_ever_claimed_to_differ():
    """Also where neighbours resemble each other, so that intervals hold less often than stated."""
    kinds = ("alone", "echo", "drift", "runs")
    found = judged(kinds, times=125)
    assert len(found) == 2000
    shown = sum(d.high < 0 or d.low > 0 for d in found) / len(found)
    claims = sum(d.surely_faster or d.surely_slower for d in found) / len(found)
    assert 0.08 < shown < 0.25
    assert claims < 0.02
    quiet = judged(("alone",), times=500)
    assert sum(d.surely_faster or d.surely_slower for d in quiet) / len(quiet) < 0.005


@pytest.mark.parametrize("effect, scatter", [(0.03, 0.03), (-0.03, 0.03), (-0.005, 0.005)])
def test_what_is_there_is_claimed(effect, scatter):
    """3 % as well as half a per cent where rounds scatter less."""
    found = judged(("alone", "echo", "drift", "runs"), effect, scatter, 25, (150, 400))
    right = sum(d.surely_slower if effect > 0 else d.surely_faster for d in found)
    assert right >= 0.9 * len(found)
    assert sum(d.surely_faster if effect > 0 else d.surely_slower for d in found) == 0


def test_a_claim_has_a_tenth_of_the_error():
    assert racestats.surer(0.95) == pytest.approx(0.995)
    assert racestats.surer(racestats.corrected(0.95, 5)) == pytest.approx(0.999)
    values = np.random.default_rng(19).standard_normal(100)
    for aim, claimed in ((2.1, False), (7, True)):  # standard errors
        centre, half = racestats.trimmed_mean(values)
        found = values - centre + aim * half / racestats.t_quantile(0.975, 59)
        arm = racestats.difference(np.exp(0.01 * found), np.ones(100))
        assert arm.low > 0 and arm.sure == claimed


def test_the_interval_beside_a_claim_holds_though_it_was_selected():
    """Few and noisy rounds: what is claimed came out larger, and with less scatter, than it is."""
    generator = np.random.default_rng(29)
    claims = []
    for _ in range(1500):
        arm, reference = np.exp(0.12 * generator.standard_normal((2, 24)))
        found = racestats.difference(0.907 * arm, reference)
        if found.surely_faster:
            claims.append(found)
    assert len(claims) > 100
    truth = -0.093
    assert sum(d.low <= truth <= d.high for d in claims) < 0.9 * len(claims)
    held = [low <= truth <= high for low, high in (d.told for d in claims)]
    assert sum(held) > 0.97 * len(held)


def test_a_difference_that_is_not_claimed_shows_the_95_percent_interval():
    found = racestats.Difference(-0.1, -0.18, -0.02, -0.1, True, 12, False, -0.25, 0.05)
    assert found.told == (-0.18, -0.02)
    assert dataclasses.replace(found, sure=True, sure_high=-0.01).told == (-0.25, -0.01)


def test_what_only_a_part_of_the_rounds_shows_is_not_claimed():
    values = 0.001 * np.random.default_rng(23).standard_normal(120)
    values[60:90] += 0.01
    found = racestats.difference(np.exp(values), np.ones(120))
    assert not racestats.is_sure(values, racestats.LEVEL) and not found.sure
    assert racestats.is_sure(values + 0.02, racestats.LEVEL)


def test_few_rounds_say_nothing():
    assert racestats.difference([1.0] * 5, [2.0] * 5) is None
    assert racestats.difference([1.0] * 6, [2.0] * 6).faster
    assert racestats.difference([1.0, 0, math.nan] * 3, [2.0] * 9) is None


def test_arms_are_compared_in_the_rounds_that_have_both():
    rounds = [{"mpi": 2.0, "shm": 1.0}] * 8 + [{"mpi": 2.0, "os": 3.0}] * 8 + [{"mpi": 2.0}]
    found = racestats.compare(rounds, ["mpi", "shm", "os", "p2p"], "mpi")
    assert found["shm"].faster and found["os"].slower and found["p2p"] is None
    assert found["shm"].rounds == 8
    assert racestats.best(found) == "shm"


def test_the_best_of_many_arms_is_told_at_any_look_only_if_it_is_ahead():
    """Equal arms on a machine that changes in the middle, told whenever that looks possible."""
    chance, told, claimed = np.random.default_rng(11), 0, 0
    for _ in range(120):
        change = chance.integers(5, 40)
        arms = np.exp(chance.normal(0, 0.15, (40, 6)))
        late = chance.exponential(1, (40 - change, 6))
        arms[change:] += late * (chance.random((40 - change, 6)) < 0.3)
        looks = [(arms[:n, a], arms[:n, 0]) for n in range(6, 41, 3) for a in range(1, 6)]
        told += any(racestats.ahead(*pair, 5) is not None for pair in looks)
        found = [racestats.difference(*pair, racestats.corrected(0.95, 5)) for pair in looks]
        claimed += any(d.surely_faster for d in found)
    assert told == 0 and claimed > 0


def test_an_interval_at_every_look_holds_the_median():
    chance = np.random.default_rng(12)
    missed, widths = 0, []
    for _ in range(300):
        values = chance.normal(0.3, 1.0, 120)
        spans = [racestats.at_every_look(values[:n], 0.05) for n in range(1, 121)]
        known = [span for span in spans if span]
        missed += any(low > 0.3 or high < 0.3 for low, high in known)
        widths.append(known[-1][1] - known[-1][0])
    assert missed <= 15 and 0.2 < np.mean(widths) < 1.0
    assert racestats.at_every_look([1.0] * 7, 0.001) is None


def test_what_is_ahead_in_every_round_is_told_after_some():
    reference = np.exp(np.random.default_rng(13).normal(0, 0.05, 40))
    assert racestats.ahead(0.9 * reference[:12], reference[:12], 5) is None
    low, high = racestats.ahead(0.9 * reference, reference, 5)
    assert low == pytest.approx(-0.1) and high == pytest.approx(-0.1)
    assert racestats.ahead(1.1 * reference, reference, 5) is None
