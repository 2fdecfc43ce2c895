# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll info`, `help` and `overhead`."""

import json
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner
from conftest import ROOT
from crestacoll_tools import cli
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.bench import benchjob, checkjob, jobnodes, overhead, verdicts
from crestacoll_tools.builds import builds
from crestacoll_tools.cli import info
from spoilt import Spoilt

pytestmark = pytest.mark.by_turns


@pytest.fixture
def crestacoll(in_process):
    """The first run of a reader is in test_readme_commands.py."""
    return in_process


def test_info_lists_builds_models_and_variables(crestacoll, build):
    data = json.loads(crestacoll("info", "--no-run", "--json").stdout)
    mine = next(b for b in data["builds"] if b["name"] == build.name)
    assert mine["mpi"]["family"] == build.family and mine["preload_exists"]
    assert [m["name"] for m in mine["models"]] == [m["name"] for m in build.description["models"]]
    assert {"CRESTA_IMPL", "CRESTA_PROFILE", "CRESTA_LOG"} <= {
        e["name"] for e in data["environment"]
    }
    assert any(m["family"] == build.family and m["built"] for m in data["mpis"])


def test_info_lists_algorithms_and_parameters(crestacoll, build):
    ran = crestacoll("info", "--no-run", "--json=i.json")
    lines = [" ".join(li.split()) for li in ran.stdout.splitlines()]
    p2p = next(m for m in build.description["models"] if m["name"] == "p2p")
    for collective, algorithms in p2p["algorithms"].items():
        line = next(li for li in lines if li.startswith(f"{collective} "))
        assert all(a["doc"] and a["name"] in line for a in algorithms)
    assert "order ring ring|random|xor of peers" in "\n".join(lines)
    assert "chunk 64K 1 to 1G bytes of a chunk alltoall chunked" in "\n".join(lines)
    assert set(p2p["algorithms"]) == set(build.collectives)


def test_info_lists_options_of_models(crestacoll, build):
    models = [m for m in build.description["models"] if m["options"]]
    assert "os" in [m["name"] for m in models]
    shown = crestacoll("info", "--no-run").stdout
    for m in models:
        assert f"options of {m['name']}" in shown
        assert all(p["help"] in shown for p in m["options"])


def test_info_fails_if_something_built_does_not_work(tmp_path):
    """A build of two models, and a benchmark that breaks off with one of them."""
    build = (builds.all_builds() or pytest.skip("nothing is built"))[0]
    tree = Spoilt(build, tmp_path)
    programs = tree.folder / "build" / build.name / "bin"
    programs.unlink()
    programs.mkdir()
    two = "d['models'] = [m for m in d['models'] if m['name'] in ('mpi', 'p2p')]"
    code = f"import json, sys; d = json.load(sys.stdin); {two}; print(json.dumps(d))"
    filtered = f'python3 -c "{code}"'
    for name, command in (
        ("describe", f"{build.program('crestacoll-describe')} | {filtered}"),
        ("bench", f'[[ "$*" == *p2p* ]] && exit 3; exec {build.program("crestacoll-bench")} "$@"'),
    ):
        (programs / f"crestacoll-{name}").write_text(f"#!/bin/bash\n{command}\n")
        (programs / f"crestacoll-{name}").chmod(0o755)
    ran = tree("info")
    lines = [" ".join(line.split()) for line in ran.stdout.splitlines()]
    assert any(line.startswith("mpi yes") for line in lines), ran.stdout
    assert any(line.startswith("p2p no: the benchmark of") for line in lines), ran.stdout
    assert ran.returncode == 1
    assert f"built, but does not work: {build.name}: p2p: the benchmark" in ran.stderr
    assert ": mpi:" not in ran.stderr


