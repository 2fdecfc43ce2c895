# SPDX-License-Identifier: BSD-3-Clause
"""Sizes as people write them: 8, 4K, 1M; ranges 8:2M, 8:2M:x4; lists of both. K = 1024, as in the
rules.
"""

import re

import click

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_size(text):
    m = re.fullmatch(r"(\d+)([KMG]?)(i?B)?", text.strip(), re.IGNORECASE)
    if not m:
        raise ValueError(f"'{text}' is not a size (write for example 8, 4K, 1M)")
    return int(m[1]) * UNITS[m[2].upper()]


def parse_range(text):
    """'8:2M' -> 8, 16, ... 2M; '8:2M:x4' -> 8, 32, ..."""
    parts = text.split(":")
    if len(parts) == 1:
        return [parse_size(text)]
    step = 2
    if len(parts) == 3 and re.fullmatch(r"x?\d+", parts[2].strip(), re.IGNORECASE):
        step = int(parts[2].strip().lower().lstrip("x"))
    elif len(parts) != 2:
        raise ValueError(
            f"'{text}' is not a range (write FIRST:LAST or FIRST:LAST:xFACTOR, for example 8:2M:x4)"
        )
    first, last = parse_size(parts[0]), parse_size(parts[1])
    if step < 2:
        raise ValueError(f"'{text}': the factor must be at least 2")
    if first > last:
        raise ValueError(f"'{text}': the first size is above the last")
    sizes = [0] if first == 0 else []
    at = first or 1
    while at <= last:
        sizes.append(at)
        at *= step
    return sizes


def parse_sizes(text):
    """A list of sizes and ranges, each size once, in the order given."""
    found = [size for part in text.split(",") if part.strip() for size in parse_range(part)]
    if not found:
        raise ValueError("no size given")
    return list(dict.fromkeys(found))


def format_size(n):
    """4096 -> '4K'; what is no multiple of 1024 stays a number of bytes."""
    for unit in "GMK":
        if n and n % UNITS[unit] == 0:
            return f"{n // UNITS[unit]}{unit}"
    return str(n)


def format_amount(n):
    """About so many bytes, in three digits: 1234567 -> '1.18M'."""
    unit = next((u for u in "GMK" if n >= UNITS[u]), "")
    value = n / UNITS[unit]
    digits = 0 if not unit or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f}{unit}"


def format_class(low, high):
    """A size class of a profile: '4K-8K' for 4096..8191 bytes."""
    if low == high:
        return format_size(low)
    if high is None:
        return f"{format_size(low)}-inf"
    return f"{format_size(low)}-{format_size(high + 1)}"


class Sizes(click.ParamType):
    name = "sizes"

    def convert(self, value, param, ctx):
        if isinstance(value, list):
            return value
        try:
            return parse_sizes(value)
        except ValueError as e:
            self.fail(str(e), param, ctx)


class Size(click.ParamType):
    name = "size"

    def convert(self, value, param, ctx):
        if isinstance(value, int):
            return value
        try:
            return parse_size(value)
        except ValueError as e:
            self.fail(str(e), param, ctx)
