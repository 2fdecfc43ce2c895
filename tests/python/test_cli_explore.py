# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll explore` with a stand-in for program and library: what it finds, what it says, what
it leaves, and going on after an interruption.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from crestacoll_tools import schemas
from crestacoll_tools.cli import explore as cli
from crestacoll_tools.explain import explanation
from crestacoll_tools.explore import bycalls, draw, outcome, search, watch
from crestacoll_tools.pages import plots
from crestacoll_tools.report import reportfiles, reportpage
from crestacoll_tools.rules import points
from fake_job import FAKE, FakeJob


def not_drawn(figure, label):
    draw.plt.close(figure)
    return "<svg/>"


@pytest.fixture
def explore(tmp_path, monkeypatch):
    """Runs the sub-command; the budget is short. Pictures of the report are written, which takes
    longer than the rest, if they are `drawn`: for each kind of report once.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "Job", FakeJob)
    monkeypatch.setattr(search, "LEAST", 0.2)
    monkeypatch.setattr(search, "MOST_RUNS", 3)
    monkeypatch.setattr(bycalls, "MOST_RUNS", 4)

    def run(*words, budget="6s", code=0, drawn=False):
        monkeypatch.setattr(draw, "to_svg", plots.to_svg if drawn else not_drawn)
        done = CliRunner().invoke(cli.command, ["--budget", budget, *words])
        seconds = 6
        while done.exit_code != code and "no whole run fitted" in done.output and seconds < 90:
            seconds *= 2  # on a machine with load
            shutil.rmtree("crestacoll-explore")
            done = CliRunner().invoke(cli.command, ["--budget", f"{seconds}s", *words])
        assert done.exit_code == code, done.output
        return " ".join(done.output.split())

    return run


def result(folder="crestacoll-explore"):
    found = json.loads(Path(folder, "state.json").read_text())["result"]
    assert schemas.problems("explore", found) == []
    return found


def patiently(explore, enough, *words, budget=6, **more):
    """What explore says once the budget was enough for whole runs: on a machine with load it takes
    more, of which nothing is known here."""
    text = explore(*words, budget=f"{budget}s", **more)
    while not enough(text) and budget < 90:
        budget *= 2
        shutil.rmtree("crestacoll-explore")
        text = explore(*words, budget=f"{budget}s", **more)
    return text


def test_the_best_choice_is_found_and_proved(explore, tmp_path):
    """alltoall gains with shm, more with an algorithm of it; allreduce with p2p, not with shm."""
    text = patiently(explore, lambda text: "byte by byte" in text, "--", "good", drawn=True)
    found = result()
    assert found["verdict"] == "faster"
    assert [r["rule"] for r in found["rules"]] == [
        "allreduce[8-15](2)@MPI_COMM_WORLD=p2p",
        "alltoall[4096-8191](2)@row=shm:pairwise",
    ]
    shown = [r["earned"]["arms"] for r in found["rules"]]
    assert shown == [["mpi", "p2p"], ["shm", "shm:pairwise"]]
    assert [r["changes_rounding"] for r in found["rules"]] == [True, False]
    assert found["step"]["gain"] == pytest.approx(0.30, abs=0.02)
    assert found["step"]["low"] - 0.01 < 0.30 < found["step"]["high"] + 0.01
    assert found["run"]["share"] == pytest.approx(0.95)
    assert "With 2 rules, a time step of this program takes " in text and "% less time" in text
    assert "byte by byte" in text and "last digits: allreduce" in text
    rules = (tmp_path / "crestacoll-explore" / "rules").read_text().splitlines()
    assert rules[0].startswith("# ") and rules[-1] == "*=mpi"
    page = (tmp_path / "crestacoll-explore" / "report.html").read_text()
    assert "less time" in page and "<svg" in page
    assert not re.search(r"(src|href)=.https?:|@import|<script", page)
    assert os.listdir(tmp_path) == ["crestacoll-explore"]
    is_explained("crestacoll-explore")
    section = reportpage.explore_section(reportfiles.read("crestacoll-explore"))
    assert "less time" in section["headline"] and "<h3>The proof</h3>" in section["body"]


def test_checks_are_not_timed(explore, tmp_path, monkeypatch):
    """They would count for the implementations that they check."""
    monkeypatch.setenv("CRESTA_VALIDATE", "1:0.5")
    seen = []

    def with_settings(job, settings):
        seen.append(settings)
        return job.words, settings

    monkeypatch.setattr(FakeJob, "with_settings", with_settings)
    text = explore("--", "good")
    assert "without CRESTA_VALIDATE" in text
    assert seen and not any("CRESTA_VALIDATE" in settings for settings in seen)
    assert "CRESTA_VALIDATE" not in os.environ


def is_explained(folder):
    """What `explain` and `report -o` say of the same exploration."""
    point, others = explanation.at_point(folder, points.Point("alltoall", 4096, 4096))
    assert (point["implementation"], others) == ("shm:pairwise", 0)
    assert point["decided"].startswith("alltoall[4096-8191](2)@row=shm:pairwise, a rule of the")
    rows = {(r["race"], r["implementation"]): r for r in point["measured"]}
    assert rows["algorithms", "shm:pairwise"]["chosen"]
    slower = rows["algorithms", "shm:bruck"]
    assert slower["against_choice"] > 0 and not slower["others"]
    assert rows["models", "nonblock"]["others"]


def test_a_model_that_is_good_at_one_point_only(explore):
    """With it everywhere nothing is gained: the race rule by rule finds it."""
    explore("--", "split")
    rules = [r["rule"] for r in result()["rules"]]
    assert rules == ["alltoall[4096-8191](2)@row=shm"] and result()["verdict"] == "faster"


def test_rules_as_the_tuning_file_has_them():
    rule = {"rule": "bcast(2)=shm", "collective": "bcast", "bytes": None, "ranks": 2}
    rule |= {"communicator": "", "implementation": "shm", "earned": None, "note": ""}
    rule["changes_rounding"] = False
    assert outcome.tuning_rule(rule) == {
        "collective": "bcast",
        "ranks": [2, 2],
        "implementation": "shm",
        "changes_rounding": False,
    }


def test_nothing_is_claimed_where_nothing_is_faster(explore, tmp_path):
    text = explore("--", "null", drawn=True)
    found = result()
    assert found["verdict"] == "not-faster" and found["rules"] == []
    assert 0 < found["bound"]["gain"] <= 0.05 and found["bound"]["open"] == []
    assert {a["name"] for a in found["arms"]} >= {"nonblock", "persist", "p2p", "shm", "os"}
    assert "No choice makes a time step of this program more than" in text
    assert "outside collectives" in text and "waiting for late ranks" in text
    assert not (tmp_path / "crestacoll-explore" / "rules").exists()


def test_reductions_are_left_alone(explore):
    explore("--keep-rounding", "--", "good")
    assert [r["collective"] for r in result()["rules"]] == ["alltoall"]
    assert not any(r["changes_rounding"] for r in result()["rules"])


SENTENCES = [
    ("crash", 10, "was ended by SIGSEGV"),
    ("abort", 11, "ended by MPI_Abort"),
    ("hang-early", 12, "did not reach MPI_Init"),
    ("hang", 12, "neither ended nor repeated a step"),
    ("no-collective", 13, "calls no collective"),
    ("one-rank", 13, "runs on one rank"),
    ("nonblocking", 13, "calls no blocking collective"),
    ("no-rhythm", 14, "shows no rhythm (no collective repeats)"),
    ("not-loaded", 124, "no rank loaded crestacoll"),
]


@pytest.mark.parametrize("kind, code, sentence", SENTENCES)
def test_a_clear_sentence_for(kind, code, sentence, explore, tmp_path):
    text = explore("--", kind, budget="12s", code=code)
    assert sentence in text and "Traceback" not in text
    state = json.loads((tmp_path / "crestacoll-explore" / "state.json").read_text())
    assert sentence in state["ended"]
    assert not left_behind(tmp_path)


def test_a_program_without_steps_is_compared_by_calls(explore):
    """And proved by whole runs, plain and under the rules in turn."""
    text = explore("--", "calls", budget="30s", drawn=True)
    found = result()
    assert found["verdict"] == "faster" and found["by"] == "calls"
    assert [r["rule"] for r in found["rules"]] == [
        "allreduce[8-15](2)=p2p",
        "alltoall[4096-8191](2)=shm:pairwise",
    ]
    assert found["step"]["gain"] == pytest.approx(0.30, abs=0.03)
    assert found["step"]["rounds"] >= 6
    assert "a whole run of this program takes" in text and "pairs of whole runs" in text
    assert "shows no rhythm (no collective repeats)" in text and "by the time of each call" in text


def test_steps_that_are_a_small_part_of_a_run_do_not_decide(explore):
    text = explore("--", "phase", budget="20s")
    assert "what repeats, with the allreduce on MPI_COMM_WORLD, is 5 % of a run" in text
    assert result()["by"] == "calls" and result()["verdict"] == "faster"
    assert {a["race"] for a in result()["arms"]} == {"calls"}


def test_too_few_steps_to_compare(explore, tmp_path):
    """A run that ends before the first round: after some of them, calls are compared."""
    text = explore("--", "few-steps", budget="20s")
    assert "has too few steps in a run to compare implementations" in text
    assert result()["by"] == "calls" and result()["verdict"] == "faster"


def test_calls_that_gain_nothing(explore):
    explore("--", "calls-null", budget="15s")
    assert result()["verdict"] == "not-faster" and result()["rules"] == []


def test_calls_are_faster_but_whole_runs_are_not(explore, tmp_path):
    """The time of a call leaves out what ranks wait elsewhere: whole runs decide."""
    proved = lambda _: result()["verdict"] != "undecided"  # noqa: E731
    text = patiently(explore, proved, "--", "calls-slow", budget=15)
    assert result()["verdict"] == "not-faster" and "In the proof a whole run took" in text
    assert "last digits" not in text  # of rules that are not recommended
    assert not (tmp_path / "crestacoll-explore" / "rules").exists()


def test_an_implementation_that_breaks_one_kind_of_calls(explore):
    """What ran first, with nothing behind it, leaves: there, and nowhere else."""
    text = explore("--", "calls-break", budget="20s")
    assert result()["verdict"] == "faster"
    broken = [a["name"] for a in result()["arms"] if a["failed"]]
    assert broken == ["alltoall=os"]
    assert "alltoall=os: the program was ended by SIGSEGV in its first calls" in text


def test_a_program_that_prints_nothing(explore):
    said = "prints nothing: its answers were not compared"
    assert said in patiently(explore, lambda text: said in text, "--", "silent")


def test_a_program_that_only_computes(explore):
    text = explore("--", "computes", drawn=True)
    assert result()["verdict"] == "not-faster" and result()["bound"]["candidates"] == 0
    assert "No choice makes a whole run of this program more than 0.1 % faster" in text
    assert "for which there is a choice took 0.1 % of the time of the profiled run (" in text
    assert "outside collectives" in text


def test_wrong_answers_are_not_recommended(explore, tmp_path):
    text = explore("--compare", "cmp -s", "--", "wrong", budget="20s", code=1)
    assert result()["rejected"]["why"] == "different" and "DIFFERENT, says `cmp -s`" in text
    assert not (tmp_path / "crestacoll-explore" / "rules").exists()


def test_outputs_that_differ_are_only_said_to_differ(explore):
    """Two plain runs printed the same."""
    said = "prints something else: 'answer 42' became 'answer 43', where 2 plain runs print the"
    text = patiently(explore, lambda text: said in text, "--", "wrong")
    assert result()["verdict"] == "faster" and said in text


def test_times_are_not_answers(explore):
    """They vary between plain runs as well."""
    said = "with and without the rules: 2 words compared, numbers by their value. 1 more differ"
    assert said in patiently(explore, lambda text: said in text, "--", "times")


def test_rules_that_break_the_program(explore):
    assert "ended with exit code 9" in explore("--", "tuned-fails", code=1)
    assert result()["rejected"] == {"why": "failed", "text": "ended with exit code 9"}
    assert result()["verdict"] != "faster"


@pytest.mark.parametrize("kind, runs", [("breaks", 1), ("stalls", 1), ("breaks-later", 6)])
def test_an_arm_that_breaks_the_program_leaves(kind, runs, explore, monkeypatch, tmp_path):
    """The one that ran first, with nothing behind it. If it breaks the program later, each runs
    alone against the reference, until it is known which one it was.
    """
    monkeypatch.setattr(watch.Watch, "patience", lambda self: 0.5)
    monkeypatch.setattr(search, "MOST_RUNS", 12)
    explore("--", kind, budget="15s")
    assert result()["verdict"] == "faster"
    assert {a["name"] for a in result()["arms"] if a["failed"]} == {"os"}
    assert result()["notes"][0].startswith("os: the program")
    state = json.loads((tmp_path / "crestacoll-explore" / "state.json").read_text())
    assert runs_until_known(state, tmp_path / "crestacoll-explore") == runs


def test_one_failure_says_nothing_of_the_other_arms(explore, monkeypatch):
    """Here there is no time for a second run."""
    monkeypatch.setattr(search, "MOST_RUNS", 1)
    text = explore("--", "breaks", budget="4s")
    assert "os: the program was ended by SIGSEGV in its first steps, after those of shm" in text
    assert "fails under every implementation" not in text


def runs_until_known(state, folder):
    """Runs of the first race with the arm that broke the program."""
    files = [folder / "runs" / f"{n:03d}" / "race" for n in state["stages"]["models"]["runs"]]
    with_it = ["=os" in f.read_text() for f in files]
    return max(n for n, has in enumerate(with_it, 1) if has)


def test_a_long_program_is_ended(explore, tmp_path):
    """Without a profile all calls are one point."""
    begin = time.monotonic()
    text = explore("--", "long", budget="6s", drawn=True)
    assert time.monotonic() - begin < 60  # of which each run would take as much
    assert "there is no profile" in text and "no whole run fitted" in text
    assert not left_behind(tmp_path)


def test_the_points_of_a_long_program_are_known(explore):
    """From what rank 0 had counted when the plain run was ended."""
    text = explore("--", "long-known", budget="8s", drawn=True)
    found = result()
    assert "what rank 0 had called until then" in text and "no whole run fitted" in text
    assert {"alltoall", "allreduce"} <= {p["collective"] for p in found["points"]}
    assert found["ranks"] == 2 and found["run"] is None
    assert found["time"]["outside"] > 0.5
    assert "For a whole run the gain is not known" in text


def test_a_program_that_does_not_bear_changes(explore, monkeypatch, tmp_path):
    monkeypatch.setattr(search, "MOST_RUNS", 12)
    assert "fails under every implementation" in explore("--", "cut", budget="20s", code=10)
    assert not (tmp_path / "crestacoll-explore" / "rules").exists()


def test_an_exploration_is_not_overwritten(explore):
    explore("--", "computes", budget="20s")
    assert "--resume goes on" in explore("--", "computes", code=2)
    assert "nothing to resume" in explore("--resume", "--output", "other", code=2)
    assert "another command" in explore("--resume", "--", "null", code=2)
    assert "name the command" in explore(code=2)
    assert "no command 'frobnicate'" in explore("--compare", "frobnicate", "--", "good", code=2)


def left_behind(folder):
    """Processes that work in `folder`."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                if Path(os.readlink(f"/proc/{name}/cwd")) == folder:
                    found.append(Path(f"/proc/{name}/cmdline").read_bytes())
            except OSError:
                continue
    return found


