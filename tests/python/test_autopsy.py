# SPDX-License-Identifier: BSD-3-Clause
"""Black boxes that a program has made: what is read from them, and which are kept."""

import dataclasses
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import time

import pytest
from crestacoll_tools.autopsy import box, ends, jobs, text, watch
from crestacoll_tools.base.ui import Problem

AREA, LAST_AT, ENTRIES_AT, NOTES = 1 << 16, 256, 256 + 1024 * 32, 1 << 14
NOTED = (
    "function MPI_Barrier collective\nfunction MPI_Recv receive\nfunction MPI_Abort job\n"
    "module 1000 2000 3000 - /no/such/solver\nline 77 5 step /a/program.py\n"
)
PLAIN, PYTHON = 0x2345, 0x77  # places


def made(path, rank, ranks=2, inside=0, site=PLAIN, calls=1, **head):
    """A box of a thread whose calls are barriers that take 1 s each, one after the other: a tick is
    1 ms. `inside`: the number of the function that it is in, since the last one ended, from 1 on.
    """
    told = {"magic": box.MAGIC, "version": 1, "spawned": 0, "one": 1, "first_s": 100.0} | head
    told = {"host": socket.gethostname(), "pid": 4711 + rank} | told
    noted = told.get("notes", NOTED)
    data = bytearray(4096 + NOTES + AREA)
    box.HEAD.pack_into(
        data, 0, told["magic"], told["version"], told["pid"], rank, ranks, told["spawned"],
        told["one"], 4096, len(noted), 4096 + NOTES, AREA, LAST_AT, 0, 10_000, 7.0, 17.0,
        told["first_s"], told["host"].encode(),
    )  # fmt: skip
    data[4096 : 4096 + len(noted)] = noted.encode()
    at = 4096 + NOTES
    box.THREAD.pack_into(data, at, 1, ENTRIES_AT, 256, calls, inside, site, 1000 * calls)
    for k in range(calls):
        place = at + LAST_AT + k % box.LAST * box.CALL.size
        box.CALL.pack_into(data, place, site, 0 << 8, 1000 * k, 1000 * (k + 1))
    if calls:
        entry = (site, 0 << 8, calls, 0, 1000 * calls, 1000)
        box.ENTRY.pack_into(data, at + ENTRIES_AT, *entry)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def job_of(folder, *ranks, **options):
    for number, rank in enumerate(ranks):
        made(folder / f"node7.999999{number}.0", number, len(ranks), **rank, **options)
    return jobs.read(folder)


def test_where_they_were(tmp_path):
    receives = {"inside": 2, "site": PYTHON}
    job = job_of(tmp_path, {"inside": 1}, {"inside": 1}, receives, {"calls": 0})
    assert text.lines(job) == [
        "crestacoll: 4 of 4 ranks did not come to the end of MPI_Finalize; where they were:",
        "    ranks 0-1: in MPI_Barrier, at solver+0x1345, for at least 9 s",
        "    rank 2: in MPI_Recv, at program.py:5 step, for at least 9 s",
        "    rank 3: computing, before its first call of the MPI",
    ]
    assert text.odd(job).rank == 2


def test_a_tool_that_is_ahead(tmp_path):
    """A process may be in a call that did not come to crestacoll."""
    job = job_of(tmp_path, {"calls": 3})
    job.boxes[0].ahead = "/opt/libtool.so"
    assert "computing, or in a call that libtool.so did not hand on" in text.lines(job)[1]


def test_the_end_is_known(tmp_path):
    job = job_of(tmp_path / "a", {"inside": 1}, {"calls": 3})
    job.ended = 121.0
    said = "\n".join(text.lines(job))
    assert "rank 0: in MPI_Barrier, at solver+0x1345, for 20 s" in said, said
    assert "rank 1: computing, in no call of the MPI; the last was MPI_Barrier, at solver" in said
    assert said.endswith("for 18 s"), said


def test_a_rank_that_aborts_comes_first(tmp_path):
    job = job_of(tmp_path, {"inside": 1}, {"inside": 1}, {"inside": 3})
    assert text.odd(job).rank == 2 and "rank 2 called MPI_Abort" in "\n".join(text.lines(job))


def test_ranks_that_are_missing(tmp_path):
    made(tmp_path / "node7.9999991.0", 1, 4)
    assert "0,2-3: no record here" in "\n".join(text.lines(jobs.read(tmp_path)))


