# SPDX-License-Identifier: BSD-3-Clause
"""The demo: its cases, what is said of them, and its report. Never a speed."""

import json
import os
import re
import subprocess

import pytest
from crestacoll_tools import schemas
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.builds import builds
from crestacoll_tools.cli import demo as cli
from crestacoll_tools.demo import demo, demopage
from crestacoll_tools.launch import nethosts

pytestmark = pytest.mark.by_turns

HOSTS = next(c for c in demo.CASES if c.hosts > 1)
OUTPUT = """case: tgv
checksum: 64098B97653A9C5F
wall: 0.618875 s
check_symmetry: ok (5.55E-16, limit 1.49E-13)
result: ok
"""


def result(verdict="faster", busy=0.0, **more):
    bound = {"margin": 0.05, "of": "step", "gain": 0.012, "candidates": 5, "open": []}
    found = {"verdict": verdict, "bound": bound | {"more_s": None}, "rejected": None, "step": None}
    found |= {"rules": [], "complete": True, "time": None}
    found |= {"others": {"busy": busy, "stolen": 0.0}, "step_s": 5e-4, "arms": [], "answers": None}
    if verdict == "faster":
        found["step"] = {"gain": 0.31, "low": 0.29, "high": 0.33, "mean": 0.3, "rounds": 99}
        found["rules"] = [{"rule": "alltoall=shm", "implementation": "shm"}]
    return found | more


def told(**how):
    """What came out of the four cases, some of them made up."""
    cases = {c.name: demo.about(c, skipped="no reason") for c in demo.CASES}
    for case in demo.CASES:
        if case.name in how:
            cases[case.name] = demo.about(case, **how[case.name])
    data = demo.document(list(cases.values()), 200.0)
    assert schemas.problems("demo", data) == []
    return data


def page(data):
    bodies = ["<p>its report</p>" if t["result"] else "" for t in data["cases"]]
    return demopage.render(data, bodies)


def test_each_case_has_a_sentence():
    data = told(openmpi={"found": result()}, mpich={"found": result("not-faster")})
    assert data["ended_well"] and not data["shared"]
    text = page(data)
    assert "A turbulence code gains in 1 of 2 cases" in text
    assert "takes 31.0 % less time (95 % interval 29.0 to 33.0 %)" in text
    assert "keep the MPI&#39;s own" in text and "Not run: no reason." in text
    assert text.count("<p>its report</p>") == 2
    assert not re.search(r"(src|href)=.(https?:|//|file:)|@import|<script", text)
    row = cli.cells(data["cases"][0])
    assert row[3:] == ("31.0 %", "29.0 to 33.0", "alltoall=shm")


