# SPDX-License-Identifier: BSD-3-Clause
"""Races by calls: what the files of all ranks say together."""

import json

import pytest
from crestacoll_tools.race import turns
from crestacoll_tools.race.race import Arm, Race

PLACE = {"collective": "alltoall", "bytes_min": 64, "processes": 2}
ROW = ("alltoall", 64, 2)


def turn(number, call_s, communicator=(1, 0)):
    return {"event": "turn", **PLACE, "communicator": communicator, "round": number, "calls": 3,
            "order": [0, 1, 1, 0], "call_s": call_s}  # fmt: skip


def youth(number, arm, call_s):
    return {"event": "youth", **PLACE, "communicator": (number, 0), "arm": arm, "calls": 10,
            "call_s": call_s}  # fmt: skip


def write(path, *events, rest=""):
    path.write_text("".join(json.dumps(e) + "\n" for e in events) + rest)


def test_rounds_are_means_over_ranks_and_blocks(tmp_path):
    head = {"event": "turns", "mpi": "x", "ranks": 2, "arms": ["a", "b"]}
    write(tmp_path / "r", head, turn(0, [1, 2, 4, 3]), turn(1, [1, 1, 1, 1]))
    write(tmp_path / "r.1", turn(0, [3, 6, 8, 5]), rest='{"event": "tu')
    found = turns.read(tmp_path / "r")
    assert found.of(ROW) == [{0: 3.0, 1: 5.0}, {0: 1.0, 1: 1.0}]
    assert found.started and found.ranks == 2 and found.bad == 0


def test_communicators_that_live_for_a_few_calls(tmp_path):
    """Those of a window are compared; the turns of one that lives long count less here."""
    lives = [youth(n, n % 2, 2.0 if n % 2 else 1.0) for n in range(16)]
    write(tmp_path / "r", *lives, turn(0, [1, 1, 1, 1]))
    assert turns.read(tmp_path / "r").of(ROW) == [{0: 1.0, 1: 2.0}, {0: 1.0, 1: 2.0}]
    write(tmp_path / "r", *lives[:1], turn(0, [1, 3, 3, 1]))
    assert turns.read(tmp_path / "r").of(ROW) == [{0: 1.0, 1: 3.0}]


def test_what_ran_first_with_nothing_behind_it(tmp_path):
    first = {"event": "first", **PLACE, "communicator": (1, 0), "arm": 1}
    write(tmp_path / "r", first)
    write(tmp_path / "r.1", first, turn(0, [1, 1, 1, 1]))
    assert turns.read(tmp_path / "r").last == {(1, ROW)}


@pytest.mark.parametrize("line", ["7", "{}", '{"event": "turn"}', "nonsense", '{"event": "first"}'])
def test_what_cannot_be_read_is_counted(line, tmp_path):
    write(tmp_path / "r", turn(0, [1, 2, 2, 1]), rest=line + "\n")
    found = turns.read(tmp_path / "r")
    assert found.bad == 1 and found.of(ROW) == [{0: 1.0, 1: 2.0}]


def test_no_file(tmp_path):
    assert turns.read(tmp_path / "none").of(ROW) == []


def test_what_is_asked_for():
    arms = (Arm("mpi", "*=mpi", 0), Arm("1", "*=shm", 1))
    text = Race(arms, calls=4, youth=8).text("out")
    assert "calls 4\nyouth 8\n" in text
    assert "calls" not in Race(arms).text("out")
