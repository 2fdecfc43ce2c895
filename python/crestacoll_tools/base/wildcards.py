# SPDX-License-Identifier: BSD-3-Clause
"""Patterns of names, in which * stands for any characters."""


def common(a, b):
    """True if some name matches both patterns."""
    reached = {(0, 0)}
    while reached:
        following = set()
        for i, j in reached:
            one, other = a[i : i + 1], b[j : j + 1]
            if not one and not other:
                return True
            if one == "*":
                following.add((i + 1, j))
                if other:
                    following.add((i, j + 1))
            if other == "*":
                following.add((i, j + 1))
                if one:
                    following.add((i + 1, j))
            if one == other and one:
                following.add((i + 1, j + 1))
        reached = following
    return False
