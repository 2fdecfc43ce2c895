# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of a race: is an arm faster than the reference, by how much, and how sure is that?

A round holds blocks of the arm and of the reference within a short time, so that what slows the
machine slows both. Each round gives one difference. Their 20 % trimmed mean, with the interval of
Tukey and McLaughlin (a winsorized t), says whether there is one: rare long interruptions, which
decide plain means, hardly move it. The plain mean says whether the gain is there on the whole: a
waiting rank may lose its core rarely and for long. Only where both agree, an arm wins.

The difference of a round is the logarithm of a ratio. Arm minus reference divided by the reference
would be biased where both scatter: dividing by a small number weighs more than by a large one, and
an arm equal to the reference would seem slower.

The 95 % interval chooses what is looked at further. To be claimed, a difference must be surer. Its
error is a tenth: 0.5 %, since an exploration has several chances to claim something. And it must be
as clear from one part of the measurement to the next: rounds side by side share what the machine
does for a while, and those of one run share where its data lie. The correlation of neighbours does
not show that where it is small and lasts. So few batches of many rounds are compared, too.

What an exploration says of an arm without a proof was chosen among many, and it may be said after
any round, such as the last one of a budget. at_every_look has intervals for that. They take nothing
for granted but that the blocks of a round are in random order, so that a machine that changes, at
once or slowly, favours no arm of a round.
"""

import functools
import math
from dataclasses import asdict, dataclass

TRIM = 0.2  # of the rounds on each side
LEVEL = 0.95
FEWEST = 6  # rounds: fewer say nothing
CLAIM = 0.1  # times the error of the interval that is shown is that of a claim
MOST = 700.0  # the exponential of more is no number
SELECTED = 0.001  # error of what is said without a proof, of all arms and after any round
BATCHES = 6  # parts of the rounds, in their order, for a claim; few, so that each is long


@dataclass(frozen=True)
class Difference:
    """How an arm differs from the reference, in fractions of the reference: below 0 is faster."""

    trimmed: float
    low: float
    high: float
    mean: float
    agree: bool
    rounds: int
    sure: bool = True  # beyond 0 by the interval of a claim,
    sure_low: float | None = None  # whose ends these are; None: as those of the other interval
    sure_high: float | None = None

    @property
    def faster(self):
        """As far as one can see: enough to look further."""
        return self.agree and self.high < 0

    @property
    def slower(self):
        return self.agree and self.low > 0

    @property
    def surely_faster(self):
        """Enough to say so."""
        return self.faster and self.sure

    @property
    def surely_slower(self):
        return self.slower and self.sure

    @property
    def half_width(self):
        return (self.high - self.low) / 2

    @property
    def surely_within(self):
        """The ends of the interval of a claim."""
        return (
            self.low if self.sure_low is None else self.sure_low,
            self.high if self.sure_high is None else self.sure_high,
        )

    @property
    def told(self):
        """The interval to print. A claim is selected by how it came out: with few rounds, a 95 %
        interval beside it misses the truth far more often than once in twenty.
        """
        claimed = self.surely_faster or self.surely_slower
        return self.surely_within if claimed else (self.low, self.high)

    def as_dict(self):
        return asdict(self)


def incomplete_beta(a, b, x):
    """The regularized incomplete beta function, by its continued fraction (modified Lentz)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    choose = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(choose + a * math.log(x) + b * math.log1p(-x)) / a
    tiny, c, d, value = 1e-300, 1.0, 0.0, 1.0
    for i in range(500):
        m = i // 2
        if i == 0:
            term = 1.0
        elif i % 2 == 0:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + term * d or tiny)
        c = 1 + term / c or tiny
        value *= c * d
        if abs(1 - c * d) < 1e-14:
            break
    return front * (value - 1)


def t_cdf(t, df):
    tail = incomplete_beta(df / 2, 0.5, df / (df + t * t)) / 2
    return 1 - tail if t > 0 else tail


@functools.cache
def t_quantile(p, df):
    """The value that a t distribution of `df` degrees of freedom stays below with probability p."""
    if p < 0.5:
        return -t_quantile(1 - p, df)
    low, high = 0.0, 1.0
    while t_cdf(high, df) < p:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, df) < p else (low, middle)
    return (low + high) / 2


def inflation(values):
    """How much wider an interval is because neighbours resemble each other: a slow change of the
    machine does not average out as chance does. 1 unless the correlation is clear.
    """
    n = len(values)
    centred = values - values.mean()
    variance = float(centred @ centred)
    if n < 10 or variance == 0:
        return 1.0
    r = float(centred[1:] @ centred[:-1]) / variance
    return math.sqrt((1 + r) / (1 - r)) if r > 2 / math.sqrt(n) and r < 1 else 1.0


