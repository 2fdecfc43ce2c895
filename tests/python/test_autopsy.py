# SPDX-License-Identifier: BSD-3-Clause
"""Black boxes that a program has made: what is read from them, and which are kept."""

import dataclasses
import json
import os
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
        "    rank 3: it is not known where: there was no room for its calls",
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
    ended = jobs.end(tmp_path / "runs", ["./app"], 143)
    assert "1 of 1 rank did not come to the end" in text.lines(ended)[0]
    (tmp_path / "dead" / "job.json").write_text(json.dumps({"cwd": os.getcwd()}))
    os.utime(tmp_path / "dead", ns=(0, 0))
    assert jobs.newest().name == "runs"  # also while a process of it is there
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
        assert jobs.end(root / name, ["./app"], 137).command == ["./app"]
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
    assert jobs.end(tmp_path / "open" / "job", ["./app"], 1).code == 1
    assert (tmp_path / "else").read_text() == "mine"
    made(tmp_path / "open" / "job" / "node7.0.0", 0, 1)
    (tmp_path / "open").chmod(0o777)
    assert jobs.setting({}) == {} and len(jobs.folders()) == 1  # that in the store
    assert jobs.end(tmp_path / "open" / "job", ["./app"], 1) is None
    shutil.rmtree(tmp_path / "store")
    with pytest.raises(Problem, match="no job left a black box"):
        jobs.newest()


def test_the_layout_is_that_of_the_library():
    """The sizes of the structures in src/calls/box.h."""
    sizes = [s.size for s in (box.HEAD, box.THREAD, box.CALL, box.ENTRY)]
    assert sizes == [176, 56, 32, 48] and struct.calcsize("=d") == 8


@pytest.fixture
def alive():
    """Processes of this test that wait to be ended."""
    programs = [["sleep", "600"], ["sleep", "600"], ["sh", "-c", "read line; exit 3"]]
    processes = [subprocess.Popen(words, stdin=subprocess.PIPE) for words in programs]
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def box_of(folder, process, rank, **options):
    path = folder / f"{socket.gethostname()}.{process.pid}.0"
    return made(path, rank, pid=process.pid, **options)


def test_progress(tmp_path, alive):
    """How many calls have ended, and whether one lasts, of processes of this host that live."""
    box_of(tmp_path, alive[0], 0, inside=1, calls=3)
    box_of(tmp_path, alive[1], 1, calls=2)
    (tmp_path / f"{socket.gethostname()}.{alive[2].pid}.0").write_text("no box")
    made(tmp_path / "node7.1.0", 3, inside=1)
    made(tmp_path / f"{socket.gethostname()}.9999999.0", 4, inside=1)
    seen = watch.Watch(tmp_path, True)
    assert seen.progress_now() == {alive[0].pid: (3, True), alive[1].pid: (2, False)}
    box_of(tmp_path, alive[0], 0, inside=2, calls=4)
    assert seen.progress_now()[alive[0].pid] == (4, True)
    seen.ended.append([alive[0].pid])
    assert seen.progress_now() == {alive[1].pid: (2, False)}
    seen.ended.clear()
    seen.close()


def looks(seen, times):
    for now in times:
        seen.look_whether_still(seen.begin + now)


def test_a_job_stands_still(tmp_path, alive, capsys):
    """It is said once, when no call has ended for ten minutes while the watch looked."""
    box_of(tmp_path, alive[0], 0, ranks=3, inside=1)
    box_of(tmp_path, alive[1], 1, ranks=3, inside=2, calls=2)
    seen = watch.Watch(tmp_path, True)
    looks(seen, range(0, 300, 30))
    box_of(tmp_path, alive[1], 1, ranks=3, inside=2, calls=3)  # at 300 s
    looks(seen, range(300, 900, 30))
    assert capsys.readouterr().err == ""
    looks(seen, [3000])  # nobody looked: perhaps all was stopped
    looks(seen, range(3030, 3600, 30))
    assert capsys.readouterr().err == "" and seen.says_still
    looks(seen, range(3600, 3630, 30))
    assert not seen.says_still
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("crestacoll: no rank on this host has come out of a call of the MPI")
    assert "for 600 s; the job goes on" in said[0]
    places = sorted(line.partition(", for ")[0] for line in said[1:3])
    assert places[0] == "    rank 0: in MPI_Barrier, at solver+0x1345"
    assert places[1] == "    rank 1: in MPI_Recv, at solver+0x1345"
    assert said[3:] == ["    2: no record here: perhaps on another host"]
    seen.close()


