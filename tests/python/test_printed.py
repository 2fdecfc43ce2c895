# SPDX-License-Identifier: BSD-3-Clause
"""What runs print, compared word by word; what varies between plain runs says nothing."""

import pytest
from crestacoll_tools.explore import words
from crestacoll_tools.race import printed


def compare(found, *plains, tolerance=0.0):
    told = printed.compare(plains, found, tolerance)
    return told.words, told.left_out, told.difference


def test_numbers_are_compared_by_value():
    assert compare("sum 1e1 = 10\n", "sum 10.00 = 10\n") == (4, 0, "")
    assert compare("sum 11\n", "sum 10\n") == (2, 0, "'sum 10' became 'sum 11'")
    assert compare("sum 10.1\n", "sum 10\n", tolerance=0.1)[2] == ""
    assert compare("sum nan\n", "sum 10\n")[2] == "0 lines like 'sum 10' in place of 1"


def test_what_varies_by_itself_is_left_out():
    plains = "time 3 s, error 1e-9\n", "time 4 s, error 1e-9\n"
    assert compare("time 7 s, error 1e-9\n", *plains) == (4, 1, "")
    assert compare("time 7 s, error 1e-8\n", *plains)[2] == (
        "'time 3 s, error 1e-9' became 'time 7 s, error 1e-8'"
    )
    assert compare("waiting\nwaiting\nend\n", "waiting\nend\n", "end\n") == (1, 2, "")


def test_ranks_print_in_any_order():
    one, other = "rank 0 sum 6\nrank 1 sum 8\n", "rank 1 sum 8\nrank 0 sum 6\n"
    assert compare(other, one, other) == (8, 0, "")
    assert compare("rank 1 sum 6\nrank 0 sum 8\n", one, other)[2] != ""


def test_an_order_that_does_not_vary_counts():
    assert compare("x 2\nx 1\n", "x 1\nx 2\n", "x 1\nx 2\n")[2] == "'x 1' became 'x 2'"


def test_lines_that_are_missing_or_new():
    assert compare("a\n", "a\nb\n", "a\nb\n")[2] == "0 lines like 'b' in place of 1"
    assert compare("a\nb\n", "a\n")[2] == "1 line like 'b' in place of 0"


@pytest.mark.parametrize(
    "data, said",
    [
        ({"words": 7, "left_out": 2, "plain_runs": 3, "same": True}, "7 words compared, numbers"),
        ({"words": 0, "left_out": 2, "plain_runs": 2, "same": True}, "were not compared: no two"),
        ({"words": 7, "left_out": 0, "plain_runs": 1, "same": False}, "no time for another plain"),
        ({"words": 7, "left_out": 1, "plain_runs": 2, "same": False}, "where 2 plain runs print"),
        ({"same": False}, "does not print the same"),
    ],
)
def test_how_it_is_told(data, said):
    told = {"plain": "p", "tuned": "t", "difference": "'a' became 'b'"} | data
    assert said in words.printed(told)