MAIN = """
import sys
sys.path[:0] = sys.argv.pop(1).split(":")
from crestacoll_tools.cli import explore
from fake_job import FakeJob
explore.Job = FakeJob
explore.command()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_exploration_goes_on(number, explore, tmp_path):
    folders = f"{FAKE.parent}:{FAKE.parents[2] / 'python'}"
    words = [sys.executable, "-c", MAIN, folders, "--budget", "60s", "--", "good"]
    child = subprocess.Popen(
        words,
        cwd=tmp_path,
        env=os.environ | {"FAKE_RACER_SLEEPS": "2"},  # after each race
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    log = tmp_path / "crestacoll-explore" / "runs" / "002" / "race.jsonl"
    while not log.exists() or log.stat().st_size < 30000:
        assert child.poll() is None, child.stdout.read()
        time.sleep(0.05)
    child.send_signal(number)
    said = child.communicate(timeout=300)[0].decode()
    assert child.returncode == (-9 if number == signal.SIGKILL else 128 + number), said
    wait_for_none(tmp_path)
    if number != signal.SIGKILL:
        assert "--resume" in said and result()["complete"] is False
        assert result()["verdict"] == "undecided" and "So far shm is ahead: a step takes" in said
    explore("--resume", budget="10s")
    found = result()
    assert found["complete"] and found["verdict"] == "faster"
    assert found["runs"] > 2


def wait_for_none(folder):
    for _ in range(600):
        if not left_behind(folder):
            return
        time.sleep(0.1)
    pytest.fail(f"left behind: {left_behind(folder)}")
