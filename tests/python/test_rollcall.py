# SPDX-License-Identifier: BSD-3-Clause
"""What follows from the answers of a roll-call: who is the odd one out, and in which words."""

import errno
import os
import re
import socket

import pytest

from crestacoll.rollcall import listen, records, sockets, summary, verdict, words

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
    assert "rank 3 was never heard of" in verdict.verdict(ranks).sentence


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
    made = listen.Watch(0, False, None, tmp_path)
    yield made
    made.close()


def test_who_says_nothing_is_sent_away(watch, tmp_path, monkeypatch):
    monkeypatch.setattr(listen, "TOKEN_S", 0.1)
    watch.started(None)
    name = re.search(r"^unix (.*)", (tmp_path / "hang").read_text(), re.MULTILINE)[1]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
        stranger.settimeout(60)
        stranger.connect("\0" + name)
        assert stranger.recv(1) == b""


def test_no_descriptor_is_left(watch):
    """Nobody is taken for a while, and then again: the listeners would be ready all the time."""

    class Full:
        def accept(self):
            raise OSError(errno.EMFILE, "full")

    watch.take(Full())
    registered = {key.fileobj for key in watch.selector.get_map().values()}
    assert not registered & {listener for listener, _ in watch.listeners}
    watch.full = 0
    watch.drop_strangers()
    registered = {key.fileobj for key in watch.selector.get_map().values()}
    assert {listener for listener, _ in watch.listeners} <= registered and watch.full is None


def test_another_has_the_name_for_hang(tmp_path, capsys):
    """Anybody may take it before; the job runs all the same."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(sockets.of_run(os.getpid()))
        made = listen.Watch(0, False, None, tmp_path)
        assert "cannot ask this job" in capsys.readouterr().err and len(made.listeners) == 2
        made.close()
