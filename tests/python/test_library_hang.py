# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that hang: the roll-call names the odd one out, and CRESTA_DEBUG=match ends them before.

Nothing here waits for a fixed time: a job that hangs does so for ever, and is asked until it is
where it has to come.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from conftest import giving_way
from crestacoll_tools.base.ui import NOT_LOADED
from crestacoll_tools.explore import reasons
from crestacoll_tools.rollcall import listen
from library_runs import AS_ROOT, ROOT, TIMEOUT, cached, each_build, family_of, good, messages, run

pytestmark = [each_build, pytest.mark.by_turns]

COMMAND = [str(ROOT / "bin" / "crestacoll")]
DEADLINE_S = 2 * TIMEOUT
WAYS = {  # the programs that hang
    "preloaded": "hangs_plain",
    "linked": "hangs",
    "fortran": "fortran_hangs",
    "fortran-linked": "fortran_hangs_linked",
}


def clean(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CRESTA_")}
    return {**kept, **AS_ROOT, **giving_way(), **more}


def job(build, program, *arguments, ranks=2):
    path = build / "tests" / "bin" / program
    if not path.exists():
        path = build / "bin" / program
    if not path.exists():
        pytest.skip(f"{program} is not built")
    openmpi = family_of(build) == "openmpi"
    words = [cached(build, "MPIEXEC_EXECUTABLE"), *(["--oversubscribe"] if openmpi else [])]
    return [*words, "-n", str(ranks), str(path), *arguments]


@contextlib.contextmanager
def started(words, cwd, **env):
    """A job that is ended at the end, if it has not been before."""
    process = subprocess.Popen(
        words,
        cwd=cwd,
        env=clean(**env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def preloaded(build, *names):
    return ":".join(str(build / "lib" / f"lib{name}.so") for name in names)


def ask(pid, until):
    """What `crestacoll hang` says of a job, as soon as it is what it has to come to."""
    end, last = time.monotonic() + DEADLINE_S, None
    while time.monotonic() < end:
        done = subprocess.run(
            [*COMMAND, "hang", str(pid), "--json"],
            env=clean(),
            capture_output=True,
            text=True,
            check=False,
        )
        last = done.stderr
        if done.returncode == 0:
            last = json.loads(done.stdout)
            if until(last):
                return last
    raise AssertionError(f"never came to it: {last}")


def there(*places):
    """Whether ranks 0, 1, ... are where the words say."""

    def check(data):
        told = [r["place"] for r in data["ranks"]]
        return len(told) == len(places) and all(
            w in p for w, p in zip(places, told, strict=True)
        )

    return check


def odd(data):
    return [r["rank"] for r in data["ranks"] if r["odd"]]


CASES = {
    "collective": (2, ("in MPI_Reduce, call 2", "in MPI_Bcast, call 2"), [0, 1], "MPI_Bcast"),
    "root": (2, ("root 0", "root 1"), [0, 1], "root 1"),
    "communicator": (3, ("in MPI_Barrier, call 2",) * 2 + ("'row'",), [2], "another communicator"),
    "late": (3, ("in MPI_Barrier, call 2",) * 2 + ("computing",), [2], "has not arrived there"),
    "window": (3, ("in MPI_Win_create, at hangs.c",) * 2 + ("in no call of the MPI",), [2],
               "ranks 0-1 are in MPI_Win_create, at hangs.c"),
    "receive": (3, ("in MPI_Barrier, call 2",) * 2 + ("from rank 0, tag 7",), [2], "MPI_Recv"),
    "circle": (2, ("in MPI_Recv", "in MPI_Recv"), [0, 1], "0 -> 1 -> 0"),
    "finalize": (2, ("in MPI_Barrier, call 2", "MPI_Finalize"), [1], "MPI_Finalize"),
    "begun": (3, ("began: MPI_Ibarrier, call 2",) * 2 + ("in MPI_Wait",), [2], "has not begun it"),
}


# The lines of tests/mpi/hangs.c at which ranks hang.
LINES = {
    "collective": ("CALL(Reduce)", "CALL(Bcast)"),
    "window": ("MPI_Win_create(",) * 2,
    "circle": ("MPI_Recv(",) * 2,
    "begun": ("MPI_Wait(",) * 3,
}


def at_lines(data, file, lines):
    """The sites of ranks 0, 1, ... are at lines with these words."""
    text = (ROOT / "tests" / file).read_text().splitlines()
    for rank, words in zip(data["ranks"], lines, strict=False):
        number = re.match(rf"{Path(file).name}:(\d+) \w", rank["site"])
        assert number and words in text[int(number[1]) - 1], rank
        assert f", at {rank['site']}" in rank["place"], rank


def run_words(options, words):
    return [*COMMAND, "run", "--impl", "*=mpi", *options, "--", *words]


@pytest.mark.parametrize("case", CASES)
def test_preloaded(build, tmp_path, case):
    ranks, places, differs, words = CASES[case]
    command = run_words(["--watchdog", "ask"], job(build, "hangs_plain", case, ranks=ranks))
    with started(command, tmp_path) as process:
        data = ask(process.pid, there(*places))
    assert odd(data) == differs and words in data["sentence"], data
    assert data["hint"]
    at_lines(data, "mpi/hangs.c", LINES.get(case, ()))


@pytest.mark.parametrize("case", ["root", "late", "circle"])
def test_explore_names_the_odd_rank(build, tmp_path, case):
    """A program that hangs does not have too few collectives: a call that does not end counts."""
    ranks, _, _, words = CASES[case]
    launch, budget, too_early = job(build, "hangs_plain", case, ranks=ranks), 8, True
    while too_early and budget < DEADLINE_S:  # the ranks were not yet where they hang
        explore = ["explore", "--budget", f"{budget}s", "--output", f"made{budget}", "--", *launch]
        ran = subprocess.run([*COMMAND, *explore], cwd=tmp_path, env=clean(), capture_output=True,
                             text=True, check=False)  # fmt: skip
        too_early, budget = ran.returncode in (NOT_LOADED, reasons.TIME_LIMIT), 2 * budget
    assert ran.returncode == listen.ENDED and words in ran.stderr, ran.stderr
    assert "the program hangs" in ran.stderr and "too little" not in ran.stdout
    assert ("a larger --budget" in ran.stderr) == (case == "late")


@pytest.mark.parametrize("way", ["linked", "fortran", "fortran-linked"])
def test_linked_and_fortran(build, tmp_path, way):
    ranks, places, differs, words = CASES["collective"]
    command = run_words(["--watchdog", "ask"], job(build, WAYS[way], "collective", ranks=ranks))
    with started(command, tmp_path) as process:
        data = ask(process.pid, there(*places))
    assert odd(data) == differs and words in data["sentence"], data
    if way == "linked":
        at_lines(data, "mpi/hangs.c", LINES["collective"])
    else:
        at_lines(data, "fortran/hangs.F90", ("call MPI_Reduce", "call MPI_Bcast"))


@pytest.mark.parametrize("rules", ["*=p2p", "*=shm"])
def test_the_step_of_a_schedule(build, tmp_path, rules):
    command = [*COMMAND, "run", "--impl", rules, "--watchdog", "ask", "--"]
    with started([*command, *job(build, "hangs_plain", "late")], tmp_path) as process:
        data = ask(process.pid, there("waits for rank 1", "computing"))
    name = rules.split("=")[1]
    assert f"by {name}" in data["ranks"][0]["place"] and odd(data) == [1], data
    assert ("in round 1 of" in data["ranks"][0]["place"]) == (name == "p2p"), data


def test_without_run_the_ranks_of_this_host_are_asked(build, tmp_path):
    """Also if they find no file descriptor for the question, twice."""
    words = job(build, "hangs_plain", "late")
    preload = preloaded(build, "crestacoll-preload", "no_descriptors")
    with started(words, tmp_path, LD_PRELOAD=preload, CRESTA_WATCHDOG="ask") as process:
        data = ask(process.pid, there("in MPI_Barrier, call 2", "computing"))
    assert odd(data) == [1], data


class Between(threading.Thread):
    """Hears ranks at a port of its own, and keeps what they send. It hands that on to `port`, and
    answers what comes from there; without a port it is one that does not know the token.
    """

    def __init__(self, port=None):
        super().__init__(daemon=True)
        self.listener, self.port, self.sent = socket.create_server(("127.0.0.1", 0)), port, []
        self.line = f"tcp 127.0.0.1 {self.listener.getsockname()[1]}"
        self.start()

    def run(self):
        while True:
            rank, _ = self.listener.accept()
            self.sent.append(bytearray())
            if self.port is None:
                rank.sendall(b"challenge\t" + b"0" * 32 + b"\n")
                ends = self.keep(rank, self.sent[-1])
                with contextlib.suppress(OSError):
                    rank.sendall(b"proof\t" + b"0" * 16 + b"\n")
                while not ends:
                    ends = self.keep(rank, self.sent[-1])
                rank.close()
            else:
                watch = socket.create_connection(("127.0.0.1", self.port))
                args = (rank, self.sent[-1], watch)
                threading.Thread(target=self.hand_on, args=args, daemon=True).start()
                threading.Thread(target=self.hand_on, args=(watch, [], rank), daemon=True).start()

    @staticmethod
    def keep(rank, sent):
        """Whether it ends."""
        with contextlib.suppress(OSError):
            part = rank.recv(1 << 16)
            sent.extend(part)
            return not part
        return True

    def hand_on(self, source, sent, to):
        with contextlib.suppress(OSError):
            while part := source.recv(1 << 16):
                sent.extend(part)
                to.sendall(part)
            to.shutdown(socket.SHUT_WR)


def test_ranks_of_other_hosts_come_by_tcp(build, tmp_path):
    """This process listens as `crestacoll run` does; the ranks do not know of its Unix socket. The
    first address that they get is of one that does not know the token: they tell it nothing, and
    go on to the next. Nobody in between hears the token.
    """
    watch = listen.Watch(0, False, None, tmp_path, ["127.0.0.1"])
    head, token, _, tcp = watch.file.read_text().splitlines()
    impostor, between = Between(), Between(int(tcp.split()[2]))
    there_is = tmp_path / "tcp"
    there_is.write_text("\n".join((head, token, impostor.line, between.line, "")))
    preload = preloaded(build, "crestacoll-preload")
    env = {"LD_PRELOAD": preload, "CRESTA_WATCHDOG": "ask", "CRESTA_WATCHDOG_AT": str(there_is)}
    try:
        with started(job(build, "hangs_plain", "late"), tmp_path, **env) as process:
            watch.started(process)
            data = ask(os.getpid(), there("in MPI_Barrier, call 2", "computing"))
    finally:
        watch.close()
    assert odd(data) == [1], data
    assert len(impostor.sent) == len(between.sent) == 2
    assert all(b"process" in sent for sent in between.sent), between.sent
    assert not any(b"process" in sent for sent in impostor.sent), impostor.sent
    assert not any(token.split()[1].encode() in s for s in (*impostor.sent, *between.sent))


def test_a_program_ends_although_a_peer_says_nothing(build, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        there_is = tmp_path / "tcp"
        port = silent.getsockname()[1]
        there_is.write_text(f"crestacoll-rollcall 1\ntoken {'0' * 32}\ntcp 127.0.0.1 {port}\n")
        env = {"CRESTA_WATCHDOG": "ask", "CRESTA_WATCHDOG_AT": str(there_is)}
        assert "checks passed" in good(run(build, "hangs", "first", "good", env=env)).stdout


def test_it_tells_by_itself_and_ends_the_job(build, tmp_path):
    command = run_words(["--watchdog", "1:end"], job(build, "hangs_plain", "late"))
    done = subprocess.run(
        command, cwd=tmp_path, env=clean(), capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert done.returncode == 123, done.stderr
    assert "rank 1 has not arrived there" in done.stderr, done.stderr
    assert "rank 0 has been in one call for" in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_lines_where_nobody_listens(build):
    done = run(build, "hangs_plain", "late", env={"CRESTA_WATCHDOG": "1:end"}, preload=True)
    assert done.returncode != 0
    assert any(
        "rank 0" in m and "in MPI_Barrier, call 2 on 'MPI_COMM_WORLD' (2 ranks)" in m
        for m in messages(done)
    ), done.stderr


def test_a_signal_asks(build, tmp_path):
    options = ["--watchdog", "ask", "--watchdog-signal", "USR1"]
    command = run_words(options, job(build, "hangs_plain", "late"))
    with started(command, tmp_path) as process:
        ask(process.pid, there("in MPI_Barrier, call 2", "computing"))
        process.send_signal(signal.SIGUSR1)
        told = []
        while "rank 1 has not arrived there" not in "".join(told):
            line = process.stderr.readline()
            assert line, told
            told.append(line)
    assert "a signal asked for it" in "".join(told)


def test_a_rank_that_is_stopped_is_named(build, tmp_path):
    command = run_words(["--watchdog", "ask"], job(build, "hangs_plain", "late"))
    with started(command, tmp_path) as process:
        data = ask(process.pid, there("in MPI_Barrier, call 2", "computing"))
        pid = data["ranks"][1]["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            data = ask(process.pid, there("in MPI_Barrier", "did not answer"))
        finally:
            os.kill(pid, signal.SIGCONT)
    assert odd(data) == [1], data


def test_a_good_program_ends_as_ever(build, tmp_path):
    command = run_words(["--watchdog", "50"], job(build, "hangs_plain", "late", "good"))
    done = subprocess.run(
        command, cwd=tmp_path, env=clean(), capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert "checks passed" in good(done).stdout and messages(done) == []
    done = run(build, "hangs", "request", "good", env={"CRESTA_WATCHDOG": "ask"})
    assert "checks passed" in good(done).stdout and messages(done) == []


def test_a_wrong_value(build):
    """Others: tests/unit/test_settings.c."""
    done = run(build, "script", "allreduce=8", env={"CRESTA_WATCHDOG": "soon"})
    assert done.returncode != 0 and len(messages(done)) == 1, done.stderr
    assert "expected a number of seconds" in done.stderr, done.stderr


MATCHES = {
    "collective": ("ranks 0-1: MPI_Reduce, root 0, MPI_SUM, 1048576 bytes", "rank 2: MPI_Bcast"),
    "root": ("ranks 0-1: MPI_Bcast, root 0", "rank 2: MPI_Bcast, root 2"),
    "op": ("ranks 0-1: MPI_Allreduce, MPI_SUM, 4 bytes", "rank 2: MPI_Allreduce, MPI_MAX"),
    "bytes": ("ranks 0-1: MPI_Allreduce, MPI_SUM, 8 bytes", "rank 2: MPI_Allreduce, MPI_SUM, 12"),
    "counts": ("rank 0 sends 4 bytes to rank 2, which expects 8",),
    "request": ("rank 0: MPI_Iallreduce", "rank 2: MPI_Ibarrier"),
    "first_begun": ("rank 0: MPI_Ibcast, root 0, 1 byte", "rank 2: MPI_Ibcast, root 2, 1 byte"),
    "first_made": ("'made' (3 ranks)", "rank 0: MPI_Ibcast, root 0", "rank 2: MPI_Ibcast, root 2"),
    "first_idup": ("'made' (3 ranks)", "rank 0: MPI_Ibcast, root 0", "rank 2: MPI_Ibcast, root 2"),
    "first_small": ("'made' (3 ranks)", "rank 0: MPI_Ibcast, root 0, 1 byte", "MPI_Ibcast, root "),
    "first_mixed": ("'made' (3 ranks)", "MPI_Bcast", "rank 2: MPI_Ibcast, root 0, 1048576 bytes"),
    "first_kept": ("rank 0: MPI_Bcast_init, root 0", "rank 2: MPI_Bcast_init, root 2, 1 byte"),
}


@pytest.mark.parametrize("case", MATCHES)
def test_match(build, case):
    env = {"CRESTA_DEBUG": "match", "CRESTA_IMPL": "*=mpi"}
    done = run(build, "hangs_plain", case, ranks=3, env=env, preload=True)
    assert done.returncode != 0
    assert all(words in done.stderr for words in MATCHES[case]), done.stderr


@pytest.mark.parametrize("case", ["first_idup", "first_mixed"])
def test_match_of_made_communicators_in_linked_programs(build, case):
    done = run(build, "hangs", case, ranks=3, env={"CRESTA_DEBUG": "match"})
    assert done.returncode != 0
    assert all(words in done.stderr for words in MATCHES[case]), done.stderr


@pytest.mark.parametrize("way", ["fortran", "fortran-linked"])
def test_match_of_made_communicators_in_fortran(build, way):
    if not (build / "tests" / "bin" / WAYS[way]).exists():
        pytest.skip(f"{WAYS[way]} is not built")
    env = {"CRESTA_DEBUG": "match"}
    done = run(build, WAYS[way], "made", env=env, preload=way == "fortran")
    assert done.returncode != 0
    wanted = ("'made' (2 ranks)", "rank 0: MPI_Ibcast, root 0", "rank 1: MPI_Ibcast, root 1")
    assert all(words in done.stderr for words in wanted), done.stderr


@pytest.mark.parametrize("way", ["linked", "fortran", "fortran-linked"])
def test_match_linked_and_fortran(build, way):
    if not (build / "tests" / "bin" / WAYS[way]).exists():
        pytest.skip(f"{WAYS[way]} is not built")
    done = run(
        build,
        WAYS[way],
        "collective",
        env={"CRESTA_DEBUG": "match"},
        preload=way == "fortran",
    )
    assert done.returncode != 0
    assert "rank 0: MPI_Reduce" in done.stderr and "rank 1: MPI_Bcast" in done.stderr, done.stderr


@pytest.mark.parametrize("case", ["collective", "counts", "first_each"])
def test_match_lets_good_programs_pass(build, case):
    done = run(build, "hangs", case, "good", ranks=3, env={"CRESTA_DEBUG": "match"})
    assert "checks passed" in good(done).stdout and messages(done) == []


def test_match_tells_who_does_not_come_to_the_first_collective(build, tmp_path):
    words = job(build, "hangs_plain", "first", ranks=2)
    env = {"CRESTA_DEBUG": "match=1", "LD_PRELOAD": str(build / "lib/libcrestacoll-preload.so")}
    with started(words, tmp_path, **env) as process:
        told = ""
        while "has waited 1 s before MPI_Bcast, call 1 there, for rank 1" not in told:
            line = process.stderr.readline()
            assert line, told
            told += line


def test_match_tells_who_is_late(build, tmp_path):
    words = job(build, "hangs", "communicator", ranks=2)
    with started(words, tmp_path, CRESTA_DEBUG="match=1") as process:
        told = ""
        while "for rank 1" not in told or "for rank 0" not in told:
            line = process.stderr.readline()
            assert line, told
            told += line
    assert "rank 0 of communicator 'MPI_COMM_WORLD' has waited 1 s before MPI_Barrier" in told
    assert "rank 1 of communicator 'row' has waited 1 s before MPI_Barrier" in told
