# SPDX-License-Identifier: BSD-3-Clause
"""What `crestacoll explore` says at its end: the three verdicts, and what comes with them."""

import report_data
from crestacoll_tools.builds import builds
from crestacoll_tools.explore import words

STEP = {"gain": 0.084, "low": 0.079, "high": 0.09, "mean": 0.081, "rounds": 96}
NAMES = ("nonblock", "persist", "p2p", "shm", "os")


def _bound(**more):
    bound = {"margin": 0.05, "of": "step", "gain": None, "candidates": 12, "open": []}
    return {"more_s": None} | bound | more


def _open(name, low=None, high=None):
    return {"race": "models", "name": name, "low": low, "high": high}


def _found(verdict, **more):
    """A result with nothing proved."""
    found = report_data.explored() | {"folder": "found", "verdict": verdict, "step": None}
    found |= {"rules": [], "arms": [], "bound": None, "command": ["mpirun", "-n", "4", "./app"]}
    return found | more


def _say(screen, found):
    screen.say(words.headline(found))
    for line in words.details(found):
        screen.say(line.replace(builds.typed(), "crestacoll"))


def proved_faster(screen):
    """With the gain of a step and of a whole run."""
    run = {"of_s": 93.0, "share": 0.974, "gain": 0.082, "low": 0.077, "high": 0.088}
    rules = report_data.explored()["rules"]
    _say(screen, _found("faster", step=STEP, run=run, rules=rules))


def interrupted_before_answers_are_compared(screen):
    """A race has proved the gain, and no whole run has been."""
    rules = report_data.explored()["rules"]
    _say(screen, _found("faster", step=STEP, run=None, rules=rules, answers=None, complete=False))


def proved_faster_by_whole_runs(screen):
    """A program without time steps."""
    run = {"of_s": 9.3, "share": 1.0, "gain": 0.084, "low": 0.079, "high": 0.09}
    rules = report_data.explored()["rules"]
    _say(screen, _found("faster", step=STEP, run=run, rules=rules, by="calls"))


def not_faster(screen):
    """Every candidate is measured, and excluded."""
    _say(screen, _found("not-faster", bound=_bound(gain=0.0121)))


def not_faster_by_the_time_of_calls(screen):
    """A program without time steps."""
    _say(screen, _found("not-faster", by="calls", bound=_bound(gain=0.0121, of="run")))


def not_faster_in_the_proof(screen):
    """The best choice of the races was not faster."""
    step = STEP | {"gain": -0.004, "low": -0.011, "high": 0.003, "mean": -0.006}
    _say(screen, _found("not-faster", step=step, bound=_bound(gain=0.0121)))


def collectives_take_little(screen):
    """Nothing was to be tried."""
    bound = _bound(gain=0.0038, of="run", candidates=0)
    time = {"outside": 0.9962, "waiting": 0.001, "transfer": 0.0028, "calls": 1600}
    _say(screen, _found("not-faster", bound=bound, time=time))


def not_enough_time(screen):
    """What is not excluded, and the budget that would decide."""
    still = [_open("p2p"), _open("os"), _open("shm", -0.012, 0.0824), _open("persist", -2.0, 0.95)]
    _say(screen, _found("undecided", bound=_bound(open=still, more_s=95.0)))


def ahead_without_a_proof(screen):
    """Only what holds for all arms together, and whenever the exploration ends."""
    ahead = {"race": "points", "name": "shm", "low": 0.021, "high": 0.093}
    bound = _bound(open=[_open("shm", 0.012, 0.0824)], more_s=95.0)
    _say(screen, _found("undecided", ahead=ahead, bound=bound))
    _say(screen, _found("undecided", ahead=ahead, bound=bound, by="calls"))


def not_enough_time_for_any(screen):
    """No round was complete: nothing is known of the scatter."""
    bound = _bound(candidates=5, open=[_open(name) for name in (*NAMES, *NAMES)])
    _say(screen, _found("undecided", bound=bound, complete=False))


def not_enough_time_to_be_sure(screen):
    """The proof shows a gain, by too few rounds for a claim."""
    still = [_open("shm", -0.012, 0.0824)]
    claim = {"sure_low": -0.021, "sure_high": 0.182}
    step = STEP | {"low": 0.004, "high": 0.16, "rounds": 9} | claim
    _say(screen, _found("undecided", step=step, bound=_bound(open=still, more_s=600.0)))


def not_enough_time_as_the_mean_disagrees(screen):
    """The interval of the claim is above 0, and the plain mean of the rounds is not."""
    claim = {"sure_low": 0.001, "sure_high": 0.182, "mean": -0.02}
    step = STEP | {"low": 0.004, "high": 0.16, "rounds": 9} | claim
    bound = _bound(open=[_open("shm", -0.012, 0.0824)], more_s=600.0)
    _say(screen, _found("undecided", step=step, agree=False, bound=bound))


def the_table_of_arms(screen):
    """What stands below it, by steps and by calls."""
    arms = [{"name": "p2p", "dropped": True, "difference": None, "failed": ""}]
    for by in ("steps", "calls"):
        screen.say(words.legend({"by": by, "arms": arms}))


def not_everything_was_tried(screen):
    """The budget was spent before."""
    still = [_open("shm", -0.012, 0.0824)]
    missing = ["the race rule by rule", "the race of algorithms", "a proof of shm"]
    bound = _bound(open=still, more_s=600.0)
    _say(screen, _found("undecided", bound=bound, untried=missing))


def the_best_choice_broke_the_program(screen):
    """It is no candidate any more."""
    rejected = {"why": "failed", "text": "was ended by SIGSEGV"}
    bound = _bound(open=[_open("p2p", -0.01, 0.06)], more_s=40.0)
    _say(screen, _found("undecided", rejected=rejected, bound=bound))
    rejected = {"why": "different", "text": ""}
    _say(screen, _found("not-faster", rejected=rejected, bound=_bound(gain=0.02)))
