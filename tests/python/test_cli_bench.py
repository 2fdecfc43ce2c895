# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll bench` end to end, and what it does with results that are wrong."""

import json

import pytest

from crestacoll import benchjob, schemas
from crestacoll.cli import bench


def test_two_ranks_end_to_end(crestacoll, build, tmp_path):
    ran = crestacoll(
        *"bench allreduce,barrier,alltoallv,bcast --impl nonblock --sizes 8,1K".split(),
        *"--samples 5 --budget 10".split(),
        *("--mpi", build.name, "--json", "b.json", "--plot", "b.svg"),
    )
    assert ran.returncode == 0, ran.stderr + ran.stdout
    data = json.loads((tmp_path / "b.json").read_text())
    assert schemas.problems("bench", data) == []
    cells = {(r["collective"], r["implementation"], r["bytes"]) for r in data["records"]}
    assert len(cells) == len(data["records"]) == 2 * (3 * 2 + 1)
    assert all(
        r["verified"] and r["mpi"] == build.name and r["median_us"] > 0 for r in data["records"]
    )
    assert all(r["ratio_to_mpi"] == 1 for r in data["records"] if r["implementation"] == "mpi")
    assert "# allreduce" in ran.stdout and "Median(us)" in ran.stdout
    assert (tmp_path / "b.svg").stat().st_size > 1000


def test_every_collective_on_three_ranks(crestacoll, build):
    words = "bench all -n 3 --impl nonblock --sizes 0,40 --samples 2 --budget 20 --mpi".split()
    data = json.loads(crestacoll(*words, build.name, "--json").stdout)
    assert {r["collective"] for r in data["records"]} == set(build.collectives)
    assert data["verified"] and data["jobs"][0]["ranks"] == 3


def test_synchronised(crestacoll, build):
    words = "bench allreduce --impl nonblock --sizes 8 --samples 20 --cold --mpi".split()
    words = [*words[:-1], "--timing", "synchronised", "--mpi"]
    data = json.loads(crestacoll(*words, build.name, "--json").stdout)
    assert {(r["timing"], r["batch"], r["buffers"]) for r in data["records"]} == {
        ("synchronised", 1, "cold")
    }


@pytest.mark.parametrize(
    "words, said",
    [
        (["bench", "nonsense"], "no collective 'nonsense'"),
        (["bench", "allreduce", "--impl", "nonsense"], "no implementation 'nonsense'"),
        (["bench", "allreduce", "--sizes", "8:4"], "above the last"),
        (["bench", "allreduce", "--mpi", "nonsense"], "no build for 'nonsense'"),
    ],
)
def test_mistakes_are_explained(crestacoll, build, words, said):
    ran = crestacoll(*words)
    assert ran.returncode == 2 and said in ran.stderr


RECORD = {
    "type": "record",
    "collective": "allreduce",
    "implementation": "nonblock",
    "mpi": "openmpi",
    "ranks": 2,
    "bytes": 8,
    "verified": False,
    "samples": 3,
    "samples_asked": 9,
}


def test_lines_are_sorted():
    result = benchjob.Result()
    lines = [json.dumps(RECORD), "some noise", '{"type": "note", "about": "x", "text": "y"}']
    kinds = [benchjob.take(result, line, "openmpi") for line in lines]
    assert kinds == ["record", None, "note"]
    assert result.notes == [{"mpi": "openmpi", "about": "x", "text": "y"}] and result.end is None


def test_a_wrong_result_is_an_error(capsys):
    result = benchjob.Result()
    benchjob.take(result, json.dumps(RECORD), "openmpi")
    assert "fewer samples" in bench.cut_short(result)[0]
    with pytest.raises(SystemExit) as e:
        bench.say_wrong([result])
    assert e.value.code == 1
    assert "WRONG RESULT: nonblock allreduce of 8 bytes" in capsys.readouterr().err
