# SPDX-License-Identifier: BSD-3-Clause
"""What a roll-call says: `crestacoll hang`, and --watchdog of `crestacoll run`."""

from crestacoll_tools.rollcall import summary
from test_rollcall import collective, outside, there

WHY = "asked for process 4711"
WORLD = "comm=MPI_COMM_WORLD\tcomm_id=1.0\tmembers=0-3\tcomm_size=4"


def _say(screen, *processes):
    screen.say(summary.text(list(processes), WHY) + "\n")


def _message(rank, source):
    return there(rank, f"inside=1\tkind=message\tcall=MPI_Recv\tfrom={source}\ttag=5\t{WORLD}")


def one_is_late(screen):
    """It computes, or has not come to MPI_Init."""
    _say(screen, collective(0), collective(1), collective(2), outside(3))
    _say(screen, collective(0), collective(1), collective(2))


def calls_do_not_match(screen):
    """Another collective, another call of the same, another root; two halves."""
    _say(screen, *map(collective, range(3)), collective(3, "MPI_Bcast", more="\troot=0"))
    _say(screen, *map(collective, range(3)), collective(3, number=6))
    roots = [collective(r, "MPI_Bcast", more=f"\troot={r // 3}") for r in range(4)]
    _say(screen, *roots)
    _say(screen, *(collective(r, "MPI_Bcast" if r % 2 else "MPI_Barrier") for r in range(4)))


def all_are_there(screen):
    """The calls agree."""
    _say(screen, *map(collective, range(4)))


def messages(screen):
    """A circle, and a receive that nobody sends to."""
    _say(screen, *(_message(r, (r + 1) % 4) for r in range(4)))
    _say(screen, *map(outside, range(3)), _message(3, "any"))


def places(screen):
    """Lines of the program are known, and all calls of the MPI are seen."""
    at = "\tseen=1\tmodule=/a/step.py\tfunction=step\toffset="
    computes = there(3, f"inside=0\tkind=collective\tcall=MPI_Bcast\tnumber=6\t{WORLD}{at}1")
    _say(screen, *(collective(r, more=f"{at}12") for r in range(3)), computes)
    window = f"inside=1\tkind=other\tcall=MPI_Win_create{at}14"
    ranks = [there(r, window, size=3) for r in range(2)]
    _say(screen, *ranks, there(2, "inside=0\tseen=1", size=3))
    _say(screen, ranks[0])


def one_rank(screen):
    """A job of one rank."""
    _say(screen, there(0, size=1))
