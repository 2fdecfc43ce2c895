# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll info`, `help` and `overhead`."""

import json

import pytest

from crestacoll import overhead


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


def test_info_env_shows_what_is_set(crestacoll, build):
    shown = crestacoll("info", "--env", CRESTA_LOG="info")
    line = next(li for li in shown.stdout.splitlines() if li.startswith("CRESTA_LOG"))
    assert "warn" in line and "info" in line


def test_every_command_has_help(crestacoll):
    commands = json.loads(crestacoll("help", "--json").stdout)["commands"]
    expected = {"run", "info", "bench", "explain", "demo", "report", "overhead", "help"}
    assert expected <= set(commands)
    for name in commands:
        shown = crestacoll("help", name)
        assert shown.returncode == 0 and "--json" in shown.stdout
    assert crestacoll("help", "nonsense").returncode == 2


@pytest.mark.parametrize("thread", ["single", "multiple"])
def test_overhead_is_measured(build, thread):
    found = overhead.measure(build, {}, thread, batches=11)
    assert found["thread"] == thread
    assert found["plain_ns"]["median"] > 0 and found["interposed_ns"]["median"] > 0
    recorded = overhead.measure(build, overhead.SCENARIOS[-1][2], thread, batches=11)
    assert recorded["interposed_ns"]["median"] < 10_000
