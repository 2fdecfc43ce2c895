# SPDX-License-Identifier: BSD-3-Clause
"""Races within a running program (CRESTA_RACE): its answers stay right, the results make sense."""

import json

import pytest
from library_runs import each_build, family_of, good, messages, models_of, run

pytestmark = [each_build, pytest.mark.by_turns]

STEPS = [
    *((kind, ranks) for kind in ("steps", "irregular", "comms", "begins", "begun", "rules")
      for ranks in (2, 3)),
    ("steps", 4),
    ("begins", 4),
]
NONE = {
    "chance": (1500, "no sequence of up to 64", {}),
    "threads": (300, "several threads", {}),
    "few": (5, "fewer than 16", {}),
    "steps": (300, "too soon to time the steps that it repeats", {"watch_ms": 1e8}),
}


def race(build, folder, kind, ranks=2, *, steps, arms=None, **settings):
    """Runs the program; the events of the race. Blocks of one step: nothing depends on time."""
    output, file = folder / "race.jsonl", folder / "race.txt"
    for old in folder.glob("race.jsonl*"):
        old.unlink()
    arms = arms or {name: f"*={name}" for name in models_of(build)}
    words = {"output": output, "watch_ms": 0, "block_ms": 0, "drop": 0, **settings}
    lines = ["crestacoll race 1", *(f"{word} {value}" for word, value in words.items())]
    lines += [f"arm {name} {rules}" for name, rules in arms.items()]
    file.write_text("\n".join(lines) + "\n")
    good(run(build, "race", kind, str(steps), ranks=ranks,
             env={"CRESTA_RACE": str(file), "CRESTA_FALLBACK": "silent"}))
    return events_of(output)


def events_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def of_kind(events, name):
    return [event for event in events if event["event"] == name]


def test_ranks_that_send_nothing_race_whatever_they_pass(build, tmp_path):
    arms = {name: f"allreduce={name}" for name in ("mpi", "p2p")}
    assert race(build, tmp_path, "nowhere", 3, steps=300, arms=arms)[-1]["why"] == "finalize"


@pytest.mark.parametrize("kind, ranks", STEPS)
def test_answers_stay_right(build, tmp_path, kind, ranks):
    if ranks > 3 and family_of(build) == "mpich":
        pytest.skip("ranks of MPICH hold the cores while they wait; four race under Open MPI")
    events = race(build, tmp_path, kind, ranks, steps=150)
    (start,) = of_kind(events, "start")
    assert start["ranks"] == ranks
    assert start["anchor"]["processes"] == ranks
    if ranks > 2:  # of two ranks, a row is as good
        assert start["anchor"]["communicator"] == "all"
        assert start["anchor"]["collective"] == "allreduce"
    arms = range(len(start["arms"]))
    assert sorted(event["arm"] for event in of_kind(events, "warm")) == list(arms)
    rounds = of_kind(events, "round")
    assert len(rounds) >= 3
    for one in rounds:
        assert sorted(one["order"]) == sorted([*arms, *arms])
        assert one["order"] == one["order"][::-1]
        assert all(seconds > 0 for seconds in one["step_s"])
    assert events[-1]["event"] == "end" and events[-1]["why"] == "finalize"


def test_the_arm_that_breaks_the_program_is_told(build, tmp_path):
    """It is the last word, although the rank that tells comes later to the first call under it than
    the one that crashes there.
    """
    output, file = tmp_path / "race.jsonl", tmp_path / "race.txt"
    lines = ["crestacoll race 1", f"output {output}", "watch_ms 0", "block_ms 0", "drop 0"]
    lines += ["arm a *=mpi", "arm b *=p2p", "arm c alltoall=nonblock"]
    file.write_text("\n".join(lines) + "\n")
    preload = [build / "lib" / f"lib{name}.so" for name in ("crestacoll-preload", "late_calls")]
    done = run(build, "plain_steps", "200", "uneven",
               env={"CRESTA_RACE": str(file), "LATE": "crash",
                    "LD_PRELOAD": ":".join(map(str, preload))})
    assert done.returncode != 0
    last = events_of(output)[-1]
    assert (last["event"], last["arm"]) == ("first", 2)


@pytest.mark.parametrize("kind", NONE)
def test_no_steps_are_found(build, tmp_path, kind):
    steps, why, settings = NONE[kind]
    events = race(build, tmp_path, kind, steps=steps, **settings)
    assert [event["event"] for event in events] == ["none"]
    assert why in events[0]["why"] and events[0]["repeats"] == (kind == "steps")


