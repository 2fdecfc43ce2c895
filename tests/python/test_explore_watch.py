# SPDX-License-Identifier: BSD-3-Clause
"""When a run is ended, and what belongs to a run."""

import json
import os
import subprocess
import sys
import time

import pytest
from crestacoll_tools.explore import progress, runs, watch
from crestacoll_tools.race import race

START = {"event": "start", "arms": ["0:mpi", "1:shm"], "at_s": 0.1}
ROUND = {"event": "round", "phase": "screen", "steps": 2, "order": [0, 1, 1, 0], "at_s": 0.2}
ROUND |= {"step_s": [0.004, 0.003, 0.003, 0.004]}


@pytest.fixture
def follow(tmp_path):
    """A watch over a file to which `say` adds lines."""
    path = tmp_path / "log"

    def say(*events):
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(e) + "\n" for e in events)

    def make(**options):
        tail = race.Tail(path, ["mpi", "shm"])
        return watch.Watch(tail, progress.Lines(), **({"start_limit": 5} | options)), say

    return make


def test_a_program_without_first_step(follow):
    look, _ = follow()
    assert look(4) is None and look(6) == watch.NO_START


def test_a_race_that_is_over(follow):
    look, say = follow(wall_s=100)
    say(START, ROUND)
    assert look(1) is None
    say({"event": "end", "why": "verdict", "at_s": 3})
    assert look(3) == watch.DONE
    assert look(95) is None  # it ends by itself soon


def test_enough_steps(follow):
    look, say = follow(steps=16)
    say(START, ROUND)
    assert look(1) is None
    say(ROUND)
    assert look(1) == watch.DONE


def test_no_rhythm(follow):
    look, say = follow()
    say({"event": "none", "why": "x", "at_s": 1})
    assert look(1) == watch.NONE


def test_a_program_that_does_not_go_on(follow):
    look, say = follow(stall=2)
    say(START, ROUND)
    assert look(1) is None and look(2.9) is None
    assert look(4) == watch.STALLED


def test_slow_rounds_are_not_taken_for_a_hang(follow):
    look, say = follow(stall=2)
    say(START, ROUND | {"step_s": [1.0] * 4})
    assert look(1) is None and look(300) is None and look(500) == watch.STALLED


def test_a_long_first_round_is_not_taken_for_a_hang(follow):
    """Blocks that were planned by the fastest steps last longer on a busy machine."""
    phase = {"event": "phase", "phase": "screen", "arms": [0, 1], "steps": 1000, "at_s": 0.2}
    look, say = follow(stall=2, step_s=0.001)
    say(START, phase)
    assert look(1) is None and look(40) is None and look(42) == watch.STALLED
    look, say = follow(stall=2)  # nothing is known of earlier steps
    assert look(1) is None and look(4) == watch.STALLED


class Job:
    def __init__(self, *words):
        self.words = words

    def with_settings(self, settings):
        return self.words, settings


DETACHES = """
import mmap, os, subprocess, sys, time
words = [sys.executable, "-c", "import time; time.sleep(60)"]
child = subprocess.Popen(words, start_new_session=True)
path = "/dev/shm/crestacoll-test-" + str(os.getpid())
file = open(path, "w+b")
file.truncate(4096)
memory = mmap.mmap(file.fileno(), 4096)
print(child.pid, path, flush=True)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.05)
os.kill(os.getpid(), 11)
"""


@pytest.mark.parametrize("how, why", [("crash", "ended"), ("hang", "limit")])
def test_what_a_run_leaves_is_ended(how, why, tmp_path):
    """Also a process with a session of its own: it has the folder of the run in its environment."""
    job = Job(sys.executable, "-c", DETACHES, how, tmp_path / "go")
    said = tmp_path / "run" / "stdout"
    seen = []

    def watch(seconds):
        """The memory is looked for after 0.5 s, 1 s and so on: the crash comes after that."""
        if how == "crash" and said.read_text():
            seen.append(seconds)
            if seconds > max(1.0, 2.5 * seen[0]):
                (tmp_path / "go").touch()

    limit, ended = 1.0, None
    while not (ended and said.read_text()) and limit < 600:
        limit *= 2  # until the program had the time to begin
        ended = runs.run(job, {}, tmp_path / "run", 60.0 if how == "crash" else limit, watch)
    assert ended.why == why and ended.failed == (how == "crash")
    child, path = said.read_text().split()
    assert not os.path.exists(path)
    for _ in range(1200):
        if not running(int(child)):
            return
        time.sleep(0.05)
    pytest.fail("the process is still there")


def running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_every_run_reads_its_input_from_the_beginning(tmp_path):
    (tmp_path / "input").write_text("data\n")
    code = "import pathlib, sys; sys.path.insert(0, sys.argv.pop(1))"
    code += "; import test_explore_watch as t"
    code += "; here = pathlib.Path(sys.argv[1]); job = t.Job('cat')"
    code += "; [t.runs.run(job, {}, here / n, 10) for n in 'ab']"
    with open(tmp_path / "input", encoding="utf-8") as file:
        words = [sys.executable, "-c", code, os.path.dirname(__file__), str(tmp_path)]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run(words, stdin=file, check=True, env=env)
    assert [(tmp_path / n / "stdout").read_text() for n in "ab"] == ["data\n"] * 2


def test_what_the_progress_says():
    from crestacoll_tools.race.racestats import Difference

    sure = Difference(-0.187, -0.193, -0.181, -0.18, True, 40)
    unsure = Difference(-0.01, -0.05, 0.03, -0.01, True, 8)
    told = "shortest so far: shm, -18.7 % ± 0.6 %, not proved"
    assert progress.leads_text(("shm", sure)) == told
    assert "not proved" in progress.leads_text(("shm", unsure))
    assert progress.leads_text(None) == ""
    assert progress.clock(125.2) == "2:05"
