# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll threads`."""

import json
import shutil
import subprocess

import pytest
from click.testing import CliRunner
from conftest import giving_way
from crestacoll_tools import cli
from crestacoll_tools.bench import benchjob
from crestacoll_tools.builds import builds

pytestmark = pytest.mark.by_turns


@pytest.fixture(params=[b.name for b in builds.all_builds()])
def one(request):
    return next(b for b in builds.all_builds() if b.name == request.param)


def run(*words):
    words = ["threads", "--turns", "2", "--ms", "1", *words]
    done = CliRunner(env=giving_way()).invoke(cli.main, words)
    assert done.exit_code == 0, done.output
    return done.output


def test_all_ways_are_measured(one):
    words = ["--mpi", one.name, "--impl", "mpi,shm,begin:shm,begin:p2p", "--threads", "1,2"]
    records = json.loads(run(*words, "--json", "-"))["records"]
    assert [(r["impl"], r["threads"]) for r in records] == [
        (impl, n) for impl in ("mpi", "shm", "begin:shm", "begin:p2p") for n in (1, 2)
    ]
    assert all(r["calls_per_second"]["median"] > 0 for r in records)
    assert all(r["of_one_thread"]["median"] == 1 for r in records if r["threads"] == 1)
    assert all(r["locks_per_call"]["other"] > 1 for r in records if r["impl"] == "mpi")
    assert all(r["locks_per_call"]["crestacoll"] == 0 for r in records if r["impl"] == "shm")


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_instructions(one):
    """Those of a small call that does not wait are some hundreds."""
    words = ["--mpi", one.name, "--impl", "shm", "--threads", "1", "--instructions"]
    (record,) = json.loads(run(*words, "--json", "-"))["records"]
    assert record["instructions_per_call"] > 100


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--threads", "0"], "numbers of threads from 1 to 16"),
        (["--bytes", "12"], "a multiple of 8 bytes"),
        (["--impl", "nothing"], "expected an implementation"),
    ],
)
def test_what_is_no_such_thing(words, says):
    done = CliRunner().invoke(cli.main, ["threads", "--mpi", builds.all_builds()[0].name, *words])
    assert done.exit_code != 0
    assert says in done.output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["crestacoll-threads", "mpi", "0"], "numbers of threads from 1 to 16, not '0'"),
        (["crestacoll-shmem", "1"], "sizes of 8 to 65536 bytes"),
        (["crestacoll-atomics", "0"], "1 to 1000 batches"),
    ],
)
def test_the_job_ends_when_rank_0_has_spoken(one, words, says):
    """Rank 0 comes late to what it refuses. No other rank may end the job before."""
    late = one.folder / "lib" / "liblate_first.so"
    env = builds.clean_environment() | {"LD_PRELOAD": str(late)}
    command = [*benchjob.launch_words(one, 2), *one.words(words[0]), *words[1:]]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stderr.count(says) == 1, done.stdout + done.stderr
