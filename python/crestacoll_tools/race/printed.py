# SPDX-License-Identifier: BSD-3-Clause
"""Whether a run printed what plain runs print. Words in which these differ among themselves, such
as times, say nothing; the others are compared, numbers by their value.
"""

import re
from dataclasses import dataclass

from crestacoll_tools.base.text import counted

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")


@dataclass
class Compared:
    """How many words were compared and how many left out; the first that differ, as text, or ""."""

    words: int = 0
    left_out: int = 0
    difference: str = ""


def value(number):
    return float(number.lower().replace("d", "e"))


def near(a, b, tolerance):
    """Two numbers as text, the same or no further apart than the larger one times tolerance."""
    x, y = value(a), value(b)
    return x == y or abs(x - y) <= tolerance * max(abs(x), abs(y))


def same_word(a, b, tolerance=0.0):
    if a == b:
        return True
    if NUMBER.split(a) != NUMBER.split(b):
        return False
    return all(near(x, y, tolerance) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))


def by_shape(text):
    """{a line without its numbers: [words of each such line, as they come]}"""
    found = {}
    for line in text.splitlines():
        if line.strip():
            shape = tuple(NUMBER.sub("#", word) for word in line.split())
            found.setdefault(shape, []).append(line.split())
    return found


def in_order(rows):
    """Lines that differ in numbers only, in the order of these."""
    return sorted(rows, key=lambda row: [[value(n) for n in NUMBER.findall(w)] for w in row])


def varying(plains, tolerance):
    """[(line, word)] in which plain runs differ."""
    first = plains[0]
    return {
        (i, j)
        for i, row in enumerate(first)
        for j, word in enumerate(row)
        if not all(same_word(word, other[i][j], tolerance) for other in plains[1:])
    }


def compare_like(plains, found, tolerance, told):
    """Lines of one shape, of which all runs have as many. Where plain runs print them in an order
    that varies, as ranks do, the order does not count.
    """
    vary = varying(plains, tolerance)
    if vary:
        ordered = [in_order(rows) for rows in plains]
        less = varying(ordered, tolerance)
        if len(less) < len(vary):
            plains, found, vary = ordered, in_order(found), less
    for i, row in enumerate(plains[0]):
        for j, word in enumerate(row):
            if (i, j) in vary:
                told.left_out += 1
                continue
            told.words += 1
            if not told.difference and not same_word(word, found[i][j], tolerance):
                told.difference = f"'{' '.join(row)}' became '{' '.join(found[i])}'"


def compare(plains, found, tolerance=0.0):
    """What a run printed, against all that plain runs did."""
    told, lines = Compared(), [by_shape(text) for text in plains]
    new = by_shape(found)
    for shape in {**lines[0], **new}:
        numbers = {len(of_one.get(shape, ())) for of_one in lines}
        here = new.get(shape, [])
        if len(numbers) > 1:
            told.left_out += len(shape) * len(here)
        elif numbers != {len(here)}:
            was, rows = lines[0].get(shape, []), numbers.pop()
            what = " ".join((was or here)[0])
            told.words += len(shape) * max(rows, len(here))
            told.difference = told.difference or (
                f"{counted(len(here), 'line')} like '{what}' in place of {rows}"
            )
        else:
            compare_like([of_one[shape] for of_one in lines], here, tolerance, told)
    return told
