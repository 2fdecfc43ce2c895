# SPDX-License-Identifier: BSD-3-Clause
"""shm?copy=auto: which calls the kernel copies, at imposed and at measured distances.

tests/mpi/reads.c counts what it copies; crestacoll-bench compares the results with the MPI's own.
"""

import functools
import json
import re

import pytest
from library_runs import ROOT, each_build, family_of, good, messages, run
from test_library_shared import LOOK_NOWHERE

pytestmark = [each_build, pytest.mark.by_turns]

ROW = re.compile(r"CCO_COPY\((\w+), (\d+), (\d+), (\w+), (\d+) << 10, (\d+) << 10\)")
ALL_ROWS = [
    (row[1].lower(), int(row[2]), row[4].lower(), [int(row[i]) << 10 for i in (5, 6)])
    for row in map(ROW.match, (ROOT / "src/model/shm_copy.def").read_text().splitlines())
    if row
]
ROWS = [row for row in ALL_ROWS if row[2] != "anywhere"]
CROWDED = [row for row in ALL_ROWS if row[2] == "anywhere"]  # of more ranks than cores
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[2]}")
OTHER = {"near": "far", "far": "near"}


def bench(build, row, distance, impls="shm?copy=auto", sizes=None, env=None):
    """Runs calls of a row's collective; the run, how many reads, whether they were counted."""
    collective, ranks, _, limits = row
    sizes = sizes or limits
    library = build / "lib" / "libreads.so"
    env = {"CRESTA_SHM_DISTANCE": distance, "CRESTA_LOG": "info", **LOOK_NOWHERE, **(env or {})}
    if library.exists():  # a build with sanitizers does not count
        env["LD_PRELOAD"] = str(library)
    words = ["--collectives", collective, "--impl", impls, "--sizes", ",".join(map(str, sizes)),
             "--samples", "2", "--budget", "600", "--batch-us", "1"]  # fmt: skip
    done = good(run(build, "../../bin/crestacoll-bench", *words, ranks=ranks, env=env))
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    records = [r for r in records if r["type"] == "record"]
    refused = "CRESTA_DEBUG" in env  # memory, at random
    assert refused or len(records) >= len(set(sizes)) * len(impls.split(","))
    assert all(r["verified"] for r in records), done.stdout
    if any(r["oversubscribed"] != (row in CROWDED) for r in records):
        pytest.skip("the limits are for another number of cores")
    counted = [int(n) for n in re.findall(r"reads: \d+ of (\d+)", done.stderr)]
    return done, sum(counted), library.exists()


def measurements(done):
    return [line for line in messages(done) if "shm?copy=auto: " in line]


def looks(row):
    """Reads that only find out whether the kernel allows them: for slot rings, and for begins."""
    return 2 * row[1] * (row[1] - 1)


@each_row
def test_the_kernel_copies_within_the_limits_at_that_distance(build, row):
    done, reads, counts = bench(build, row, row[2])
    if counts and reads <= looks(row):
        pytest.skip("this system forbids all such reads")
    assert not measurements(done), done.stderr


@each_row
def test_it_does_not_at_another_distance(build, row):
    done, reads, _ = bench(build, row, OTHER[row[2]])
    assert reads <= looks(row) and not measurements(done), done.stderr


@each_row
def test_nor_beyond_the_limits(build, row):
    done, reads, _ = bench(build, row, "auto", sizes=[8, 9 << 10])
    assert reads <= looks(row) and not measurements(done), done.stderr


@each_row
def test_what_was_measured_holds_for_later_communicators(build, row):
    """What was not found, since the ranks hardly ran at the same time, is looked for again."""
    rules = f"shm?copy=auto,{row[0]}=shm?copy=auto"
    done, _, _ = bench(build, row, "auto", impls=rules)
    told = measurements(done)
    if not told:
        pytest.skip("this system forbids all such reads")
    assert all("not known" in line for line in told[:-1]), told
    assert re.search(r"shm\?copy=auto: (near|far|not known); between ranks 0 and 1", told[0])


@functools.cache
def single_copies_count(build):
    """Does the kernel allow such reads, and does somebody count them? One launch for all rows."""
    row = CROWDED[0]
    _, reads, counts = bench(build, row, "auto", impls="shm?copy=single", sizes=[row[3][0]])
    return counts and reads > looks(row)


@pytest.mark.parametrize("row", CROWDED, ids=lambda row: row[0])
def test_the_kernel_copies_where_ranks_outnumber_cores(build, row):
    """Nothing is measured there. Each rank of a scatterv knows its own sizes; the root says in
    each call where its data are."""
    if family_of(build) != "openmpi":
        pytest.skip("ranks of this MPI hold the cores on which they wait")
    done, reads, _ = bench(build, row, "auto", sizes=[8, row[3][0]])
    small = bench(build, row, "auto", sizes=[8, 16 << 10])[1]
    if not single_copies_count(build):
        pytest.skip("this system forbids all such reads, or nobody counts them")
    assert reads > looks(row)
    assert not measurements(done), done.stderr
    assert small <= looks(row)


@pytest.mark.parametrize("seed", range(1, 7))
def test_ranks_that_know_different_things_decide_alike(build, seed):
    for row in ROWS[:1]:
        impls = f"shm?copy=auto,{row[0]}=shm?copy=auto"
        env = {"CRESTA_DEBUG": f"disagree={seed}", "CRESTA_FALLBACK": "silent"}
        bench(build, row, "auto", impls=impls, env=env)


def test_a_refusal_is_no_fallback(build):
    """Nobody asked for single copies: CRESTA_FALLBACK=error lets slots run."""
    for row in ROWS[:1]:
        env = {"READS": "fail=1", "CRESTA_FALLBACK": "error"}
        done, _, _ = bench(build, row, row[2], env=env)
        assert "runs instead" not in done.stderr


def test_ranks_must_be_told_the_same_distance(build):
    settings = {0: {"CRESTA_SHM_DISTANCE": "near"}, 1: {"CRESTA_SHM_DISTANCE": "far"}}
    done = run(build, "memory", "shm?copy=auto", rank_env=settings)
    assert done.returncode != 0 and "CRESTA_SHM_DISTANCE" in done.stderr, family_of(build)
