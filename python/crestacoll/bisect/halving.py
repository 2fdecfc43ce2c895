# SPDX-License-Identifier: BSD-3-Clause
"""The search: one of several settings, or the program itself, is to blame for a bad run."""

import math

PROGRAM = None  # the program itself: bad whatever is set


def most_runs(count):
    """Of the search among `count` settings and the program itself."""
    return math.ceil(math.log2(count + 1))


def search(count, is_bad):
    """The number of the setting to blame, or PROGRAM, if the run with all of them was bad.
    `is_bad(on)` runs the program with the settings whose numbers are in `on` and no others. The
    program comes first, so that it is blamed only if a run without any setting was bad as well.
    """
    suspects = [PROGRAM, *range(count)]
    while len(suspects) > 1:
        half = suspects[: (len(suspects) + 1) // 2]
        bad = is_bad([s for s in half if s is not PROGRAM])
        suspects = half if bad else suspects[len(half) :]
    return suspects[0]