def test_another_host_has_another_clock(tmp_path):
    """When its processes ended is not known."""
    job = job_of(tmp_path, {"inside": 1}, {"inside": 1, "host": "other", "first_s": 5e9})
    job.ended = 121.0
    said = "\n".join(text.lines(job))
    assert "for at least 9 s to 20 s" in said, said
    assert text.since(job, job.boxes[0]) == 20 and text.since(job, job.boxes[1]) == 9


def test_a_job_that_runs(tmp_path, monkeypatch):
    """It is not said to have died; one that has is shown first."""
    monkeypatch.setattr(jobs, "root", lambda: tmp_path)
    monkeypatch.setattr(jobs, "store", lambda: tmp_path / "none")
    tmp_path.chmod(0o700)
    made(tmp_path / "dead" / "node7.9999990.0", 0, 1)
    made(tmp_path / "runs" / f"{socket.gethostname()}.{os.getpid()}.0", 0, 1)
    assert jobs.newest().name == "dead"
    said = text.lines(jobs.read(tmp_path / "runs"))
    assert said[0] == "crestacoll: the job runs; 1 of 1 rank:", said
    assert jobs.of_processes({os.getpid(), 1}).folder.name == "runs"
    assert jobs.of_processes({1}) is None
    # Its rank is still on its way out.
    ended = jobs.end(tmp_path / "runs", ["./app"], 143, ends.Ends())
    assert "1 of 1 rank did not come to the end" in text.lines(ended)[0]
    monkeypatch.setattr(jobs, "has_watchdog", lambda pid: True)
    assert jobs.of_processes({os.getpid()}) is None  # a roll-call will tell


def test_other_threads(tmp_path):
    """The main thread tells; others that were in a call are named."""
    job = job_of(tmp_path, {"calls": 2})
    (thread,) = job.boxes[0].threads
    helper = dataclasses.replace(thread, main=False, now=box.Call("MPI_Recv", "receive", PLAIN, 3))
    job.boxes[0].threads.append(helper)
    (said,) = {text.where(text.names_of(job), b) for b in job.boxes}
    assert said.startswith("computing") and said.endswith("another thread in MPI_Recv, at "
                                                          "solver+0x1345"), said  # fmt: skip


def test_the_last_calls(tmp_path):
    """The ring keeps 1024 of them."""
    job = job_of(tmp_path, {"calls": 2000, "inside": 2})
    (thread,) = job.boxes[0].threads
    assert len(thread.last) == 1024 and thread.last[0].start == 100 + 976
    *_, ended, now = text.last_calls(job, job.boxes[0], 3)
    assert ended[0] == "MPI_Barrier" and ended[3] == pytest.approx(1)
    assert now[0] == "MPI_Recv" and now[3] is None


def test_the_time_until_then(tmp_path):
    """A call that was not over counts, too; all adds up."""
    job = job_of(tmp_path, {"calls": 4, "inside": 2}, {"calls": 10})
    job.ended = 110.0
    found = text.profile(job)
    times = {c["call"]: c["time_us"]["mean"] * c["ranks"] for c in found["calls"]["list"]}
    assert times == pytest.approx({"MPI_Barrier": 14e6, "MPI_Recv": 6e6})
    assert found["calls"]["wall_us"]["mean"] == pytest.approx(10e6)


@pytest.mark.parametrize("head", [{"magic": b"otherbox"}, {"version": 2}, {"one": 1 << 24}])
def test_files_that_are_no_boxes(tmp_path, head):
    with pytest.raises(Problem):
        box.read(made(tmp_path / "node7.9999991.0", 0, **head))


def test_a_box_that_is_damaged(tmp_path):
    """The others are read; it is named. Alone, it is a problem."""
    job_of(tmp_path, {"inside": 1}, {"inside": 1})
    data = bytearray((tmp_path / "node7.9999991.0").read_bytes())
    at = 24 + 8 + 3 * 8  # the bytes of an area
    data[at : at + 8] = bytes(8)
    (tmp_path / "node7.9999991.0").write_bytes(data)
    told = text.lines(jobs.read(tmp_path))
    assert "at least 1 of 2 ranks did" in told[0]
    assert "node7.9999991.0 is a damaged black box" in told[-1], told
    (tmp_path / "node7.9999990.0").unlink()
    with pytest.raises(Problem, match="damaged"):
        jobs.read(tmp_path)


