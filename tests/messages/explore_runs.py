# SPDX-License-Identifier: BSD-3-Clause
"""Why a program cannot be explored, and what is said of its answers."""

from pathlib import Path

from crestacoll_tools.explore import hang, reasons, runs, words
from crestacoll_tools.rollcall import records

RULE = "-" * 74
MISSING = f"{RULE}\nmpirun was unable to launch the specified application as it could not access\n"
MISSING += f"or execute an executable:\n\nExecutable: ./nothere\n{RULE}\n"
BANNER = f"{RULE}\nMPI_ABORT was invoked on rank 0\n{RULE}\n"


def _ended(code, stderr="", why="ended", hang="", loaded=True):
    folder = Path("runs")
    folder.mkdir(exist_ok=True)
    (folder / "stderr").write_text(stderr, encoding="utf-8")
    (folder / "loaded").unlink(missing_ok=True)
    if loaded:
        (folder / "loaded").write_text("0.1.0\n", encoding="utf-8")
    return runs.Ended(code, 3.0, why, folder, hang)


def _rank(rank, call):
    world = "comm=MPI_COMM_WORLD\tcomm_id=1.0\tmembers=0-1\tcomm_size=2"
    return records.answer(
        f"process\trank={rank}\tsize=2\tworld=a\tspawned=0\tpid={100 + rank}\thost=n\nthread"
        f"\tversion=2\tinside=1\tkind=collective\tcall={call}\tnumber=7\t{world}\timpl=mpi"
    )


def the_plain_program_fails(screen):
    """By itself, or its launcher does."""
    odd = [_rank(0, "MPI_Allreduce"), _rank(1, "MPI_Barrier")]
    for code, stderr, more in (
        (132, MISSING, {"loaded": False}),
        (3, "needs a terminal\n" + BANNER, {}),
        (139, "", {}),
        (143, "", {"why": "hangs", "hang": hang.said(odd, 5)}),
    ):
        screen.refused(reasons.judge_plain, _ended(code, stderr, **more), 5.0)


def a_failure_under_rules(screen):
    """The plain program runs again."""
    before = "under the rules the program did not end in 8 s"
    screen.refused(reasons.need_innocence, _ended(9, "no memory\n"), before)
    said = "crestacoll: CRESTA_IMPL=@rules: cannot read this file: No such file or directory\n"
    screen.refused(reasons.need_settings, _ended(2, said, loaded=False))


def no_time_to_compare(screen):
    """The program had not ended when the budget was spent."""
    screen.refused(reasons.no_time, 1.0)


def too_few_comparisons(screen):
    """A program without steps."""
    seen = {"runs": 2, "calls": 600, "name": "allreduce", "inside": 0.003}
    for inside in (0.003, 0.3):
        lacks = reasons.no_rhythm("its calls do not repeat")
        screen.refused(reasons.no_turns, lacks, seen | {"inside": inside})


def one_rank(screen):
    """There is nobody to communicate with."""
    screen.refused(reasons.need_collectives, {"ranks": 1, "records": []})


def answers(screen):
    """What runs print."""
    told = {"plain": "1/stdout", "tuned": "9/stdout", "difference": "'sum 10' became 'sum 11'"}
    for words_, out, plains, same in ((7, 2, 3, True), (0, 2, 2, True), (7, 0, 1, False)):
        found = told | {"words": words_, "left_out": out, "plain_runs": plains, "same": same}
        screen.say(words.printed(found))
    screen.say(words.printed(told | {"words": 7, "left_out": 1, "plain_runs": 2, "same": False}))