def test_commands_can_be_typed_as_they_stand(monkeypatch, tmp_path):
    """A checkout is in no PATH, unless somebody has put it there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    program = str(builds.ROOT / "bin" / "crestacoll")
    assert builds.typed() == program
    assert f"<code>{program} explore -- mpirun" in page(told(openmpi={"found": result()}))
    (tmp_path / "crestacoll").symlink_to(program)
    assert builds.typed() == "crestacoll"


@pytest.mark.parametrize("why", ["different", "failed"])
def test_answers_that_change_are_a_failure(why):
    found = result("undecided", rejected={"why": why, "text": "was ended by SIGSEGV"})
    assert not told(mpich={"found": found})["ended_well"]


def test_what_is_not_decided_is_not_called_no_gain():
    text = page(told(openmpi={"found": result()}, mpich={"found": result("undecided")}))
    assert "gains in 1 of 2 cases; 1 is not decided" in text and "not decided</b>" in text


def test_a_case_that_fails():
    data = told(hosts={"problem": "it <b>hangs</b>\nand so on"})
    assert not data["ended_well"]
    assert "Failed: it &lt;b&gt;hangs&lt;/b&gt;" in page(data)
    assert "A turbulence code gains in 0 of 1 case<" in page(data), "it counts as one"


def test_a_shared_machine_is_told():
    data = told(openmpi={"found": result(busy=0.97)})
    assert data["shared"] and "The machine is shared:" in page(data)


def test_cases_that_cannot_run_say_why(monkeypatch):
    monkeypatch.setattr(builds, "all_builds", lambda: [])
    assert "Open MPI is not installed" in demo.CASES[0].why_not()
    monkeypatch.undo()
    monkeypatch.setattr(nethosts, "why_not", lambda: "it takes root")
    if HOSTS.build() is not None and HOSTS.build().program(HOSTS.program).exists():
        assert HOSTS.why_not() == "it takes root"


def test_the_environment_is_ours_for_a_while(monkeypatch):
    monkeypatch.setenv("CRESTA_IMPL", "*=p2p")
    with HOSTS.environment():
        assert "CRESTA_IMPL" not in os.environ and os.environ["CRESTA_ASYNC"] == "thread"
    assert os.environ["CRESTA_IMPL"] == "*=p2p" and "CRESTA_ASYNC" not in os.environ


@pytest.mark.parametrize(
    "changed, code",
    [
        (OUTPUT.replace("0.618875", "0.7"), 0),
        (OUTPUT.replace("5F", "5E"), 1),
        (OUTPUT.replace("symmetry: ok", "symmetry: FAILED"), 1),
        ("", 1),
    ],
)
def test_answers_are_compared(changed, code, tmp_path):
    (tmp_path / "a").write_text(OUTPUT)
    (tmp_path / "b").write_text(changed)
    words = [str(demo.SAME), str(tmp_path / "a"), str(tmp_path / "b")]
    assert subprocess.run(words, capture_output=True, check=False).returncode == code


def test_time_that_is_left_goes_to_later_cases():
    assert [c.weight for c in demo.CASES] == [1, 1, 1, 2]
    assert cli.share(demo.CASES[0], demo.CASES, 200) == 40
    assert cli.share(demo.CASES[-1], demo.CASES[-1:], 120) == 120
    assert cli.share(demo.CASES[-1], demo.CASES[-1:], -3) == cli.LEAST


@pytest.mark.parametrize("code, busy, skipped", [(12, 0.9, True), (12, 0, False), (10, 0.9, False)])
def test_a_program_is_too_slow_only_where_others_run(code, busy, skipped, monkeypatch, tmp_path):
    """Elsewhere it may hang, and on no machine it may crash."""

    def fail(job, description, state, budget):
        state.data["others"] = {"busy": busy, "stolen": 0.0}
        raise Problem("no", code)

    case = demo.CASES[0]
    if case.why_not():
        pytest.skip(case.why_not())
    monkeypatch.setattr(cli.explore, "explore", fail)
    made, body, _ = cli.explored(case, tmp_path / "made", 5)
    assert bool(made["skipped"]) == skipped and bool(made["problem"]) != skipped and not body


def test_wrong_cases(crestacoll):
    ran = crestacoll("demo", "--cases", "openmpi,frobnicate")
    assert ran.returncode == 2 and "no case 'frobnicate'" in ran.stderr


def test_a_short_demo(crestacoll, build, turbulence, tmp_path):
    words = "demo --budget 8s --output made --json d.json --cases".split()
    ran = crestacoll(*words, build.name)
    assert ran.returncode == 0, ran.stderr + ran.stdout
    data = json.loads((tmp_path / "d.json").read_text())
    assert schemas.problems("demo", data) == []
    [case] = data["cases"]
    if case["skipped"]:
        pytest.skip(case["skipped"])
    assert schemas.problems("explore", case["result"]) == []
    assert case["result"]["complete"] and case["result"]["ranks"] == 2
    assert "crestacoll: case 1 of 1: " in ran.stderr and case["title"] in ran.stdout
    text = (tmp_path / "made" / "report.html").read_text()
    assert case["title"] in text and "How to read this" in text
    assert (tmp_path / "made" / "cases" / build.name / "report.html").exists()
