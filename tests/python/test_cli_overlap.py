# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll overlap."""

import functools
import json
import subprocess

import pytest
from conftest import command
from crestacoll_tools.bench import overlap
from crestacoll_tools.launch import nethosts

pytestmark = pytest.mark.by_turns


@pytest.fixture
def crestacoll(in_process):
    """Its jobs are processes all the same. Hosts are name spaces of a command."""
    return in_process


def measured(crestacoll, build, *words):
    done = crestacoll("overlap", *words, "--samples", "3", "--budget", "600", "--mpi", build.name)
    return done


def test_three_times_and_three_overlaps(crestacoll, build):
    done = measured(crestacoll, build, "allreduce", "--sizes", "8,4K", "--json")
    data = json.loads(done.stdout)
    assert data["verified"] and data["notes"] == []
    assert [(r["bytes"], r["implementation"]) for r in data["records"]] == [
        (size, name) for size in (8, 4096) for name in ("nonblock", "p2p")
    ]
    for r in data["records"]:
        n, c, t = r["N_us"], r["C_us"], r["T_us"]
        assert min(n, c, t) > 0 and r["hosts"] == 1 and r["async"] == "thread"
        for name, of in ("cresta", min(c, n)), ("osu", n), ("imb", max(c, n)):
            share = max(0.0, min(1.0, (c + n - t) / of))
            assert r[f"overlap_{name}"] == pytest.approx(share, abs=0.01), name


@pytest.mark.parametrize("collective", ["barrier", "alltoallw", "reduce", "gatherv"])
def test_other_collectives(crestacoll, build, collective):
    done = measured(crestacoll, build, collective, "-n", "3", "--sizes", "64", "--async", "off")
    assert done.returncode == 0, done.stderr
    assert " yes" in done.stdout and "CRESTA_ASYNC=off" in done.stdout


@pytest.mark.parametrize("collectives", ["allreduce,bcast", "all", ","])
def test_one_collective(crestacoll, build, collectives):
    done = measured(crestacoll, build, collectives)
    assert done.returncode == 2
    assert "expected one collective" in done.stderr and "Traceback" not in done.stderr


def test_work_is_handed_on(crestacoll, build):
    words = ["alltoall", "--sizes", "64K", "--work", "20", "--impl", "nonblock", "--json"]
    [record] = json.loads(measured(crestacoll, build, *words).stdout)["records"]
    assert record["work"] == 20 and record["C_us"] > 0


def test_a_plot(crestacoll, build, tmp_path):
    plot = tmp_path / "overlap.svg"
    measured(crestacoll, build, "alltoall", "--sizes", "8,64", "--plot", str(plot))
    assert plot.stat().st_size > 1000


@pytest.mark.parametrize(
    "words, said",
    [
        (["alltoall", "--rate", "1gbit"], "--rate goes with --hosts"),
        (["alltoall", "--hosts", "3"], "--hosts 3: -n asks for only 2 ranks"),
        (["alltoall", "--plot", "x.html"], "has to end in .svg, .png, .pdf"),
        (["nonsense"], "no collective 'nonsense'"),
        (["alltoall", "--impl", "nonsense"], "no implementation 'nonsense'"),
    ],
)
def test_mistakes_are_explained(crestacoll, words, said):
    ran = crestacoll("overlap", *words)
    assert ran.returncode == 2 and said in ran.stderr


def record(overlap_cresta, size=8, name="nonblock"):
    return {
        "implementation": name,
        "collective": "alltoall",
        "bytes": size,
        "overlap_cresta": overlap_cresta,
    }


def test_a_sentence_for_each():
    records = [record(0.1), record(0.15, 64), record(0.5, 512), record(0.97, 64, "p2p")]
    said = overlap.verdicts(records)
    assert said == [
        "nonblock: this MPI's own call overlaps in part: 10% to 50% is hidden (3 sizes)",
        "p2p: overlaps with the computation: 97% is hidden (1 size)",
    ]
    assert "does not progress in the background: 15%" in overlap.verdicts([record(0.15)])[0]
    both = [record(0.05), record(0.9, 64)]
    assert "at some sizes and not at others: 5% to 90%" in overlap.verdicts(both)[0]


def scattered(share, spread, **more):
    """Times of 100 us of which the middle 80 % are so far apart."""
    ends = {f"{k}_p{p}_us": 100 + s * spread / 2 for k in "NCT" for p, s in ((10, -1), (90, 1))}
    return record(share, **more) | ends | {"N_us": 100.0, "C_us": 100.0, "samples": 25}


def test_a_point_that_scatters_decides_nothing():
    """With 25 samples the medians of times that are 120 us apart are known to 20 us each."""
    quiet, noisy = scattered(0.1, 5), scattered(0.95, 120, size=64)
    said = overlap.verdicts([quiet, noisy])[0]
    assert said.endswith("background: 10% is hidden (1 size; at 1 more the times scatter too much)")
    assert "cannot be judged: the times scatter too much" in overlap.verdicts([noisy])[0]


def spaces():
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False)
    return {line.split()[0] for line in listed.stdout.splitlines() if "crestacoll" in line}


@pytest.mark.alone
def test_between_hosts(build, tmp_path):
    if nethosts.why_not():
        pytest.skip(f"no hosts here: {nethosts.why_not()}")
    before = spaces()
    words = ["alltoall", "--sizes", "8,64K", "--hosts", "2", "--rate", "1gbit", "--json"]
    done = measured(functools.partial(command, cwd=tmp_path), build, *words)
    if "no hosts here" in done.stderr:
        pytest.skip(done.stderr)
    data = json.loads(done.stdout)
    assert data["verified"] and {r["hosts"] for r in data["records"]} == {2}
    assert data["records"][-1]["implementation"] == "sockets"
    assert "without MPI:" in overlap.verdicts(data["records"])[-1]
    assert spaces() <= before