@pytest.mark.parametrize("why", ["none is inside", "a tool is ahead", "no room"])
def test_a_job_may_go_on(tmp_path, alive, capsys, why):
    """Nothing is said where no process waits, or where not all calls are seen."""
    inside = 0 if why == "none is inside" else 1
    notes = NOTED + ("ahead /opt/libtool.so\n" if why == "a tool is ahead" else "")
    box_of(tmp_path, alive[0], 0, ranks=2, inside=inside, notes=notes)
    box_of(tmp_path, alive[1], 1, ranks=2, calls=0 if why == "no room" else 1)
    seen = watch.Watch(tmp_path, True)
    looks(seen, range(0, 1200, 30))
    assert capsys.readouterr().err == ""
    assert seen.says_still == (why == "none is inside")
    seen.close()


def test_only_boxes_that_run_has_named(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "root", lambda: tmp_path / "root")
    for value in ("", "off", str(tmp_path), str(tmp_path / "root" / "a" / "b")):
        with watch.of({"CRESTA_BLACKBOX": value}, says_still=True) as boxes:
            assert boxes is None
    with watch.of({"CRESTA_BLACKBOX": str(tmp_path / "root" / "a")}, says_still=True) as boxes:
        boxes.started()
    assert not boxes.thread.is_alive() and boxes.seen == ends.Ends()


def until(holds):
    end = time.monotonic() + 60
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    assert holds()


def test_how_processes_end(tmp_path, alive):
    """By what, where the system tells; a job that has moved still says so."""
    for rank, process in enumerate(alive):
        box_of(tmp_path, process, rank, ranks=3, inside=1)
    seen = watch.Watch(tmp_path, says_still=False)
    seen.started()
    until(lambda: len(seen.open) == 3)
    alive[1].send_signal(signal.SIGSEGV)
    alive[1].wait(60)
    until(lambda: seen.ended)
    alive[0].send_signal(signal.SIGTERM)
    alive[2].stdin.write(b"\n")
    alive[2].stdin.close()
    alive[0].wait(60)
    alive[2].wait(60)
    until(lambda: sum(map(len, seen.ended)) == 3)
    seen.close()
    found = seen.seen.found
    assert found[alive[1].pid].order == 0 < found[alive[0].pid].order
    job = jobs.read(tmp_path)
    job.ends = ends.Ends.of_dict(json.loads(json.dumps(seen.seen.as_dict())))
    job.ends.for_memory = 1
    said = text.lines(job)[-1]
    assert said.endswith("for lack of memory the system ended 1 process of this host meanwhile")
    how = [found[process.pid].how for process in alive]
    assert how in (["killed by SIGTERM", "killed by SIGSEGV", "exit code 3"], ["", "", ""])
    if how[0]:
        causes = "rank 1: killed by SIGSEGV; rank 2: exit code 3; rank 0: killed by SIGTERM; "
        assert said.startswith(f"crestacoll: {causes}"), said
        assert text.odd(job).rank == 1
        assert text.end_of(job, job.boxes[2]) == {"signal": None, "exit_code": 3}


SEGV, KILL, TERM, EXIT = signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, 3 << 8


@pytest.mark.parametrize(
    "statuses, options, odd",
    [
        ([TERM, SEGV, TERM], {}, 1),
        ([TERM, SEGV, TERM], {"stopped": True}, 1),
        ([SEGV, EXIT, EXIT], {}, 1),  # before rank 0
        ([TERM, KILL, TERM], {}, 1),
        ([None, KILL, None], {}, 1),
        ([TERM, KILL, TERM], {"stopped": True}, 2),
        ([TERM, KILL, TERM], {"code": 143}, 2),
        ([KILL, KILL, KILL], {}, 2),
        ([TERM, TERM, TERM], {}, 2),
        ([None, None, None], {}, 2),
    ],
)
def test_who_is_odd(tmp_path, statuses, options, odd):
    """Ranks 1, 0 and 2 were seen to end in this order; rank 2 was not where the others were."""
    for rank in range(3):
        path = tmp_path / f"{socket.gethostname()}.{4711 + rank}.0"
        made(path, rank, 3, inside=2 if rank == 2 else 1)
    job = jobs.read(tmp_path)
    job.code = options.get("code")
    found = {4711 + rank: ends.End((1, 0, 2)[rank], statuses[rank]) for rank in range(3)}
    job.ends = ends.Ends(found, stopped=options.get("stopped", False))
    assert text.odd(job).rank == odd
