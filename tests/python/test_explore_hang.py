# SPDX-License-Identifier: BSD-3-Clause
"""Whether a run hangs: it does if no process goes on in its calls for some time."""

import pytest
from crestacoll_tools.explore import hang
from crestacoll_tools.rollcall import records

WORLD = "comm=MPI_COMM_WORLD\tcomm_id=1.0\tcomm_size=2\tmembers=0-1"


def process(rank, call, version, inside=1):
    stay = f"kind=collective\tcall={call}\tnumber=7\t{WORLD}"
    return records.answer(
        f"process\trank={rank}\tsize=2\tworld=1\tpid={100 + rank}\thost=a\n"
        f"thread\tversion={version}\tinside={inside}\t{stay}\nend\n"
    )


class Asked:
    """Ranks that answer what they are told to, the last answer for ever."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def ask_all(self):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(hang, "LEAST", 0.0)


def find(*answers, ended=False):
    return hang.find(Asked(*answers), 0.0, lambda seconds: ended)


def test_unlike_calls_that_never_end():
    stuck = [process(0, "MPI_Allreduce", 3), process(1, "MPI_Barrier", 5)]
    told = find(stuck)
    assert "rank 0 in MPI_Allreduce, call 7" in told and "rank 1 in MPI_Barrier" in told
    assert "larger --budget" not in told
    assert find(stuck, ended=True) == ""


def test_one_rank_that_goes_on_is_enough():
    first = [process(0, "MPI_Allreduce", 3), process(1, "MPI_Barrier", 5)]
    assert find(first, [first[0], process(1, "MPI_Barrier", 6)]) == ""


def test_a_rank_that_computes_may_only_be_slow():
    told = find([process(0, "MPI_Barrier", 3), process(1, "MPI_Barrier", 2, inside=0)])
    assert "rank 1 has not arrived there: it computes" in told
    assert told.endswith("If it only needs longer, give it a larger --budget")


def test_ranks_that_only_compute_do_not_wait():
    assert find([process(0, "MPI_Barrier", 3, 0), process(1, "MPI_Barrier", 3, 0)]) == ""
    assert find([]) == ""
