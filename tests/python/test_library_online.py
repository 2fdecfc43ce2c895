# SPDX-License-Identifier: BSD-3-Clause
"""CRESTA_ONLINE and CRESTA_GUARD: a choice that is made while the program runs.

The MPI's own call is made late where a test needs to know what is best (tests/mpi/late_calls.c).
"""

import json

import pytest
from library_runs import each_build, good, messages, run

pytestmark = each_build

# Blocks of one step, so that little depends on time; trying may cost what it likes.
QUICK = {"block_ms": 0, "watch_ms": 0, "regret": 1, "guard": 0.5}


def online(build, folder, kind="steps", steps=1500, late="", ranks=2, settings=QUICK, **env):
    """Runs the plain program, preloaded; its messages and the events of its races."""
    output, file = folder / "online.jsonl", folder / "online.txt"
    lines = ["crestacoll race 1", f"output {output}"]
    file.write_text("\n".join(lines + [f"{word} {n}" for word, n in settings.items()]) + "\n")
    behind = [str(build / "lib" / "liblate_calls.so")] if late else []
    preload = [str(build / "lib" / "libcrestacoll-preload.so"), *behind]
    environment = {"CRESTA_RACE": str(file), "LATE": late, "LD_PRELOAD": ":".join(preload), **env}
    done = good(run(build, "plain_steps", str(steps), kind, ranks=ranks, env=environment))
    return messages(done), [json.loads(line) for line in output.read_text().splitlines()]


def of_kind(events, name):
    return [event for event in events if event["event"] == name]


@pytest.mark.nightly
def test_what_is_better_is_found(build, tmp_path):
    said, events = online(build, tmp_path, late="alltoall", CRESTA_ONLINE="1")
    (end,) = of_kind(events, "online")
    assert end["arm"] != 0 and end["high"] < -0.1
    assert of_kind(events, "verdict")
    assert "less time" in said[0] and "alltoall=" in said[0]
    assert "allreduce" not in said[0]  # a sum keeps its order
    assert "the trials took" in said[1]


def test_reductions_of_integers_take_part_and_no_others(build, tmp_path):
    """The program compares the bits of its sums, while the arms take turns."""
    profile = tmp_path / "p.json"
    _, events = online(build, tmp_path, "counts", ranks=3, steps=100, CRESTA_ONLINE="1",
                       CRESTA_PROFILE=str(profile))
    assert of_kind(events, "warm")
    ran = {}
    for record in json.loads(profile.read_text())["records"]:
        if record["collective"] == "allreduce" and record["calls"] > 0:
            ran.setdefault(record["bytes_min"], set()).add(record["implementation"])
    integers, floating = ran[4], ran[256]
    assert {"mpi", "nonblock"} < integers and any(i.startswith("shm") for i in integers), ran
    assert floating == {"mpi"}, ran


def test_what_is_chosen_is_left_alone(build, tmp_path):
    said, events = online(build, tmp_path, steps=200, CRESTA_ONLINE="1",
                          CRESTA_IMPL="*=p2p", CRESTA_LOG="info")
    assert of_kind(events, "online")
    chosen = [line for line in said if "alltoall" in line and "CRESTA_ONLINE" not in line]
    assert chosen and all("p2p" in line for line in chosen), said


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["phases", "freed"])
def test_another_phase_has_other_steps(build, tmp_path, kind):
    _, events = online(build, tmp_path, kind, late="alltoall", CRESTA_ONLINE="1",
                       CRESTA_GUARD="on")
    starts = of_kind(events, "start")
    assert len(starts) >= 2
    assert of_kind(events, "online")


@pytest.mark.nightly
def test_the_guard_leaves_what_turned_bad(build, tmp_path):
    said, events = online(build, tmp_path, late="ialltoall", steps=4000, CRESTA_GUARD="on",
                          CRESTA_IMPL="*=nonblock")
    (end,) = of_kind(events, "online")
    assert end["arm"] == 1 and end["high"] < 0
    assert any("alltoall=mpi" in line for line in said), said


@pytest.mark.nightly
def test_the_guard_keeps_what_is_good(build, tmp_path):
    said, events = online(build, tmp_path, late="alltoall", steps=600, CRESTA_GUARD="on",
                          CRESTA_IMPL="*=nonblock")
    assert of_kind(events, "online")[0]["arm"] == 0
    assert of_kind(events, "round")
    assert any("stays" in line for line in said), said


@pytest.mark.parametrize("ranks", [2, 3])
def test_too_few_steps(build, tmp_path, ranks):
    said, events = online(build, tmp_path, steps=5, ranks=ranks, CRESTA_ONLINE="1")
    assert [event["event"] for event in events] == ["none"]
    assert "fewer than 16" in said[0]


def test_a_file_with_arms_is_for_races(build, tmp_path):
    file = tmp_path / "race.txt"
    file.write_text("crestacoll race 1\narm a *=mpi\narm b *=p2p\n")
    done = run(build, "plain_steps", "20", preload=True,
               env={"CRESTA_RACE": str(file), "CRESTA_ONLINE": "1"})
    assert done.returncode != 0
    assert "arms of their own" in done.stderr
    assert len(messages(done)) == 1


@pytest.mark.parametrize("name, value, words", [("ONLINE", "yes", "0 or 1"),
                                                ("GUARD", "1", "on or off")])
def test_wrong_values(build, name, value, words):
    done = run(build, "plain_steps", "20", preload=True, env={f"CRESTA_{name}": value})
    assert done.returncode != 0
    assert words in done.stderr and f"CRESTA_{name}" in done.stderr
