# SPDX-License-Identifier: BSD-3-Clause
"""The files of a race: what is asked for, and the lines that come back, whole or cut."""

import json

import pytest
from crestacoll_tools.race import race

ARMS = (race.Arm("mpi", "*=mpi"), race.Arm("shm", "alltoall[0-64](2)@my row=shm,*=mpi", 3))
START = {"event": "start", "arms": ["mpi", "shm"], "at_s": 0.8, "ranks": 2}


def around(order, seconds, phase="screen", at=1.0):
    found = {"event": "round", "phase": phase, "steps": 2, "order": order, "step_s": seconds}
    return found | {"at_s": at}


def test_the_file_that_asks_for_a_race(tmp_path):
    asked = race.Race(ARMS, seconds=20, seed=17, block_ms=1, drop=True, confirm=False)
    asked.write(tmp_path / "race", "/some where/race.jsonl")
    assert (tmp_path / "race").read_text().splitlines() == [
        "crestacoll race 1",
        "output /some where/race.jsonl",
        "seconds 20",
        "seed 17",
        "block_ms 1",
        "watch_ms 500",
        "drop 1",
        "confirm 0",
        "arm 0:mpi *=mpi",
        "arm 3:shm alltoall[0-64](2)@my row=shm,*=mpi",
    ]


@pytest.mark.parametrize("count", [1, 17])
def test_a_race_has_2_to_16_arms(count):
    arms = tuple(race.Arm(f"a{i}", "*=mpi") for i in range(count))
    with pytest.raises(ValueError, match="2 to 16 arms"):
        race.Race(arms).text("out")


def test_names_that_the_library_takes():
    """At most 31 characters that can be printed; the number makes them unique."""
    names = ["mpi", "a" * 40, 'b\u00fc "x\\', "a" * 40]
    labels = [race.Arm(n, "*=mpi", i).label for i, n in enumerate(names)]
    assert labels == ["0:mpi", "1:" + "a" * 29, "2:b___x_", "3:" + "a" * 29]
    log = race.Log(names, start={"arms": labels})
    assert log.names == names
    assert race.Log(start={"arms": ["mpi", "9:x", "x:9"]}).names == ["mpi", "9:x", "x:9"]


def test_rounds_by_arm(tmp_path):
    events = [
        START,
        {"event": "warm", "arm": 1, "first_s": 0.012, "at_s": 1.0},
        around([1, 0, 0, 1], [0.003, 0.004, 0.006, 0.001]),
        {"event": "phase", "phase": "confirm", "arms": [0, 1], "steps": 20, "at_s": 3},
        around([0, 1], [0.004, 0.003], "confirm", 4.0),
        {"event": "drop", "arm": 1, "rounds": 16, "difference": 0.1, "low": 0, "high": 0.2},
        {"event": "something new", "at_s": 5},
        {"event": "end", "why": "seconds", "at_s": 6.5},
    ]
    (tmp_path / "log").write_text("".join(json.dumps(e) + "\n" for e in events))
    log = race.read(tmp_path / "log")
    assert log.means() == [
        {"shm": pytest.approx(0.002), "mpi": pytest.approx(0.005)},
        {"mpi": 0.004, "shm": 0.003},
    ]
    assert log.means("confirm") == [{"mpi": 0.004, "shm": 0.003}]
    assert log.warm == {"shm": 0.012} and set(log.dropped) == {"shm"}
    assert log.steps == 2 * 4 + 2 * 2 and log.racing_s == pytest.approx(2 * 0.014 + 2 * 0.007)
    assert log.step_s == 0.005
    assert log.end["why"] == "seconds" and log.at_s == 6.5 and log.bad == 0


def test_a_log_that_is_cut_in_the_middle_of_a_line(tmp_path):
    """At every byte: only whole lines count, and the rest comes later."""
    lines = [START, around([0, 1], [0.004, 0.003]), around([1, 0], [0.003, 0.004])]
    text = "".join(json.dumps(e) + "\n" for e in lines).encode()
    path, whole = tmp_path / "log", text.rindex(b"\n", 0, -1) + 1
    for cut in range(len(text)):
        path.write_bytes(text[:cut])
        tail = race.Tail(path)
        tail.read()
        assert len(tail.log.rounds) <= 1 + (cut >= len(text)) and tail.log.bad == 0
        assert len(tail.log.rounds) == 1 or cut < whole
        path.write_bytes(text)
        assert tail.read()
        assert len(tail.log.rounds) == 2 and tail.log.bad == 0
    assert not tail.read()


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "1",
        '{"event": "round", "steps": 1, "order": [0], "step_s": [], "at_s": 1}',
        '{"event": "round", "steps": 1, "order": [7], "step_s": [1], "at_s": 1}',
        '{"event": "round", "steps": 1, "order": ["a"], "step_s": [1], "at_s": 1}',
        '{"event": "warm", "arm": 9, "first_s": 1, "at_s": 1}',
        '{"event": "start"}',
    ],
)
def test_bad_lines_are_counted_and_change_nothing(line, tmp_path):
    after = around([0, 1], [0.004, 0.003])
    (tmp_path / "log").write_text(f"{json.dumps(START)}\n{line}\n{json.dumps(after)}\n")
    log = race.read(tmp_path / "log")
    assert log.bad == 1 and len(log.rounds) == 1


def test_a_log_that_is_not_there_yet(tmp_path):
    tail = race.Tail(tmp_path / "log")
    assert not tail.read() and tail.log.start is None and tail.log.means() == []
