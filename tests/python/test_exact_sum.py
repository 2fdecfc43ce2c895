# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums (src/reduce/exact_sum.h) against sums of rational numbers, rounded once."""

import random
import subprocess
from fractions import Fraction

import pytest
from crestacoll_tools.builds import builds

# digits of the significand, bits of the exponent field, bytes
FORMATS = {"float": (24, 8, 4), "double": (53, 11, 8), "long": (64, 15, 10)}
HOWS = ("add", "array", "words", "fold")


def value_of(bits, digits, exponent_bits):
    """A finite number as a rational one."""
    written = digits == 64  # the highest bit of the significand
    field = digits if written else digits - 1
    fraction, exponent = bits & (1 << field) - 1, bits >> field & (1 << exponent_bits) - 1
    minus = bits >> field + exponent_bits
    bias = (1 << exponent_bits - 1) - 1 + digits - 1
    if exponent > 0 and not written:
        fraction |= 1 << field
    value = Fraction(fraction) * Fraction(2) ** (max(exponent, 1) - bias)
    return -value if minus else value


def rounded(value, digits, exponent_bits):
    """The bits of a rational number rounded to nearest, ties to even."""
    written = digits == 64
    field = digits if written else digits - 1
    minus = value < 0
    sign = minus << field + exponent_bits
    value = abs(value)
    if value == 0:
        return 0
    bias = (1 << exponent_bits - 1) - 1 + digits - 1
    top = value.numerator.bit_length() - value.denominator.bit_length()
    place = max(top - digits - 1, 1 - bias)  # of the last digit: from below
    while value / Fraction(2) ** place >= 1 << digits:
        place += 1
    scaled = value / Fraction(2) ** place
    m = round(scaled)  # to even
    if m == 1 << digits:
        m, place = m // 2, place + 1
    exponent = place + bias if m >> digits - 1 else 0
    if exponent >= (1 << exponent_bits) - 1:
        exponent, m = (1 << exponent_bits) - 1, 1 << digits - 1
    return sign | exponent << field | m & (1 << field) - 1


def number(rng, digits, exponent_bits, low=None, high=None):
    """The bits of a finite number whose exponent field is from low to high - 1."""
    written = digits == 64
    field = digits if written else digits - 1
    exponent = rng.randrange(low or 0, high or (1 << exponent_bits) - 1)
    kind = rng.randrange(4)
    fraction = [0, (1 << field) - 1, rng.getrandbits(field), 1 << rng.randrange(field)][kind]
    if written:
        fraction = fraction | 1 << 63 if exponent else fraction & (1 << 63) - 1
    return rng.getrandbits(1) << field + exponent_bits | exponent << field | fraction


def halfway(rng, digits, exponent_bits):
    """A number, half of its last digit, and nothing or next to nothing."""
    field = digits if digits == 64 else digits - 1
    exponent = rng.randrange(digits + 1, (1 << exponent_bits) - 2)
    big = number(rng, digits, exponent_bits, exponent, exponent + 1)
    top = 1 << 63 if digits == 64 else 0
    half = (exponent - digits) << field | top
    sign = (big >> field + exponent_bits) << field + exponent_bits
    return [big, half | sign, rng.choice([0, 1, 1 << field + exponent_bits | 1])]


def cancelling(rng, digits, exponent_bits):
    """Large numbers that cancel to the last bit of a small one."""
    large = [number(rng, digits, exponent_bits) for _ in range(rng.randrange(1, 40))]
    sign = 1 << (digits if digits == 64 else digits - 1) + exponent_bits
    return [*large, *(bits ^ sign for bits in large), number(rng, digits, exponent_bits)]


def cases(rng, digits, exponent_bits):
    top = (1 << exponent_bits) - 1
    yield from ([number(rng, digits, exponent_bits)] for _ in range(20))
    for exponent in range(0, top, max(top // 400, 1)):  # all exponents, or many of them
        pair = [number(rng, digits, exponent_bits, exponent, exponent + 1) for _ in range(3)]
        yield pair
    for _ in range(60):
        yield halfway(rng, digits, exponent_bits)
        yield cancelling(rng, digits, exponent_bits)
        yield [number(rng, digits, exponent_bits) for _ in range(rng.randrange(1, 300))]
        near = rng.randrange(1, top - 3)
        yield [number(rng, digits, exponent_bits, near, near + 3) for _ in range(8)]
        yield [number(rng, digits, exponent_bits, 0, 3) for _ in range(rng.randrange(2, 30))]
        yield [number(rng, digits, exponent_bits, top - 2, top) for _ in range(rng.randrange(2, 9))]
    yield [number(rng, digits, exponent_bits, top // 2, top // 2 + 1) for _ in range(4000)]


@pytest.mark.long
def test_exact_sum():
    """Once: it knows nothing of an MPI."""
    programs = [b.folder / "tests" / "bin" / "unit" for b in builds.all_builds()]
    program = next((p for p in programs if p.exists()), None)
    if program is None:
        pytest.skip("unit is not built")
    rng = random.Random(20260101)
    lines, expected = [], []
    for name, (digits, exponent_bits, size) in FORMATS.items():
        for bits in cases(rng, digits, exponent_bits):
            rng.shuffle(bits)
            total = sum((value_of(b, digits, exponent_bits) for b in bits), Fraction(0))
            right = rounded(total, digits, exponent_bits)
            minus_zero = 1 << 8 * size - 1
            if total == 0 and all(b == minus_zero for b in bits):
                right = minus_zero
            words = " ".join(f"{b:0{2 * size}x}" for b in bits)
            for how in HOWS:
                lines.append(f"{how} {name} {words}")
                expected.append(f"{right:0{2 * size}x}")
    done = subprocess.run(
        [program, "test_exact_sum", "-"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    found = done.stdout.split()
    assert len(found) == len(expected) > 5000
    wrong = [(e, f, line[:300]) for e, f, line in zip(expected, found, lines) if e != f]
    assert not wrong, f"{len(wrong)} of {len(found)}: {wrong[:3]}"
