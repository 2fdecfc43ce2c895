# SPDX-License-Identifier: BSD-3-Clause
"""How an interval of a difference, or of a gain, is shown."""

VAGUE = 16  # times the lower end of what was compared is the upper one: that says nothing
TOO_WIDE = "too wide to tell"


def is_vague(low, high):
    """Whether an interval (fractions) leaves room for any difference, as few rounds may do."""
    return 1 + high > VAGUE * (1 + low)


def of_difference(low, high):
    """In per cent, with signs."""
    if is_vague(low, high):
        return TOO_WIDE
    return f"{100 * low:+.1f} to {100 * high:+.1f}"


def of_gain(low, high):
    """In per cent: above 0 is faster."""
    if is_vague(-high, -low):
        return TOO_WIDE
    return f"{100 * low:.1f} to {100 * high:.1f}"


def with_unit(text):
    return text if text == TOO_WIDE else f"{text} %"