def test_whatever_is_in_a_file(tmp_path):
    """A box that was cut off, or that a program has written over, is read as far as it goes."""
    whole = made(tmp_path / "whole", 0, calls=3, inside=1).read_bytes()
    for length in range(0, len(whole), 997):
        (tmp_path / "cut").write_bytes(whole[:length])
        try:
            box.read(tmp_path / "cut")
        except Problem:
            assert length < box.HEAD.size


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The user's folder of jobs that run; that of those that have died is `store`, beside it."""
    folder = tmp_path / "boxes"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(jobs, "root", lambda: folder)
    monkeypatch.setattr(jobs, "store", lambda: tmp_path / "store")
    return folder


def test_three_jobs_are_kept(root, tmp_path, monkeypatch):
    """On disk, with the same boxes; nothing stays in memory."""
    for name in "abcde":
        made(root / name / "node7.9999990.0", 0, 1, inside=1)
        before = text.lines(jobs.read(root / name))
        time.sleep(0.02)  # their order is that of the file system's time stamps
        assert jobs.end(root / name, ["./app"], 137, ends.Ends()).command == ["./app"]
        assert text.lines(jobs.read(tmp_path / "store" / name))[1].partition(", for")[0] == (
            before[1].partition(", for")[0]
        )
    assert not root.exists()
    assert [f.name for f in jobs.folders()] == ["c", "d", "e"]
    assert jobs.newest().name == "e" and jobs.read(jobs.newest()).code == 137
    monkeypatch.chdir(tmp_path)
    (tmp_path / "store" / "d" / jobs.JOB).write_text(f'{{"cwd": "{tmp_path}"}}')
    assert jobs.newest().name == "d"  # it was started here


def test_what_has_no_box_goes(root, tmp_path):
    made(root / "e" / "node7.9999990.0", 0, 1)
    assert jobs.has_left({"CRESTA_BLACKBOX": str(root / "e")})
    (root / "f").mkdir()
    assert not jobs.has_left({"CRESTA_BLACKBOX": str(root / "f")}) and not (root / "f").exists()
    assert not jobs.has_left({}) and not jobs.has_left({"CRESTA_BLACKBOX": str(tmp_path)})


def test_what_no_run_has_moved_goes_after_a_week(root):
    for name in ("old", "new"):
        made(root / name / "node7.9999990.0", 0, 1)
    os.utime(root / "old", (1, 1))
    jobs.prune()
    assert [f.name for f in jobs.folders()] == ["new"]


def test_a_folder_of_others(tmp_path, monkeypatch):
    """Nothing is read or made where somebody else may write."""
    monkeypatch.setattr(jobs, "root", lambda: tmp_path / "open")
    monkeypatch.setattr(jobs, "store", lambda: tmp_path / "store")
    assert jobs.setting({})["CRESTA_BLACKBOX"].startswith(str(tmp_path / "open"))
    assert jobs.setting({"CRESTA_BLACKBOX": "off"}) == {}
    made(tmp_path / "open" / "job" / "node7.9999990.0", 0, 1)
    (tmp_path / "else").write_text("mine")
    (tmp_path / "open" / "job" / "job.json").symlink_to(tmp_path / "else")
    assert jobs.end(tmp_path / "open" / "job", ["./app"], 1, ends.Ends()).code == 1
    assert (tmp_path / "else").read_text() == "mine"
    made(tmp_path / "open" / "job" / "node7.0.0", 0, 1)
    (tmp_path / "open").chmod(0o777)
    assert jobs.setting({}) == {} and len(jobs.folders()) == 1  # that in the store
    assert jobs.end(tmp_path / "open" / "job", ["./app"], 1, ends.Ends()) is None
    shutil.rmtree(tmp_path / "store")
    with pytest.raises(Problem, match="no job left a black box"):
        jobs.newest()


def test_the_layout_is_that_of_the_library():
    """The sizes of the structures in src/calls/box.h."""
    sizes = [s.size for s in (box.HEAD, box.THREAD, box.CALL, box.ENTRY)]
    assert sizes == [176, 56, 32, 48] and struct.calcsize("=d") == 8


def host_box(folder, number):
    """Where a process of this host has its box."""
    return folder / f"{socket.gethostname()}.{4711 + number}.0"


