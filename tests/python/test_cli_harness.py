# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll harness: the harness of PSDNS."""

import functools
import json
import subprocess

import pytest
from conftest import command
from crestacoll_tools import schemas
from crestacoll_tools.bench import harness
from crestacoll_tools.launch import nethosts

pytestmark = pytest.mark.by_turns

MORE = ["MIN:p2p", "CrN:os", "CsN:os", "CrN:p2p", "CsN:p2p", "p2p:pairwise", "shm"]


@pytest.fixture
def crestacoll(in_process):
    """Its jobs are processes all the same. Hosts are name spaces of a command."""
    return in_process


def measured(crestacoll, build, *words):
    quick = ["--samples", "3", "--budget", "600", "--mpi", build.name]
    return crestacoll("harness", *words, *quick)


def has_coarrays(build):
    return "caf" in build.implementations


def test_all_of_the_study_and_more(crestacoll, build):
    words = ["-n", "2", "--sizes", "24,1K", "--alg", ",".join(harness.STUDY + MORE), "--json"]
    done = measured(crestacoll, build, *words)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert schemas.problems("harness", data) == [] and data["verified"]
    there = harness.STUDY if has_coarrays(build) else ["MPI", "MIB", "MIN"]
    assert [(r["bytes"], r["alg"]) for r in data["records"]] == [
        (size, alg) for size in (24, 1024) for alg in there + MORE
    ]
    for r in data["records"]:
        assert 0 < r["t_comp_row"] <= r["t_total_row"] and 0 < r["t_comp_col"] <= r["t_total_col"]
        assert (r["rows"], r["columns"], r["async"]) == (2, 1, "thread") and r["iters"] <= 3


def test_rows_and_columns_that_are_not_alike(crestacoll, build):
    words = ["-n", "3", "--procs", "1x3", "--sizes", "3", "--alg", "CrB:p2p,CsB:os,p2p,CsN"]
    done = measured(crestacoll, build, *words, "--async", "off")
    assert done.returncode == 0, done.stderr
    assert "1 rows (each within a host) of 3" in done.stdout
    assert "CsB:os" in done.stdout and "WRONG" not in done.stdout


def test_the_columns_of_the_document(crestacoll, build):
    done = measured(crestacoll, build, "-n", "2", "--sizes", "64", "--alg", "MIN,CrN")
    titles = "ALG Bytes iters t_total_row t_comp_row t_total_col t_comp_col"
    rows = [line.split() for line in done.stdout.splitlines()]
    assert any(row[:7] == titles.split() for row in rows)
    assert "MIN is MPI_Ialltoall, begun by CRESTA_Alltoall_begin" in done.stdout
    if has_coarrays(build):
        assert "CrN hides nothing: OpenCoarrays' gets are blocking" in done.stdout
    else:
        assert "CrN alltoall: left out" in done.stdout


@pytest.mark.parametrize(
    "words, said",
    [
        (["--procs", "2x3"], "--procs 2x3: RxC has to make 4 ranks"),
        (["--procs", "4"], "--procs 4: RxC has to make 4 ranks"),
        (["--rate", "1gbit"], "--rate goes with --hosts"),
        (["--alg", "CrX"], "no ALG 'CrX'"),
        (["--alg", "CoM:p2p"], "no ALG 'CoM:p2p'; possible: CoM"),
        (["--alg", "CrN:shm"], "no ALG 'CrN:shm'; possible: CrN, CrN:os, CrN:p2p"),
        (["--alg", "MIN:nonsense"], "no implementation 'nonsense'"),
    ],
)
def test_mistakes_are_explained(crestacoll, words, said):
    ran = crestacoll("harness", *words)
    assert ran.returncode == 2 and said in ran.stderr


def record(alg, total, progress="thread", size=65536):
    times = {"t_total_row": total / 2, "t_total_col": total / 2, "ratio_to_mpi": total / 4}
    return {"alg": alg, "bytes": size, "async": progress, **times}


def test_sentences():
    mpi = record("MPI", 4)
    said = harness.sentences([mpi, record("MIN", 1), record("CrN", 3), record("CsN", 3)])
    assert said[0] == (
        "64K: MIN is the fastest; an iteration takes 0.25 of MPI's time, work included."
    )
    assert "the progress thread (CRESTA_ASYNC=thread) progresses it during the work" in said[1]
    assert said[2].startswith("CrN and CsN hide nothing: OpenCoarrays' gets are blocking")
    assert harness.sentences([mpi]) == ["64K: no ALG is faster than MPI."]
    off = harness.sentences([record("MPI", 4, "off"), record("MIN:p2p", 5, "off")])
    assert off[1] == "MIN:p2p: nonblock ran, because there is no progress thread."


@pytest.mark.alone
def test_between_hosts(build, tmp_path):
    if nethosts.why_not():
        pytest.skip(f"no hosts here: {nethosts.why_not()}")
    words = ["--hosts", "2", "--rate", "1gbit", "--sizes", "1K", "--alg", "MIB,MIN,CsN:p2p"]
    done = measured(functools.partial(command, cwd=tmp_path), build, *words, "--json")
    if "no hosts here" in done.stderr:
        pytest.skip(done.stderr)
    data = json.loads(done.stdout)
    assert data["verified"] and {r["hosts"] for r in data["records"]} == {2}
    assert data["jobs"][0]["rows_within_hosts"] is True
    assert [r["alg"] for r in data["records"]] == ["MPI", "MIB", "MIN", "CsN:p2p"]


def test_hosts_end_with_a_command_that_is_told_to_end():
    if nethosts.why_not():
        pytest.skip(f"no hosts here: {nethosts.why_not()}")
    with pytest.raises(SystemExit), nethosts.ended_in_order():
        subprocess.run(["sh", "-c", "kill $PPID; sleep 1"], check=False)