def trimmed_mean(values, level=LEVEL):
    """(trimmed mean, half-width of its interval)."""
    import numpy as np

    ordered = np.sort(np.asarray(values, dtype=float))
    n = len(ordered)
    cut = int(TRIM * n)
    kept = ordered[cut : n - cut]
    bent = np.clip(np.asarray(values, dtype=float), kept[0], kept[-1])  # winsorized, in their order
    error = bent.std(ddof=1) / ((1 - 2 * cut / n) * math.sqrt(n)) * inflation(bent)
    return float(kept.mean()), float(error * t_quantile((1 + level) / 2, len(kept) - 1))


def surer(level):
    """The level of a claim where intervals of this level are shown: 99.5 % for 95 %."""
    return 1 - CLAIM * (1 - level)


def claimed_mean(values, level):
    """(trimmed mean, half-width of the interval of a claim): as rounds scatter, and as batches of
    them do. The latter needs two rounds in each.
    """
    import numpy as np

    centre, half = trimmed_mean(values, surer(level))
    n, cut = len(values), int(TRIM * len(values))
    if n >= 2 * BATCHES:
        ordered = np.sort(values)
        bent = np.clip(values, ordered[cut], ordered[n - cut - 1])
        means = np.array([batch.mean() for batch in np.array_split(bent, BATCHES)])
        error = means.std(ddof=1) / ((1 - 2 * cut / n) * math.sqrt(BATCHES))
        half = max(half, error * t_quantile((1 + surer(level)) / 2, BATCHES - 1))
    return centre, float(half)


def is_sure(values, level):
    """The trimmed mean is beyond 0 by the interval of a claim."""
    centre, half = claimed_mean(values, level)
    return bool(abs(centre) > half)


def difference(arm, reference, level=LEVEL):
    """The Difference of seconds per step, one pair a round; None if there are too few."""
    import numpy as np

    arm, reference = np.asarray(arm, dtype=float), np.asarray(reference, dtype=float)
    good = (arm > 0) & (reference > 0) & np.isfinite(arm) & np.isfinite(reference)
    arm, reference = arm[good], reference[good]
    if len(arm) < FEWEST:
        return None
    values = np.log(arm / reference)
    centre, half = trimmed_mean(values, level)
    mean = float(arm.mean() / reference.mean() - 1)
    low, trimmed, high = (math.expm1(x) for x in (centre - half, centre, centre + half))
    side = (high < 0) - (low > 0)
    agree = mean < -(trimmed - low) if side > 0 else mean > high - trimmed if side < 0 else True
    _, wide = claimed_mean(values, level)
    claimed = math.expm1(centre - wide), math.expm1(min(centre + wide, MOST))
    return Difference(
        trimmed, low, high, mean, bool(agree), len(arm), bool(abs(centre) > wide), *claimed
    )


def at_every_look(values, error):
    """(low, high) of the median, wrong after any number of values by this error at most; None: too
    few values. A median has each value above or below it, as a coin falls. Bets on that, on either
    side and on all odds alike, win 1 / error with this probability, however often one looks.
    """
    n, need = len(values), 0
    while n >= 2 * need and bets(need, n) >= -math.log(error):
        need += 1
    if need == 0 or n < 2 * need:
        return None
    ordered = sorted(values)
    return ordered[need - 1], ordered[n - need]


def bets(below, n):
    """The logarithm of what the bets of at_every_look have become, of 1."""
    return n * math.log(2) + sum(map(math.lgamma, (below + 1, n - below + 1))) - math.lgamma(n + 2)


def ahead(arm, reference, comparisons):
    """(low, high) of a difference that may be told without a proof, in fractions of the reference;
    None if it may not be below 0. `comparisons`: of how many arms the best may be told.
    """
    both = [pair for pair in zip(arm, reference) if all(0 < time < math.inf for time in pair)]
    logs = [math.log(a / b) for a, b in both]
    found = at_every_look(logs, SELECTED / max(1, comparisons))
    return tuple(map(math.expm1, found)) if found and found[1] < 0 else None


def corrected(level, comparisons):
    """Bonferroni: the level of each of several comparisons that holds for all of them together."""
    return 1 - (1 - level) / max(1, comparisons)


def pairs(rounds, arm, against):
    """Seconds per step of two arms, by their names, in the rounds ({name: seconds}) with both."""
    both = [(r[arm], r[against]) for r in rounds if arm in r and against in r]
    return [a for a, _ in both], [b for _, b in both]


def compare(rounds, names, against, level=LEVEL):
    """{name: Difference or None} of all other arms, at a level that holds for all together."""
    others = [n for n in names if n != against]
    each = corrected(level, len(others))
    return {name: difference(*pairs(rounds, name, against), each) for name in others}


def best(differences):
    """The name of the arm that is faster beyond the noise, and fastest; None: the reference."""
    faster = {name: d for name, d in differences.items() if d is not None and d.faster}
    return min(faster, key=lambda name: faster[name].trimmed, default=None)
