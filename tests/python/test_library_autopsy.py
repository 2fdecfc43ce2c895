# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that end before MPI_Finalize: their black boxes say where each process was."""

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

import pytest
from crestacoll_tools.autopsy import ends, jobs, text
from crestacoll_tools.base.ui import Problem
from library_runs import ROOT, TIMEOUT, each_build, good
from test_library_hang import COMMAND, clean, job, preloaded, started

pytestmark = [each_build, pytest.mark.by_turns]

SOURCE = (ROOT / "tests" / "mpi" / "hangs.c").read_text().split("\n")


def line(words, case):
    """The number of the first line with these words in the function of a case."""
    first = SOURCE.index(f"static void {case}(void)")
    return next(i for i in range(first, len(SOURCE)) if words in SOURCE[i]) + 1


def in_boxes(build, folder, *words):
    preload = preloaded(build, "crestacoll-calls", "crestacoll-preload")
    return subprocess.run(
        job(build, "hangs_plain", *words, ranks=3),
        env=clean(LD_PRELOAD=preload, CRESTA_BLACKBOX=str(folder)),
        cwd="/",
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


@pytest.mark.parametrize("case", ["aborts", "crashes", "leaves"])
def test_an_end_before_finalize(build, tmp_path, case):
    """The last rank ends the job, which its record says; the others were in the barrier, or had not
    come there.
    """
    in_boxes(build, tmp_path / "job", case)
    found = jobs.read(tmp_path / "job")
    assert [b.rank for b in found.boxes] == [0, 1, 2] and found.ranks == 3
    names = text.names_of(found)
    *others, last = [text.where(names, b) for b in found.boxes]
    if case == "aborts":
        assert last == f"in MPI_Abort, at hangs.c:{line('MPI_Abort(', case)} aborts"
        assert text.odd(found).rank == 2
        assert "rank 2 called MPI_Abort" in "\n".join(text.lines(found))
    else:
        assert last.startswith("computing, in no call of the MPI; the last was MPI_Barrier, at")
    there = f"in MPI_Barrier, at hangs.c:{line('CALL(Barrier)', case)} {case}"
    early = re.compile(r"computing, .*|in MPI_\w+, at hangs\.c:\d+ main")
    assert all(place == there or early.fullmatch(place) for place in others), others


def test_many_places(build, tmp_path):
    """Each is there once, with what was counted: tables that grow are read where they are."""
    in_boxes(build, tmp_path / "job", "many")
    found = jobs.read(tmp_path / "job")
    assert [sum(c.calls for t in b.threads for c in t.counted if c.name == "MPI_Barrier")
            for b in found.boxes] == [301] * 3  # fmt: skip
    sites = [c.site for t in found.boxes[2].threads for c in t.counted if c.name == "MPI_Barrier"]
    assert len(sites) == len(set(sites)) == 301
    rows = [r for r in text.profile(found)["calls"]["list"] if r["call"] == "MPI_Barrier"]
    assert len({tuple(r["site"]) for r in rows}) >= 301


def until_begun(cwd):
    """The folder of the job whose processes work in `cwd`: other tests have jobs, too."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        for folder in jobs.folders():
            with contextlib.suppress(OSError, Problem):
                found = jobs.read(folder)
                if found and os.readlink(f"/proc/{found.boxes[0].pid}/cwd") == str(cwd):
                    return folder
        time.sleep(0.1)
    raise AssertionError("no black box")


def until_there(folder, places):
    """Reads the boxes of a job that runs, until its ranks are where the words say."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        found = jobs.read(folder)
        if found is not None and found.ranks == len(found.boxes) == len(places):
            names = text.names_of(found)
            if all(w in text.where(names, b) for w, b in zip(places, found.boxes, strict=True)):
                return found
        time.sleep(0.1)
    raise AssertionError(f"never there: {found and text.lines(found)}")


def test_a_job_that_is_killed(build, tmp_path):
    """By default, as README shows it: `run` says where the ranks were, and autopsy shows more. The
    profile could not be written.
    """
    words = job(build, "hangs_plain", "window", ranks=3)
    command = [*COMMAND, "run", "--profile", "p.json", "--", *words]
    created = f"in MPI_Win_create, at hangs.c:{line('MPI_Win_create', 'window')} window"
    with started(command, tmp_path) as process:
        folder = until_begun(tmp_path)
        found = until_there(folder, (created, created, "computing"))
        done = subprocess.run([*COMMAND, "hang", str(process.pid)], env=clean(),
                              capture_output=True, text=True, check=True)  # fmt: skip
        assert "the job runs; 3 of 3 ranks:" in done.stdout, done.stdout
        assert f"ranks 0-1: {created}, for " in done.stdout, done.stdout
        for b in found.boxes:
            with contextlib.suppress(ProcessLookupError):  # launchers kill the others
                os.kill(b.pid, signal.SIGKILL)
        _, said = process.communicate(timeout=TIMEOUT)
    assert f"ranks 0-1: {created}, for " in said and "rank 2: computing" in said, said
    assert "`crestacoll autopsy` shows" in said
    assert not folder.exists()
    folder = jobs.store() / folder.name
    done = subprocess.run([*COMMAND, "autopsy", folder, "--rank", "2", "--last", "3"], env=clean(),
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert created in done.stdout and "The last calls of rank 2" in done.stdout
    assert "time of a rank" in done.stdout
    assert re.search(r"\nWin_create +hangs\.c:\d+ window ", done.stdout), done.stdout
    done = subprocess.run([*COMMAND, "autopsy", folder, "--json"], env=clean(),
                          capture_output=True, text=True, check=True)  # fmt: skip
    data = json.loads(done.stdout)
    assert data["exit_code"] != 0 and data["command"] == [str(word) for word in words]
    assert [p["place"] for p in data["processes"][:2]] == [created] * 2
    assert data["processes"][2]["calls"][-1]["call"] == "MPI_Barrier"


def tells_ends():
    """Whether the system tells how a process ended that is not one's own child: Linux 6.15."""
    process = subprocess.Popen(["true"])
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        return False
    process.wait()
    told = ends.status(descriptor)
    os.close(descriptor)
    return told == 0


def test_one_crashes(build, tmp_path):
    """By what it ended, and that it is the one to look at; the launcher ends the others."""
    if not tells_ends():
        pytest.skip("the system does not tell how processes end")
    command = [*COMMAND, "run", "--profile", "p.json", "--"]
    with started([*command, *job(build, "hangs_plain", "window", ranks=3)], tmp_path) as process:
        created = f"in MPI_Win_create, at hangs.c:{line('MPI_Win_create', 'window')} window"
        found = until_there(until_begun(tmp_path), (created, created, "computing"))
        time.sleep(1.5)  # `run` looks for processes every second
        os.kill(found.boxes[1].pid, signal.SIGABRT)
        _, said = process.communicate(timeout=TIMEOUT)
    done = subprocess.run([*COMMAND, "autopsy"], env=clean(), cwd=tmp_path,
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert "crestacoll: rank 1: killed by SIGABRT" in said, said
    assert "The last calls of rank 1" in done.stdout, done.stdout


# `crestacoll run`, whose patience is short.
IMPATIENT = [
    sys.executable,
    "-c",
    "from crestacoll_tools import cli; from crestacoll_tools.autopsy import watch;"
    " watch.LIMIT_S = 2; cli.main()",
    "run",
]


def read_until(pipe, words):
    """What a process writes until it has written the words."""
    end, said = time.monotonic() + TIMEOUT, ""
    while words not in said:
        ready, _, _ = select.select([pipe], [], [], max(0, end - time.monotonic()))
        read = os.read(pipe.fileno(), 4096) if ready else b""
        assert read, f"it has only said: {said}"
        said += read.decode()
    return said


def test_a_job_that_stands_still(build, tmp_path):
    """`run` says so by itself, and the job goes on."""
    words = job(build, "hangs_plain", "window", ranks=3)
    path = str(ROOT / "python")
    created = f"in MPI_Win_create, at hangs.c:{line('MPI_Win_create', 'window')} window"
    command = [*IMPATIENT, "--profile", "p.json", "--", *words]
    with started(command, tmp_path, PYTHONPATH=path) as process:
        until_there(until_begun(tmp_path), (created, created, "computing"))
        said = read_until(process.stderr, "rank 2: computing, in no call")
        assert "crestacoll: no rank on this host has come out of a call of the MPI for" in said
        assert f"    ranks 0-1: {created}, for " in said, said
        assert process.poll() is None


def test_a_good_job_leaves_nothing(build, tmp_path):
    """No file; and no folder, where `run` has named it."""
    done = good(in_boxes(build, tmp_path / "crestacoll-0" / "job", "window", "good"))
    assert done.stderr == "" and list(tmp_path.iterdir()) == []
    (tmp_path / "own").mkdir()
    good(in_boxes(build, tmp_path / "own", "window", "good"))
    assert list((tmp_path / "own").iterdir()) == []


def test_without_room(build, tmp_path):
    """The program runs as ever, and one rank says that there is no box: where there can be no
    folder, or others may write in it.
    """
    (tmp_path / "file").write_text("")
    done = good(in_boxes(build, tmp_path / "file", "window", "good"))
    assert done.stderr.count("no black box in CRESTA_BLACKBOX=") == 1, done.stderr
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    done = good(in_boxes(build, tmp_path / "open", "window", "good"))
    assert done.stderr.count("no black box in CRESTA_BLACKBOX=") == 1, done.stderr
    assert list((tmp_path / "open").iterdir()) == []
