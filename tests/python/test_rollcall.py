# SPDX-License-Identifier: BSD-3-Clause
"""What follows from the answers of a roll-call: who is the odd one out, and in which words."""

import errno
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import time

import pytest
from crestacoll_tools.launch import launcher
from crestacoll_tools.rollcall import (
    listen,
    proof,
    reach,
    records,
    sockets,
    summary,
    verdict,
    words,
)

WORLD = "comm=MPI_COMM_WORLD\tcomm_id=1.0\tmembers=0-3\tcomm_size=4"


def there(rank, *threads, size=4):
    lines = [f"process\trank={rank}\tsize={size}\tworld=a\tspawned=0\tpid={100 + rank}\thost=n"]
    return records.answer("\n".join([*lines, *(f"thread\tversion=2\t{t}" for t in threads)]))


def collective(rank, call="MPI_Barrier", number=7, comm=WORLD, more=""):
    return there(
        rank, f"inside=1\tkind=collective\tcall={call}\tnumber={number}\t{comm}\timpl=mpi{more}"
    )


def sentence(*processes):
    found = verdict.verdict(list(processes))
    return found.sentence, [p.rank for p in found.odd]


def outside(rank):
    return there(rank, f"inside=0\tkind=collective\tcall=MPI_Bcast\tnumber=6\t{WORLD}\troot=0")


ROW = "comm=row\tcomm_id=2.0\tmembers=0,2\tcomm_size=2"


@pytest.mark.parametrize(
    "other, expected",
    [
        (outside(3), "rank 3 has not arrived there: it computes"),
        (collective(3, "MPI_Bcast", more="\troot=0"), "rank 3 calls MPI_Bcast, call 7"),
        (collective(3, number=6), "rank 3 is 1 call behind: in MPI_Barrier, call 6"),
        (collective(3, number=9), "rank 3 is 2 calls ahead: in MPI_Barrier, call 9"),
        (collective(3, comm=ROW), "on 'row' (2 ranks, no. 2): another communicator"),
        (there(3), "rank 3 has not arrived there"),
        (
            there(3, f"inside=1\tkind=message\tcall=MPI_Recv\tfrom=any\ttag=5\t{WORLD}"),
            "waits in MPI_Recv on 'MPI_COMM_WORLD' (4 ranks, no. 1), from any rank, tag 5",
        ),
    ],
)
def test_one_of_four(other, expected):
    text, odd = sentence(collective(0), collective(1), collective(2), other)
    assert text.startswith("ranks 0-2 wait in MPI_Barrier, call 7 on 'MPI_COMM_WORLD'"), text
    assert expected in text and odd == [3], text


@pytest.mark.parametrize(
    "name, one, other, expected",
    [
        ("root", 0, 1, "rank 3 names root 1, the others root 0"),
        ("bytes", 8, 16, "rank 3 has 16 bytes, the others 8"),
        ("op", "MPI_SUM", "MPI_MAX", "rank 3 reduces by MPI_MAX, the others by MPI_SUM"),
    ],
)
def test_an_argument(name, one, other, expected):
    ranks = [collective(r, "MPI_Reduce", more=f"\t{name}={one}") for r in range(3)]
    text, odd = sentence(*ranks, collective(3, "MPI_Reduce", more=f"\t{name}={other}"))
    assert expected in text and odd == [3], text


@pytest.mark.parametrize("state, expected", [("silent", "did not answer"), ("ended", "ended")])
def test_a_rank_that_is_not_there(state, expected):
    gone = there(3)
    gone.state = state
    text, odd = sentence(collective(0), collective(1), collective(2), gone)
    assert f"rank 3 {expected}" in text and odd == [3], text


def test_a_rank_that_nobody_heard_of():
    ranks = summary.with_missing([collective(r) for r in range(3)])
    assert [p.state for p in ranks] == ["there"] * 3 + ["unknown"]
    assert "rank 3 has never answered" in verdict.verdict(ranks).sentence


def test_other_calls_of_the_mpi():
    """The function is known, and nothing more: windows, files, communicators."""
    creates = "inside=1\tkind=other\tcall=MPI_Win_create\tseen=1"
    text, odd = sentence(there(0, creates), there(1, creates), there(2, "inside=0\tseen=1"))
    assert odd == [2] and text.startswith("ranks 0-1 are in MPI_Win_create; rank 2 is "), text
    text, odd = sentence(there(0, creates), there(1, creates))
    assert odd == [] and text == "ranks 0-1 are in MPI_Win_create", text


