# SPDX-License-Identifier: BSD-3-Clause
"""The search: one of several settings, or the program itself, is to blame for a bad run."""

import math

PROGRAM = None  # the program itself: bad whatever is set


def most_runs(count):
    """The most runs that a search among `count` settings takes."""
    return math.ceil(math.log2(count)) if count > 0 else 0


def first_suspects(count):
    """Groups that the search tells apart: each setting, and the program. Where this took one run
    more than the settings alone, the program shares the group of the first setting.
    """
    settings = [(i,) for i in range(count)]
    if count > 0 and 2 ** most_runs(count) == count:
        return [(PROGRAM, 0), *settings[1:]]
    return [(PROGRAM,), *settings]


def search(count, is_bad):
    """The group of what is to blame, if the run with all settings was bad: the number of one
    setting, or PROGRAM, or both, of which one is. `is_bad(on)` runs the program with the settings
    whose numbers are in `on` and no others. The program comes first, so that it is blamed only if
    all runs were bad.
    """
    suspects = first_suspects(count)
    while len(suspects) > 1:
        half = suspects[: (len(suspects) + 1) // 2]
        bad = is_bad([s for group in half for s in group if s is not PROGRAM])
        suspects = half if bad else suspects[len(half) :]
    return suspects[0]