def test_the_communicator_of_the_steps_is_freed(build, tmp_path):
    events = race(build, tmp_path, "lost", 3, steps=300)
    assert of_kind(events, "round")
    assert events[-1]["event"] == "end" and "freed" in events[-1]["why"]


def test_another_order_with_another_seed(build, tmp_path):
    orders = [
        [tuple(event["order"]) for event in of_kind(race(build, tmp_path, "steps", seed=seed,
                                                         steps=160), "round")]
        for seed in (1, 1, 2)
    ]
    shortest = min(map(len, orders))  # on a machine with load, there are fewer
    assert shortest >= 2
    first, again, other = (order[:shortest] for order in orders)
    assert first == again != other


def seen_alike(events, names, values):
    """{what a rank calls it: what it saw}."""
    made = {}
    for event in events:
        words = [event[name] for name in names]
        key = json.dumps([event["communicator"], event["processes"], *words])
        assert key not in made, f"twice: {key}"
        made[key] = [event[value] for value in values]
    return made


POINT = ("collective", "bytes_min")


@pytest.mark.parametrize("kind, ranks", [
    ("comms", 3),
    ("begins", 3),
    ("threads", 2),
])
def test_arms_take_turns_by_calls(build, tmp_path, kind, ranks):
    """Answers stay right, and what ranks of one communicator see is the same."""
    first = race(build, tmp_path, kind, ranks, steps=150, calls=2, youth=5)
    (start,) = of_kind(first, "turns")
    arms = range(len(start["arms"]))
    assert start["ranks"] == ranks
    files = [first, *(events_of(tmp_path / f"race.jsonl.{rank}") for rank in range(1, ranks))]
    turns, youths = {}, {}
    for events in files:
        for one in of_kind(events, "turn"):
            assert sorted(one["order"]) == sorted([*arms, *arms])
            assert all(seconds > 0 for seconds in one["call_s"]) and one["calls"] >= 1
        seen = seen_alike(of_kind(events, "turn"), (*POINT, "round"), ("order", "calls"))
        assert all(turns.setdefault(key, what) == what for key, what in seen.items())
        seen = seen_alike(of_kind(events, "youth"), POINT, ("arm", "calls"))
        assert all(youths.setdefault(key, what) == what for key, what in seen.items())
    assert turns and {arm for arm, _ in youths.values()} <= set(arms)
    if kind == "comms":  # each of these lives for two calls
        assert {arm for arm, _ in youths.values()} == set(arms)
    assert {event["arm"] for event in of_kind(first, "first")} == set(arms)


WRONG = [
    ("something else", ["line 1", "crestacoll race 1"]),
    ("crestacoll race 1\narm a *=mpi\n", ["two arms"]),
    ("crestacoll race 1\narm a *=mpi\narm a *=p2p\n", ["line 3", "two arms have the name a"]),
    ("crestacoll race 1\narm a *=nonsense\n", ["line 2", "nonsense"]),
    ("crestacoll race 1\nseconds soon\n", ["line 2", "soon"]),
    ("crestacoll race 1\nspeed 3\n", ["line 2", "speed"]),
    ("crestacoll race 1\n" + "".join(f"arm a{i} *=mpi\n" for i in range(17)), ["line 18", "16"]),
]


@pytest.mark.parametrize("text, words", WRONG, ids=[words[0] for _, words in WRONG])
def test_a_wrong_file_stops_the_job(build, tmp_path, text, words):
    file = tmp_path / "race.txt"
    file.write_text(text)
    done = run(build, "race", "steps", "20", env={"CRESTA_RACE": str(file)})
    assert done.returncode != 0
    assert len(messages(done)) == 1, done.stderr
    assert all(word in done.stderr for word in words), done.stderr


def test_another_file_on_another_rank(build, tmp_path):
    files = [tmp_path / "a", tmp_path / "b"]
    for seed, file in enumerate(files):
        file.write_text(f"crestacoll race 1\nseed {seed}\narm a *=mpi\narm b *=p2p\n")
    done = run(build, "race", "steps", "20", ranks=3, env={"CRESTA_RACE": str(files[0])},
               rank_env={2: {"CRESTA_RACE": str(files[1])}})
    assert done.returncode != 0
    assert "must be the same on all ranks" in done.stderr and "CRESTA_RACE" in done.stderr