def test_a_communicator_that_is_whole_waits_for_nobody():
    """The row of ranks 0 and 2 is complete; that of 1 and 3 lacks a rank."""
    column = ROW.replace("0,2", "1,3").replace("2.0", "2.1").replace("=row", "=other")
    ranks = [collective(0, comm=ROW), collective(2, comm=ROW), collective(1, comm=column)]
    text, odd = sentence(*ranks, outside(3))
    assert text.startswith("rank 1 waits in MPI_Barrier, call 7 on 'other'") and odd == [3], text


def test_all_in_the_same_call():
    ranks = [collective(r, more=f"\tround={2 - (r == 2)}\trounds=3") for r in range(4)]
    text, odd = sentence(*ranks)
    assert "all ranks of the communicator are in MPI_Barrier" in text and odd == [2], text
    assert "rank 2 is the furthest behind" in text and "round 1 of 3" in text


def test_ranks_that_wait_in_a_circle():
    ranks = [
        there(r, f"inside=1\tkind=message\tcall=MPI_Recv\tfrom={(r + 1) % 3}\t{WORLD}")
        for r in range(3)
    ]
    text, odd = sentence(*ranks, outside(3))
    assert "in a circle: 0 -> 1 -> 2 -> 0" in text and odd == [0, 1, 2], text


def test_ranks_of_worlds_and_names():
    spawned = there(0)
    spawned.spawned = True
    assert words.who([there(2), there(0), there(1), spawned]) == (
        "ranks 0-2, rank 0 of a spawned world (process 100 on n)"
    )


def test_answers_that_make_no_sense():
    """Whatever comes over a socket is text: nothing of it stops a roll-call."""
    for text in ("", "thread\tinside=1", "process", "process\trank=x\tsize=\nthread\n\tend"):
        found = records.answer(text)
        if found is not None:
            summary.text([found], "asked")
    odd = there(0, "inside=1\tkind=message\tcall=MPI_Recv\tfrom=99999999999\tmembers=9-1")
    assert "MPI_Recv" in summary.text([odd], "asked")
    named = there(0, r"inside=1" "\tkind=collective\tcall=MPI_Barrier\tcomm_size=2\tcomm=a\\x1bb")
    assert "\x1b" not in summary.text([named], "asked")


@pytest.fixture
def watch(tmp_path):
    """One that listens, for a job without ranks."""
    made = listen.Watch(0, False, None, tmp_path, ["127.0.0.1"])
    yield made
    made.close()


def token_of(watch):
    return re.search(r"^token (.*)", watch.file.read_text(), re.MULTILINE)[1]


def stranger(watch):
    """A connection by TCP, and the challenge that it got."""
    port = re.search(r"^tcp 127.0.0.1 (.*)", watch.file.read_text(), re.MULTILINE)[1]
    made = socket.create_connection(("127.0.0.1", int(port)), 60)
    return made, made.makefile().readline().split()[1]


def test_a_proof_is_siphash():
    """Values of its authors."""
    key = bytes(range(16))
    assert proof.siphash(key, b"") == 0x726FDB47DD0E0E31
    assert proof.siphash(key, bytes(range(15))) == 0xA129CA6149BE45E5


def test_it_listens_where_it_is_told_alone(watch, tmp_path):
    tcp = [each for each, _ in watch.listeners if each.family == socket.AF_INET]
    assert [each.getsockname()[0] for each in tcp] == ["127.0.0.1"]
    other = tmp_path / "other"
    other.mkdir()
    alone = listen.Watch(0, False, None, other)
    assert {each.family for each, _ in alone.listeners} == {socket.AF_UNIX}
    alone.close()