def test_table_comes_from_what_was_kept(monkeypatch, capsys, build):
    """Every cell is a verdict, and a build that is another one has none."""
    found = [
        {
            **dict.fromkeys(("calls", "refused"), 0),
            **{"language": language, "ranks": 2, "collective": c, "implementation": m["name"]},
            **{"status": "fine", "why": "", "instead": "", "errors": []},
        }
        for language in ("C", "Fortran")
        for c in build.collectives
        for m in build.description["models"]
    ]
    found[0] |= {"status": "not here", "why": "no such thing", "instead": "p2p"}
    found[1] |= {"status": "wrong", "errors": ["Error in CRESTA_Barrier: so it is"]}
    found[2] |= {"refused": 3, "why": "only root 0"}
    del found[3]
    made = verdicts.table_of({"verdicts": found}, build)
    assert [c for c, _ in made["rows"]] == build.collectives
    c_cells = dict(made["rows"])[build.collectives[0]][len(made["columns"]) // 2 :]
    assert c_cells[:4] == [("N", [1]), ("N", [2]), ("Y", [3]), ("-", [4])]
    assert all(cell == ("Y", []) for cell in c_cells[4:])
    assert made["notes"] == [
        "no such thing; p2p runs instead",
        "Error in CRESTA_Barrier: so it is",
        "another implementation runs some calls: only root 0",
        "not checked",
    ]


def test_another_build_has_no_table(monkeypatch, tmp_path, build):
    monkeypatch.setattr(verdicts, "kept_in", lambda build: tmp_path / "check.json")
    assert verdicts.kept(build) is None
    verdicts.keep(build, checkjob.Outcome())
    assert verdicts.kept(build)["verdicts"] == []
    monkeypatch.setattr(verdicts, "identity", lambda build: "another")
    assert verdicts.kept(build) is None


def test_nodes_of_a_job_are_those_that_the_library_finds(build, monkeypatch):
    monkeypatch.setenv("CRESTA_NODES", "1+2")
    job = jobnodes.of_job(build, 3)
    assert job == {"ranks": 3, "nodes": 2, "ranks_min": 1, "ranks_max": 2}
    assert jobnodes.sentence(job) == "3 ranks on 2 nodes, 1 to 2 on each"
    monkeypatch.setenv("CRESTA_NODES", "1+1")
    job = jobnodes.of_job(build, 3)
    assert "places 2 ranks" in job["why"] and jobnodes.sentence(job).startswith("not known: ")


def test_info_shows_the_nodes_of_a_job(build, monkeypatch):
    monkeypatch.setattr(info, "all_builds", lambda: [build])
    monkeypatch.setattr(info, "try_models", lambda build, models: None)
    monkeypatch.delenv("CRESTA_NODES", raising=False)
    shown = CliRunner().invoke(info.command, ["-n", "2"]).output
    assert "a job here: 2 ranks on one node\n" in shown
    assert "a job" not in CliRunner().invoke(info.command, ["--no-run"]).output


def test_info_asks_a_job_of_two_ranks(build, monkeypatch):
    """Whatever the launcher starts by itself; and it fails if that job does."""
    asked = []

    def of_job(build, ranks):
        asked.append(ranks)
        return {"why": "it broke off", "failed": "2 ranks"}

    monkeypatch.setattr(info, "all_builds", lambda: [build])
    monkeypatch.setattr(info, "try_models", lambda build, models: None)
    monkeypatch.setattr(jobnodes, "of_job", of_job)
    ran = CliRunner().invoke(info.command)
    assert asked == [2] and ran.exit_code == 1
    assert f"{build.name}: a job of 2 ranks: it broke off" in ran.output


def test_a_job_that_fails_is_told(build, monkeypatch):
    def broken(*words, **more):
        raise Problem("it broke off")

    monkeypatch.delenv("CRESTA_NODES", raising=False)
    monkeypatch.setattr(benchjob, "run_command", broken)
    assert jobnodes.of_job(build, 2) == {"why": "it broke off", "failed": "2 ranks"}
    monkeypatch.setenv("CRESTA_NODES", "4x1")
    assert jobnodes.of_job(build, 2) == {"why": "it broke off"}


def test_nodes_of_a_job_that_nobody_knows():
    world = {"communicator": "", "processes": 2, "nodes": None}
    data = {"ranks": 2, "communicators": [world]}
    assert jobnodes.found_in(data) == {"why": "the node of a rank is unknown"}
    assert jobnodes.found_in({"ranks": 1, "communicators": []})["nodes"] == 1


def test_info_env_shows_what_is_set(crestacoll, build):
    shown = crestacoll("info", "--env", CRESTA_LOG="info")
    line = next(li for li in shown.stdout.splitlines() if li.startswith("CRESTA_LOG"))
    assert "warn" in line and "info" in line


def test_info_env_says_in_what_ranks_may_differ(crestacoll, build):
    """What the reference page says."""
    page = (ROOT / "docs/reference/environment.md").read_text(encoding="utf-8")
    free = re.findall(r"^\| \[`(\w+)`\].*\| may differ \|", page, re.MULTILINE)
    assert "CRESTA_OFF" in free and "CRESTA_IMPL" not in free
    shown = " ".join(crestacoll("info", "--env").stdout.split())
    assert f"equal on all ranks, except {', '.join(free)}. " in shown


def test_every_command_has_help(crestacoll):
    commands = json.loads(crestacoll("help", "--json").stdout)["commands"]
    expected = {"run", "info", "bench", "explain", "demo", "report", "overhead", "help"}
    assert expected <= set(commands)
    for name in commands:
        shown = CliRunner().invoke(cli.main, ["help", name])
        assert shown.exit_code == 0 and "--json" in shown.stdout
    assert crestacoll("help", "nonsense").returncode == 2


# What takes longer to import than all else that a short command does.
SLOW = {"rich", "numpy", "matplotlib", "jinja2", "jsonschema", "PIL"}
IMPORTS = """
import importlib, pkgutil, sys
sys.path.insert(0, sys.argv[1])
import crestacoll_tools.cli
for module in pkgutil.iter_modules(crestacoll_tools.cli.__path__):
    importlib.import_module(f"crestacoll_tools.cli.{module.name}")
    print(module.name, *sys.modules)
"""


def test_commands_start_with_no_more_than_they_need():
    words = [sys.executable, "-c", IMPORTS, str(ROOT / "python")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        name, *modules = line.split()
        assert not SLOW & set(modules), f"crestacoll {name} imports {SLOW & set(modules)}"


def test_communicators_are_measured(crestacoll, build, tmp_path):
    """And take no more memory than they may; how long they take depends on what else runs."""
    to = tmp_path / "found.json"
    done = crestacoll("overhead", "--mpi", build.name, "--communicators", "100", f"--json={to}")
    (found,) = json.loads(to.read_text())["communicators"]
    assert [step["step"] for step in found["steps"]][:2] == ["dup", "its first call"]
    assert all(step["plain_us"]["median"] > 0 for step in found["steps"])
    assert found["kib"]["met"], found["kib"]
    assert "its first call" in done.stdout and "KiB in plain MPI" in done.stdout


def test_a_profile_is_switched_on_and_off(crestacoll, build, tmp_path):
    to = tmp_path / "found.json"
    done = crestacoll("overhead", "--mpi", build.name, "--profile", "2", f"--json={to}")
    (found,) = json.loads(to.read_text())["profile"]
    assert (found["ranks"], found["turns"]) == (2, 2)
    assert found["off_us"]["median"] > 0 and found["on_us"]["median"] > 0
    assert 0 < found["timed"]["p10"] <= found["timed"]["p90"] <= 1
    assert all(found[pair]["p90"] > 0 for pair in ("on_by_off", "off_by_off", "on_by_on"))
    assert "off by off" in done.stdout and "the median of on by off is" in done.stdout


@pytest.mark.parametrize("median, met", [(1.01, True), (1.025, None), (1.035, None), (1.05, False)])
def test_a_profile_keeps_its_target(median, met):
    """By the scatter of the ratios: p90 less p10 of 0.1 in 100 of them is 0.0096 of the median."""
    ratio = {"median": median, "p10": median - 0.05, "p90": median + 0.05}
    assert overhead.profile_verdict(ratio, 100, 2)["met"] is met
    assert overhead.profile_verdict(ratio, 100, 1)["limit"] is None


@pytest.mark.parametrize("thread", ["single", "multiple"])
def test_overhead_is_measured(build, thread):
    found = overhead.measure(build, {}, thread, batches=11)
    assert found["thread"] == thread
    assert found["plain_ns"]["median"] > 0 and found["interposed_ns"]["median"] > 0
    recorded = overhead.measure(build, overhead.SCENARIOS[-1][2], thread, batches=11)
    assert recorded["interposed_ns"]["median"] > 0
