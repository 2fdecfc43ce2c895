# SPDX-License-Identifier: BSD-3-Clause
"""A process fails where the launcher lets the job live: calls of the others return, and nothing is
left behind."""

import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from library_runs import AS_ROOT, TIMEOUT, cached, each_build, gives_way, library_of

pytestmark = each_build

RANKS = 3
PRTE_AS_ROOT = {name.replace("OMPI", "PRTE"): value for name, value in AS_ROOT.items()}


def is_open_mpi_5(build):
    return re.match(r"Open MPI v?5", library_of(build)) is not None


def launcher_of(build):
    """With what lets the others live."""
    if "Open MPI" not in library_of(build):
        options = []  # Hydra ends the others in spite of -disable-auto-cleanup: below
    elif is_open_mpi_5(build):
        # MPI_Finalize may wait for the process that failed: docs/failures.md.
        options = ["--oversubscribe", "--with-ft", "ulfm", "--mca", "async_mpi_finalize", "1"]
    else:
        options = ["--oversubscribe", "--enable-recovery"]
    return [cached(build, "MPIEXEC_EXECUTABLE"), *options, *gives_way(build)]


# To Hydra the shell is the process, and that one lives on.
HIDDEN = ("sh", "-c", '"$0" "$@" || sleep 2')


def launch(build, program, *arguments, ranks=RANKS, env=None):
    """What the ranks print, stdout and stderr; a hang is a failure."""
    hidden = () if "Open MPI" in library_of(build) else HIDDEN
    job = subprocess.Popen(
        [*launcher_of(build), "-n", str(ranks), *hidden, program, *arguments],
        env={**os.environ, **AS_ROOT, **PRTE_AS_ROOT, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        return job.communicate(timeout=TIMEOUT)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)


def failed(build, mode, impl, *more, env=None, ranks=RANKS):
    """(what is right, stderr) of `failed`."""
    rules = {"CRESTA_IMPL": f"barrier={impl.split(':')[0]},*={impl}", **(env or {})}
    program = build / "tests" / "bin" / "failed"
    out, err = launch(build, program, mode, *more, env=rules, ranks=ranks)
    assert "WRONG" not in out, f"{out}\n{err}"
    return sorted(re.findall(r"^rank (\d) (\w+): right$", out, re.MULTILINE)), err


def takes_seconds(build):
    """Nobody knows for whom collectives of the MPI wait: the others are patient for ten seconds."""
    if "Open MPI" not in library_of(build):
        pytest.skip("ranks of MPICH hold the cores while they wait")


def of_others(*what):
    return sorted((rank, one) for rank in "02" for one in what)


@pytest.mark.parametrize(
    "impl, elements", [("shm", "1"), ("shm", "300000"), ("shm:ring", "300000"), ("p2p", "1")]
)
def test_a_call_returns_and_so_do_later_ones(build, impl, elements):
    found, err = failed(build, "call", impl, elements)
    assert found == of_others("returns", "again", "barrier"), err


def test_large_data_that_the_kernel_copies(build):
    found, err = failed(build, "call", "shm?copy=single", "300000")
    assert found == of_others("returns", "again", "barrier"), err


@pytest.mark.parametrize("impl", ["shm", "p2p"])
def test_who_waits_for_one_that_gave_up_gives_up(build, impl):
    found, err = failed(build, "indirect", impl)
    assert found == of_others("returns"), err


@pytest.mark.parametrize("impl", ["shm", "p2p"])
def test_a_begun_call_ends(build, impl):
    found, err = failed(build, "begun", impl, env={"CRESTA_ASYNC": "thread"})
    assert found == of_others("returns", "again"), err


def test_a_send_to_who_failed_is_not_freed(build):
    """Open MPI 5 ends the job when a send fails whose request was freed."""
    if not is_open_mpi_5(build):
        pytest.skip("no Open MPI 5: requests are freed")
    env = {"CRESTA_IMPL": "barrier=p2p,*=p2p:chain"}
    out, err = launch(build, build / "tests" / "bin" / "failed_sends", ranks=2, env=env)
    assert re.findall(r"^rank 0 (\w+): right$", out, re.MULTILINE) == ["returns", "kept"], out + err


def test_a_set_up_that_one_rank_did_not_see_end(build):
    """Ranks that have the library's communicator do not wait there for ranks that have not."""
    if not is_open_mpi_5(build):
        pytest.skip("no Open MPI 5: set-ups wait for the rank that has failed")
    env = {"CRESTA_IMPL": "*=hier", "CRESTA_NODES": "0,0,1"}
    out, err = launch(build, build / "tests" / "bin" / "failed_set_up", env=env)
    assert sorted(re.findall(r"^rank (\d) repaired: right$", out, re.MULTILINE)) == ["0", "1"], (
        out + err
    )


@pytest.mark.parametrize("mode, ranks", [("exchange", 3), ("exchange", 5), ("exchanging", 3)])
def test_an_exchange_ends(build, mode, ranks):
    if ranks > RANKS and "Open MPI" not in library_of(build):
        pytest.skip("ranks of MPICH hold the cores while they wait")
    found, err = failed(build, mode, "p2p", ranks=ranks)
    others = [str(rank) for rank in range(ranks) if rank != 1]
    assert found == sorted((rank, one) for rank in others
                           for one in ("returns", "again", "barrier")), err


@pytest.mark.parametrize("impl", ["shm", "p2p"])
def test_a_replay_ends(build, impl):
    found, err = failed(build, "replay", impl)
    assert found == of_others("returns", "again", "call", "freed"), err


def test_the_end_of_a_recording_ends(build):
    takes_seconds(build)
    found, err = failed(build, "record", "p2p")
    assert found == of_others("returns", "again"), err


def test_a_race_ends_the_job(build, tmp_path):
    """Ranks would come to run different implementations without it. Where the job can go on there
    is no race."""
    takes_seconds(build)
    file = tmp_path / "race.txt"
    lines = ["crestacoll race 1", f"output {tmp_path / 'race.jsonl'}", "watch_ms 0", "block_ms 0"]
    lines += ["arm p2p *=p2p", "arm shm *=shm"]
    file.write_text("\n".join(lines) + "\n")
    found, err = failed(build, "race", "shm", "100", env={"CRESTA_RACE": str(file)})
    if is_open_mpi_5(build):
        assert found == of_others("returns"), err
        assert "CRESTA_RACE: nothing is compared: the job goes on after failures" in err
    else:
        assert not found and "rank 1 of communicator 'grid' has failed; rank" in err, err


def test_who_has_given_its_data_has_not_failed(build):
    found, err = failed(build, "gave", "shm")
    assert found == of_others("takes"), err


def test_one_message_where_the_job_ends(build):
    found, err = failed(build, "handler", "shm")
    said = [line for line in err.splitlines() if line.startswith("crestacoll: ")]
    assert len(said) == 1 and not found, err
    assert re.search(
        r"rank 1 on \S+ \(process \d+\) of communicator 'grid' has failed; rank [02] found out in "
        r"allreduce",
        said[0],
    ), said


@pytest.mark.parametrize("impl", ["shm", "p2p"])
def test_who_ended_because_of_a_failure_has_not_failed(build, impl):
    _, err = failed(build, "late", impl)
    said = [line for line in err.splitlines() if line.startswith("crestacoll: ")]
    assert len(said) == 1 and re.search(r" rank 1 on .* has failed; rank 2 found", said[0]), err


@pytest.mark.parametrize("impl, ranks, first, nodes", [("shm", 3, 1, "auto"), ("p2p", 3, 1, "auto"),
                                                       ("hier", 4, 2, "0,1,0,1")])
def test_each_that_failed_is_named(build, impl, ranks, first, nodes):
    """Also where they are on several nodes, and each rank that is left can only see its own."""
    if ranks > RANKS and "Open MPI" not in library_of(build):
        pytest.skip("ranks of MPICH hold the cores while they wait")
    env = {"CRESTA_LOG": "info", "CRESTA_NODES": nodes}
    found, err = failed(build, "several", impl, str(first), env=env, ranks=ranks)
    left = [str(rank) for rank in range(first)]
    assert found == sorted((rank, one) for rank in left for one in ("returns", "again")), err
    named = re.findall(r"rank (\d) on \S+ \(process \d+\) of communicator 'grid' has failed", err)
    assert set(named) >= {str(rank) for rank in range(first, ranks)}, err


def segments():
    """What is in memory under our name, but for folders: they are of commands that run beside."""
    with os.scandir("/dev/shm") as entries:
        return {e.name for e in entries if "cresta" in e.name.lower() and not e.is_dir()}


def test_nothing_is_left(build):
    before = segments()
    failed(build, "call", "shm", "300000")
    assert segments() <= before


def repair_program(build):
    program = build / "bin" / "recovery"
    if not is_open_mpi_5(build):
        pytest.skip("no Open MPI 5, whose jobs go on after a failure")
    if not program.exists():
        pytest.skip("examples are not built without Fortran: tools/failure_trials.py runs it")
    return program


@pytest.mark.parametrize("impl", ["mpi", "nonblock", "p2p", "shm", "hier"])
def test_a_program_goes_on(build, impl):
    program = repair_program(build)
    out, err = launch(
        build, program, "--steps", "20000", "--kill", "1", env={"CRESTA_IMPL": f"*={impl}"}
    )
    assert "the right answer" in out and "repaired:" in out, f"{out}\n{err}"


def test_without_ulfm_repair_says_so(build):
    if is_open_mpi_5(build):
        pytest.skip("this MPI can go on")
    program = build / "tests" / "bin" / "failed"
    assert Path(program).exists()
    found, err = failed(build, "repair", "shm")
    assert found == sorted((rank, "refused") for rank in "012"), err
    said = [line for line in err.splitlines() if line.startswith("crestacoll: ")]
    assert len(said) == 1 and "CRESTA_Comm_repair" in said[0], err