@pytest.mark.parametrize(
    "wrong", ["the token", "a wrong proof", "no text", "another's proof", "no end"]
)
def test_a_stranger_without_the_token(watch, monkeypatch, wrong):
    monkeypatch.setattr(listen, "PROOF_S", 600)  # it is not sent away for being slow
    watch.started(None)
    token = token_of(watch)
    known, challenge = stranger(watch)
    line = f"proof\tproof={proof.proof(token, 'rank', challenge, 'n')}\tnonce=n\n".encode()
    known.sendall(line)
    expected = proof.proof(token, "run", challenge, "n")
    assert known.makefile().readline().split() == ["proof", expected]
    unknown, _ = stranger(watch)
    unknown.sendall({
        "the token": f"crestacoll-rollcall\ttoken={token}\n".encode(),
        "a wrong proof": b"proof\tproof=0000000000000000\tnonce=n\n",
        "no text": "proof\tproof=\u00e9\tnonce=\udcff\n".encode(errors="surrogateescape"),
        "another's proof": line,
        "no end": b"x" * (listen.PROOF_LONGEST + 1),
    }[wrong])  # fmt: skip
    assert unknown.recv(1) == b""
    assert watch.thread.is_alive() and len(watch.ranks) == 1
    known.close()
    unknown.close()


def test_a_stranger_that_says_nothing_is_sent_away(watch, monkeypatch):
    monkeypatch.setattr(listen, "PROOF_S", 0.1)
    watch.started(None)
    made, _ = stranger(watch)
    assert made.recv(1) == b""
    made.close()


def test_strangers_are_few(watch, monkeypatch):
    """Others wait until one of them has had its time, and then come in."""
    monkeypatch.setattr(listen, "STRANGERS", 2)
    monkeypatch.setattr(listen, "CROWDED_S", 0.1)
    monkeypatch.setattr(listen, "PROOF_S", 600)
    most, take = [], listen.Watch.take_stranger

    def take_and_count(self, listener):
        take(self, listener)
        most.append(len(self.strangers))

    monkeypatch.setattr(listen.Watch, "take_stranger", take_and_count)
    watch.listeners = [(one, getattr(watch, how.__name__)) for one, how in watch.listeners]
    for one, how in watch.listeners:
        watch.selector.modify(one, selectors.EVENT_READ, how)
    watch.started(None)
    made = [stranger(watch)[0] for _ in range(6)]
    for each in made:
        each.close()
    until = time.monotonic() + 30
    while len(most) < 6 and time.monotonic() < until:
        time.sleep(0.01)  # the last one has its challenge before it is counted
    assert max(most) == 2 and len(most) == 6


def test_no_descriptor_is_left(watch):
    """Nobody is taken for a while, and then again: the listeners would be ready all the time."""

    class Full:
        def accept(self):
            raise OSError(errno.EMFILE, "full")

    def heard():
        return {key.fileobj for key in watch.selector.get_map().values()}

    watch.take_stranger(Full())
    watch.listen()
    assert not heard() & {listener for listener, _ in watch.listeners}
    watch.full = 0
    watch.drop_strangers()
    assert {listener for listener, _ in watch.listeners} <= heard() and watch.full is None


def test_it_takes_others_once_there_are_descriptors(watch, monkeypatch):
    monkeypatch.setattr(listen, "FULL_S", 0.1)
    accept, tries = socket.socket.accept, []

    def full_at_first(self):
        tries.append(self)
        if len(tries) == 1:
            raise OSError(errno.EMFILE, "full")
        return accept(self)

    monkeypatch.setattr(socket.socket, "accept", full_at_first)
    watch.started(None)
    made, _ = stranger(watch)
    assert len(tries) == 2
    made.close()


def test_a_rank_that_does_not_answer_is_not_waited_for(watch, monkeypatch):
    monkeypatch.setattr(listen, "ANSWER_S", 0.1)
    watch.started(None)
    name = re.search(r"^unix (.*)", watch.file.read_text(), re.MULTILINE)[1]
    with socket.socket(socket.AF_UNIX) as rank:
        rank.connect("\0" + name)
        rank.sendall(b"process\trank=0\tsize=1\tworld=a\tspawned=0\tpid=1\thost=n\n")
        told = b""
        while not told:  # the listener may take the caller before the rank
            with sockets.connect("run", os.getpid(), sockets.names(), 60) as caller:
                told = b"".join(iter(lambda: caller.recv(1 << 16), b""))
    assert told.startswith(b"state\tsilent\nprocess\trank=0"), told


