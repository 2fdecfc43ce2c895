# SPDX-License-Identifier: BSD-3-Clause
"""Why a program cannot be explored: exit codes and sentences."""

from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import CANNOT, NOT_LOADED, Problem
from crestacoll_tools.explore import arms
from crestacoll_tools.launch import lastwords
from crestacoll_tools.rollcall.listen import ENDED as HANGS

CRASHED, ABORTED, TIME_LIMIT, NO_COLLECTIVE, NO_RHYTHM = 10, 11, 12, 13, 14
LITTLE = 0.02  # of the time of a run


def judge_plain(ended, limit):
    """A program that fails by itself is not to be explored."""
    need_innocence(ended, "")
    if not ended.loaded and ended.why == "ended":
        raise Problem(
            "the program ended, but no rank loaded crestacoll. Is it a dynamically linked MPI"
            " program, and does this folder exist on all hosts?",
            NOT_LOADED,
        )
    if not ended.loaded:
        raise Problem(
            f"the program did not reach MPI_Init in {limit:.0f} s. Does it hang? If it needs"
            " longer, give it a larger --budget",
            TIME_LIMIT,
        )
    if ended.why == "ended" and not (ended.folder / "p.json").exists():
        raise Problem(
            "the program ended, but wrote no profile: it must reach MPI_Finalize", NOT_LOADED
        )


def how(ended):
    """What a run that failed did, as the end of a sentence."""
    if ended.why == "ended":
        return "was ended by MPI_Abort" if ended.aborted else ended.how()
    return "hangs" if ended.hang else "did not go on"


def need_innocence(plain, before):
    """Raises Problem if a plain run after one that failed, `before`, fails as well: then nothing is
    to blame but the program or the machine.
    """
    need_settings(plain)
    refused = lastwords.not_started(plain)
    if refused:
        told, code = refused
        raise Problem(f"the launcher could not start the program. It says:\n{told}", code)
    if not plain.failed and not plain.hang:
        return
    told = f": {plain.hang}" if plain.hang else f". Its last words:\n{plain.said()}"
    code = HANGS if plain.hang else ABORTED if plain.aborted else CRASHED
    what = f"the program {how(plain)}, with the MPI's own collectives and nothing changed"
    if before:
        what = f"{before}; run again after that, plain, it {how(plain)}, too: no rule is to blame"
    raise Problem(f"{what}{told}", code)


def need_settings(ended):
    """What crestacoll refuses in MPI_Init is no fault of the program, nor of any rule's calls."""
    told = lastwords.settings_error(ended)
    if told:
        raise Problem(f"crestacoll could not set up a run of the program: {told}", CANNOT)


def no_race(ended, log, calls):
    """Why nothing could be compared in a program that does not end. `calls`: it is known to call
    collectives.
    """
    if log.none is None and ended.why != "ended" and calls:
        raise Problem(
            f"the program neither ended nor repeated a step in {ended.seconds:.0f} s, although it"
            " calls collectives. Programs without steps are explored if a whole run fits into 40 %"
            " of the --budget, better into a twentieth",
            TIME_LIMIT,
        )
    if log.none is None and ended.why != "ended":
        raise Problem(
            f"the program neither ended nor repeated a step in {ended.seconds:.0f} s. Does it"
            " hang? If it needs longer, give it a larger --budget",
            TIME_LIMIT,
        )
    raise Problem(
        f"the program {lack(log)}, and crestacoll compares implementations from one time step to"
        " the next. Without a profile it cannot compare single calls either: give it a larger"
        " --budget, so that a run comes to its end",
        NO_RHYTHM,
    )


def no_time(seconds):
    """A program of which nothing is known but that it did not end by then."""
    raise Problem(
        f"the program did not end in {seconds:.0f} s, and there was no time to compare its steps."
        " Does it hang? If it needs longer, give it a larger --budget",
        TIME_LIMIT,
    )


def lack(log):
    """What keeps its steps from being compared, as what `the program` does."""
    if log.start:
        return "has too few steps in a run to compare implementations"
    if log.none and log.none.get("repeats"):
        return "ends too soon to time the steps that it repeats"
    return no_rhythm(log.none.get("why") if log.none else "")


def no_rhythm(why):
    return f"shows no rhythm ({why})" if why else "shows no rhythm"


def only_a_part(log):
    anchor = log.start["anchor"]
    return (
        f"what repeats, with the {anchor['collective']} on {anchor['communicator'] or 'all ranks'},"
        f" is {100 * log.coverage:.0f} % of a run"
    )


def no_turns(lacks, seen):
    """`lacks`: what the program does instead of repeating steps. `seen`: the numbers of runs that
    compared its calls, of calls of the kind with most of them in one run, its name, and the share
    of its time in collectives.
    """
    told = (
        f"the program {lacks}, and its calls could not be compared one by one, either:"
        f" {counted(seen['runs'], 'run')} with changing implementations gave too few comparisons. A"
        f" run makes {counted(seen['calls'], 'call')} of the most frequent kind, {seen['name']}."
    )
    if seen["inside"] < LITTLE:
        told += (
            f" Only {100 * seen['inside']:.1f} % of a run passes in collectives: there is little to"
            " gain"
        )
    else:
        told += " A larger --budget gives more runs, a longer input more calls"
    raise Problem(told, NO_RHYTHM)


def fails_under_all(what):
    raise Problem(
        "the program fails under every implementation, or because they change while it"
        f" runs: it {what}. With `crestacoll run --impl` each can be tried for a whole run",
        CRASHED,
    )


def broken_by_race(ended, what):
    raise Problem(
        f"the program {what} before the race began, but not without it. Its last words:\n"
        f"{ended.said()}",
        CRASHED,
    )


def need_collectives(profile, begins=False):
    if profile.get("job_ranks", profile["ranks"]) == 1:
        raise Problem(
            "the program runs on one rank: it has nothing to communicate, and there is nothing to"
            " choose. Start it with more ranks (mpirun -n 2 ...)",
            NO_COLLECTIVE,
        )
    if any(arms.usable(r, False, begins) for r in profile["records"]):
        return
    if any(r["mode"] == "blocking" for r in profile["records"]):
        return
    kinds = {r["mode"] for r in profile["records"]}
    if kinds:
        raise Problem(
            "the program calls no blocking collective. Its non-blocking and persistent collectives"
            " go to the MPI unchanged: there is nothing to choose",
            NO_COLLECTIVE,
        )
    raise Problem("the program calls no collective: there is nothing to choose", NO_COLLECTIVE)
