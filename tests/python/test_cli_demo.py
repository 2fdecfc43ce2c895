# SPDX-License-Identifier: BSD-3-Clause
"""The demo and its report."""

import json
import re

import pytest

from crestacoll import demo, htmlreport, schemas, turbulence

OUTPUT = """case: tgv
checksum: 64098B97653A9C5F
wall: 0.618875 s
time_alltoall_row: 0.078641 s in 720 calls
time_reduce_scatter_block_world: 0.001554 s in 20 calls
check_symmetry: ok (5.55E-16, limit 1.49E-13)
check_divergence: FAILED (1.0, limit 1.00E-13)
"""


def test_output_is_read():
    found = turbulence.parse(OUTPUT)
    assert found["checksum"] == "64098B97653A9C5F" and found["wall"] == pytest.approx(0.618875)
    assert found["timers"] == {
        ("alltoall", "row"): 0.078641,
        ("reduce_scatter_block", "world"): 0.001554,
    }
    assert found["calls"] == {("alltoall", "row"): 720, ("reduce_scatter_block", "world"): 20}
    assert found["failed"] == ["divergence"]


class FakeBuild:
    name = "openmpi"
    description = {
        "mpi": {"library": "Open <b>MPI</b> v4"},
        "models": [
            {"name": "mpi", "works": True},
            {"name": "slow", "works": False, "why": "no reason"},
        ],
    }


def made(name, spec, walls, alltoall, checksum="AB"):
    times = [{("alltoall", "row"): t} for t in alltoall]
    calls = {("alltoall", "row"): 720}
    return turbulence.Variant(FakeBuild(), name, spec, walls, times, calls, [checksum] * len(walls))


def group(fast=0.2, checksum="AB"):
    return [
        made("plain MPI", None, [1.0, 1.1, 1.0, 1.2], [0.5, 0.5, 0.6, 0.5]),
        made("mpi", "*=mpi", [1.0, 1.1, 1.0, 1.1], [0.5, 0.5, 0.6, 0.5]),
        made("nonblock", "*=nonblock", [fast + 0.6] * 4, [fast] * 4, checksum),
    ]


def test_the_best_choice_is_named_where_it_is_clear():
    best = demo.about_mpi(group(), 2, 4)["best"]
    assert best["wall"] == "nonblock" and best["beyond_spread"]
    assert best["spec"] == "alltoall@row=nonblock,*=mpi"


def test_no_choice_is_made_within_the_spread():
    best = demo.about_mpi(group(fast=0.5), 2, 4)["best"]
    assert not best["beyond_spread"] and best["spec"] == "*=mpi"


def test_few_runs_prove_nothing():
    few = group()
    for v in few:
        v.wall_s, v.timers = v.wall_s[:2], v.timers[:2]
    assert not demo.about_mpi(few, 2, 2)["best"]["beyond_spread"]


def test_what_overlap_brings_is_told():
    rows = [*group(), made("overlap", None, [0.8] * 4, [0.3] * 4)]
    rows[-1].overlap = {}
    data = demo.result([rows], ["turbulence"], 2, 4, 10.0)
    assert schemas.problems("demo", data) == []
    gain = data["mpis"][0]["overlap"][0]
    assert abs(gain["gain"] - 1.05 / 0.8) < 1e-9 and gain["beyond_spread"]
    assert "overlap: 1.31 times as fast as plain MPI" in htmlreport.render(data)


def test_both_calls_of_a_transpose_count():
    text = "checksum: A\ntime_begin_row: 0.25 s in 6 calls\ntime_end_row: 0.5 s in 6 calls\n"
    found = turbulence.parse(text)
    assert found["timers"] == {("alltoall", "row"): 0.75}
    assert found["calls"] == {("alltoall", "row"): 6}


def test_a_different_answer_is_seen():
    data = demo.result([group(checksum="CD")], ["turbulence"], 2, 4, 10.0)
    assert schemas.problems("demo", data) == []
    assert data["same_answer"] is False
    assert [v["same_answer"] for v in data["mpis"][0]["variants"]] == [True, True, False]
    assert "NO: CD" in htmlreport.render(data)


def test_an_implementation_that_breaks_the_program_is_a_failure():
    broken = made("bad", "*=bad", [], [])
    broken.broken = "exit code 1"
    data = demo.result([[*group(), broken]], ["turbulence"], 2, 4, 10.0)
    assert schemas.problems("demo", data) == [] and data["same_answer"] is False
    assert "broke the program: exit code 1" in htmlreport.render(data)


def test_the_report_needs_nothing_else():
    data = demo.result([group()], ["turbulence", "--grid", "64"], 2, 4, 10.0)
    page = htmlreport.render(data)
    assert "Same answer" in page and page.count("<svg") == 2
    assert "Open &lt;b&gt;MPI" in page and "<b>MPI</b> v4" not in page
    assert not re.search(
        r"""(src|href)\s*=\s*["']?(https?:|//|file:)""", page.replace('xlink:href="#', "")
    )
    assert "<script" not in page and "@import" not in page and "url(http" not in page
    assert "#010203" not in page and "currentColor" in page
    assert "prefers-color-scheme: dark" in page


def test_a_short_demo(crestacoll, build, turbulence, tmp_path):
    words = "demo --grid 16 --steps 2 --budget 0 --report r.html --json d.json --mpi".split()
    ran = crestacoll(*words, build.name)
    assert ran.returncode == 0, ran.stderr + ran.stdout
    data = json.loads((tmp_path / "d.json").read_text())
    assert schemas.problems("demo", data) == []
    names = [v["name"] for v in data["mpis"][0]["variants"]]
    assert names == ["plain MPI", *build.implementations, "overlap", "overlap, progress thread"]
    assert [o["name"] for o in data["mpis"][0]["overlap"]] == names[-2:]
    assert data["same_answer"] and (tmp_path / "r.html").exists()
    assert all(v["wall_s"] and len(v["wall_s"]) == 2 for v in data["mpis"][0]["variants"])