IGNORES_TERM = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ignores", flush=True)
signal.pause()
"""


def test_a_job_that_does_not_end_when_asked_is_killed(watch, monkeypatch):
    monkeypatch.setattr(listen, "KILL_S", 0.1)
    watch.ends = True
    name = re.search(r"^unix (.*)", watch.file.read_text(), re.MULTILINE)[1]
    with (
        subprocess.Popen([sys.executable, "-c", IGNORES_TERM], stdout=subprocess.PIPE) as job,
        socket.socket(socket.AF_UNIX) as rank,
    ):
        try:
            assert job.stdout.readline() == b"ignores\n"
            watch.started(job)
            rank.connect("\0" + name)
            rank.sendall(b"process\trank=0\tsize=1\tworld=a\tspawned=0\tpid=1\thost=n\n")
            rank.sendall(b"hang\tversion=2\tseconds=1\n")
            rank.shutdown(socket.SHUT_WR)
            assert job.wait(60) == -signal.SIGKILL and watch.ended
        finally:
            job.kill()


ANOTHER_USER = r"""
import os, socket, sys
os.setuid(65534)
taken = socket.socket(socket.AF_UNIX)
taken.bind("\0" + sys.argv[1])
taken.listen()
print("listens", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_has_a_name_like_ours(watch):
    name = f"crestacoll-run-{os.getpid()}-0"
    words = [sys.executable, "-c", ANOTHER_USER, name]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"listens\n"
        names = sockets.names()
        assert "\0" + name in names
        connection = sockets.connect("run", os.getpid(), names, 60)
        assert connection is not None and sockets.is_ours(connection)
        connection.close()
        assert sockets.connect("run", os.getpid(), ["\0" + name], 60) is None


HOME = {"HOME": "/nowhere"}


def addresses(words, **environment):
    command = launcher.parse(words.split())
    kind = {"mpirun": "openmpi", "mpiexec": "hydra"}.get(command.launcher, "none")
    return reach.addresses(command, kind, HOME | environment)


@pytest.fixture
def network(monkeypatch):
    """Hosts a and b are reached from one interface each; `here` is this host."""
    routes = {"a": "10.0.0.1", "b": "10.0.1.1", "here": None}

    def route(name):
        if name not in routes:
            raise reach.Unknown
        return routes[name]

    monkeypatch.setattr(reach, "route", route)
    monkeypatch.setattr(reach, "interfaces", lambda: ["all"])
    monkeypatch.setattr(reach, "configured", lambda program, home: [])


@pytest.mark.parametrize(
    "words, expected",
    [
        ("mpirun -n 2 ./app --host a", []),
        ("mpirun --host here:2 -n 2 ./app", []),
        ("mpirun --host here,a:2 -n 2 ./app", ["10.0.0.1"]),
        ("mpirun -n 1 -H a ./app : -n 1 -H b ./app", ["10.0.0.1", "10.0.1.1"]),
        ("mpiexec -hosts a,b -n 2 ./app", ["10.0.0.1", "10.0.1.1"]),
        ("mpiexec -f HOSTS -n 2 ./app", ["10.0.1.1"]),
        ("mpiexec -f /dev/null -n 2 ./app", ["all"]),
        ("mpirun --host alias ./app", ["all"]),
        ("mpirun --mca orte_default_hostfile x ./app", ["all"]),
        ("mpirun --app file", ["all"]),
        ("srun -n 2 ./app", ["all"]),
        ("./script", ["all"]),
    ],
)
def test_where_ranks_of_other_hosts_come(network, tmp_path, words, expected):
    (tmp_path / "hosts").write_text("here:1\nb:1  # two\n")
    assert addresses(words.replace("HOSTS", str(tmp_path / "hosts"))) == expected


@pytest.mark.parametrize(
    "name", ["SLURM_JOB_ID", "PBS_NODEFILE", "HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile"]
)
def test_a_job_whose_hosts_are_in_the_environment(network, name):
    assert addresses("mpirun -n 2 ./app", **{name: "x"}) == ["all"]


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("openmpi-default-hostfile", "# none\n", []),
        ("openmpi-default-hostfile", "# some\nb\n", ["all"]),
        ("mca-params.conf", "orte_default_hostfile = x\n", ["all"]),
        ("mca-params.conf", "btl = self\n# orte_default_hostfile = x\n", []),
    ],
)
def test_a_job_whose_hosts_are_in_a_file_of_the_site(
    network, monkeypatch, tmp_path, name, text, expected
):
    (tmp_path / name).write_text(text)
    monkeypatch.setattr(reach, "configured", lambda program, home: [tmp_path / name])
    assert addresses("mpirun -n 2 ./app") == expected