def test_progress(tmp_path):
    """How many calls have ended, and whether one lasts; what is no box is left out, and what is of
    another host.
    """
    path = made(host_box(tmp_path, 0), 0, inside=1, calls=3)
    made(host_box(tmp_path, 1), 1, calls=2)
    host_box(tmp_path, 2).write_text("no box")
    made(tmp_path / "node7.1.0", 3)
    told = {host_box(tmp_path, 0).name: (3, True), host_box(tmp_path, 1).name: (2, False)}
    assert watch.progress(tmp_path) == told
    made(path, 0, inside=2, calls=4)
    assert watch.progress(tmp_path)[path.name] == (4, True)


@pytest.mark.parametrize("inside, ahead", [(1, ""), (0, ""), (1, "/opt/libtool.so")])
def test_a_job_stands_still(tmp_path, monkeypatch, capsys, inside, ahead):
    """It is said once where a process is in a call, and where all calls are seen."""
    monkeypatch.setattr(watch, "LIMIT_S", 0.2)
    path = made(host_box(tmp_path, 0), 0, ranks=3, inside=inside)
    if ahead:
        made(path, 0, ranks=3, inside=inside, notes=f"{NOTED}ahead {ahead}\n")
        assert box.read(path).ahead == ahead
    with watch.of({"CRESTA_BLACKBOX": tmp_path}, says_still=True) as boxes:
        boxes.thread.start()
        until = time.monotonic() + (60 if inside else 0.5)
        while boxes.says_still and time.monotonic() < until:
            time.sleep(0.05)
    said = capsys.readouterr().err.splitlines()
    if ahead or not inside:
        assert said == []
        return
    assert said[0].startswith("crestacoll: no rank on this host has come out of a call of the MPI")
    assert said[1].startswith("    rank 0: in MPI_Barrier, at solver+0x1345, for ")
    assert said[2:] == ["    1-2: no record here: perhaps on another host"]


def waited(process, signal_number=None):
    if signal_number:
        process.send_signal(signal_number)
    process.wait(60)


def test_how_processes_end(tmp_path):
    """In which order, and by what, where the system tells; a job that has moved still says so."""
    programs = [["sleep", "60"], ["sleep", "60"], ["sh", "-c", "read line; exit 3"]]
    processes = [subprocess.Popen(words, stdin=subprocess.PIPE) for words in programs]
    folder = tmp_path / "runs" / "job"
    for rank, process in enumerate(processes):
        path = folder / f"{socket.gethostname()}.{process.pid}.0"
        made(path, rank, 3, inside=1, pid=process.pid)
    with watch.of({"CRESTA_BLACKBOX": folder}, says_still=False) as boxes:
        boxes.thread.start()
        until = time.monotonic() + 60
        while len(boxes.open) < 3 and time.monotonic() < until:
            time.sleep(0.05)
        waited(processes[1], signal.SIGKILL)
        while not boxes.ended and time.monotonic() < until:
            time.sleep(0.05)
        waited(processes[0], signal.SIGTERM)
        processes[2].stdin.write(b"\n")
        processes[2].stdin.close()
        waited(processes[2])
        while sum(len(pids) for _, _, pids in boxes.ended) < 3 and time.monotonic() < until:
            time.sleep(0.05)
    found = boxes.seen
    how = [found.found[process.pid].how for process in processes]
    assert found.found[processes[1].pid].order == 0 < found.found[processes[0].pid].order
    assert how in (["killed by SIGTERM", "killed by SIGKILL", "exit code 3"], ["", "", ""])
    job = jobs.read(folder)
    job.ends = ends.Ends.of_dict(json.loads(json.dumps(found.as_dict())))
    job.ends.for_memory = 1
    (said,) = [said for said in text.lines(job) if "ended first" in said]
    assert re.match(r"crestacoll: rank 1 ended first.*, [\d.]+ \w+ before the next", said), said
    assert said.endswith("for lack of memory the system ended 1 process of this host meanwhile")
    assert text.odd(job).rank == 1
    if how[0]:
        assert "first, killed by SIGKILL, " in said and "; rank 0: killed by SIGTERM; " in said
        assert "; rank 2: exit code 3; " in said
        assert text.end_of(job, job.boxes[2])["exit_code"] == 3
