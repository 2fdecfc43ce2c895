# SPDX-License-Identifier: BSD-3-Clause
"""Runs of the program with some of the settings."""

import os
from pathlib import Path

from crestacoll_tools.base.text import counted, visible
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.bisect import candidates, halving
from crestacoll_tools.explore import given, runs
from crestacoll_tools.profile import profiles

PLAIN = "*=mpi\nneighbor_*=mpi"
HEALING = "p2p"  # what stands in for the MPI's own call
FIRST_LIMIT = 24 * 3600.0


def rules_text(spec):
    """What --impl says, as rules; the word `auto` alone has a place of its own otherwise."""
    if spec.startswith("@"):
        try:
            return Path(spec[1:]).read_text(encoding="utf-8", errors="surrogateescape")
        except OSError as e:
            raise Problem(f"cannot read {spec[1:]}: {e.strerror}", exit_code=2) from e
    return "*=auto\nneighbor_*=auto" if spec == "auto" else spec


class Runs:
    """The runs of one search. `forcing` and `switches` are variables of the MPI."""

    def __init__(self, job, judge, folder, settings, forcing, switches, say):
        self.job = job
        self.judge = judge
        self.folder = folder
        self.rules = rules_text(settings.pop("CRESTA_IMPL", ""))
        self.settings = settings
        self.forcing = forcing
        self.switches = switches
        self.say = say
        self.limit = FIRST_LIMIT
        self.stdin = given.Input(folder)
        self.done = []
        for name in (*forcing, *switches):
            os.environ.pop(name, None)

    def run(self, what, rules, variables=None, tuned=True):
        """One run; what is wrong with it, and its profile if it wrote one."""
        number = len(self.done) + 1
        folder = self.folder / f"run-{number}"
        folder.mkdir(parents=True)
        (folder / "rules").write_text(rules + "\n", encoding="utf-8", errors="surrogateescape")
        tuning = {k: v for k, v in self.settings.items() if tuned}
        asked = tuning | (variables or {}) | {
            "CRESTA_IMPL": f"@{folder / 'rules'}",
            "CRESTA_PROFILE": str(folder / "profile.json"),
            "CRESTA_PROFILE_WAIT": "0",
        }
        ended = runs.run(self.job, asked, folder, self.limit, stdin=self.stdin)
        wrong = self.judge.wrong(ended, self.limit)
        self.done.append({"run": number, "settings": what, "wrong": wrong or None,
                          "seconds": round(ended.seconds, 3)})
        self.say(visible(f"run {number:2}  {what}: {wrong or 'the right answer'}"))
        return ended, wrong

    def profile_of(self, ended):
        path = ended.folder / "profile.json"
        return profiles.load(path) if path.exists() and path.stat().st_size else None

    def plain(self):
        """Without any of the settings."""
        ended, wrong = self.run("the MPI's own calls", PLAIN, tuned=False)
        self.limit = 60 + 10 * ended.seconds
        return ended, wrong

    def full(self):
        log = {"CRESTA_LOG": "info"}
        return self.run("all settings", self.rules, self.forcing | self.switches | log)

    def varies(self, ended):
        """Whether a run with all settings is only wrong in what varies by itself, such as times:
        another run without them shows that. A run that failed, or a check, needs none.
        """
        if ended.why != "ended" or ended.code != 0 or self.judge.check:
            return False
        again, wrong = self.run("the MPI's own calls, once more", PLAIN, tuned=False)
        if again.why != "ended" or again.code != 0:
            raise Problem(f"the program fails at times without any setting: {wrong}")
        if wrong:
            self.judge.learn(again)
        return wrong and not self.judge.wrong(ended, self.limit)

    def with_some(self, every, on):
        """Some candidates; the others are the MPI's own calls, its variables not set."""
        off = [c.point.rule("mpi") for i, c in enumerate(every) if c.point and i not in on]
        variables = dict(self.switches)
        for i in on:
            variables |= every[i].variables
        what = named(every, on)
        return bool(self.run(what, "\n".join([*off, self.rules]), variables)[1])

    def healed(self, every, on):
        """The MPI's own call for some points, and ours for the others."""
        off = [c.point.rule(HEALING) for i, c in enumerate(every) if i not in on]
        what = f"{HEALING} in place of the MPI's own call but for " + (named(every, on) or "none")
        return bool(self.run(what, "\n".join([*off, PLAIN]), tuned=False)[1])


def named(every, on):
    """Which settings a run has, in a line."""
    if not on:
        return "none of the settings, once more"
    if len(on) <= 2:
        return " and ".join(every[i].name for i in on)
    return f"{len(on)} of {len(every)} settings, {every[on[0]].name} to {every[on[-1]].name}"


def blame(jobs):
    """{"verdict": word, ...} from all runs that it takes."""
    plain, wrong = jobs.plain()
    if wrong and not jobs.judge.check:
        return {"verdict": "plain_fails", "why": wrong, "said": plain.said()}
    if wrong:
        return heal(jobs, plain, wrong)
    ended, wrong = jobs.full()
    if wrong and jobs.varies(ended):
        wrong = ""
    if not wrong:
        return {"verdict": "no_setting"}
    profile, own_only = jobs.profile_of(ended), True
    if profile is None:  # it did not come to its end: what the plain run called
        profile, own_only = jobs.profile_of(plain), False
    if profile is None:
        raise Problem("no run came to MPI_Finalize, so that its calls are not known")
    every = [*candidates.of_profile(profile, own_only), *candidates.of_variables(jobs.forcing)]
    every.sort(key=candidates.can_change_data)
    told(jobs, every)
    found = halving.search(len(every), lambda on: jobs.with_some(every, on))
    said = (ended.folder / "stderr").read_text(encoding="utf-8", errors="backslashreplace")
    return verdict([candidates.with_choice(c, said) for c in every], found, wrong)


def heal(jobs, plain, wrong):
    """The program fails its check without any setting: is a call of the MPI to blame?"""
    profile = jobs.profile_of(plain)
    if profile is None:
        return {"verdict": "plain_fails", "why": wrong, "said": plain.said()}
    every = sorted(candidates.of_profile(profile, own_only=False), key=candidates.can_change_data)
    told(jobs, every)
    found = halving.search(len(every), lambda on: jobs.healed(every, on))
    return verdict(every, found, wrong, HEALING) | {"mpi": True}


def told(jobs, every):
    jobs.say(
        f"{counted(len(every), 'candidate')}: at most"
        f" {counted(len(jobs.done) + halving.most_runs(len(every)), 'run')} in all"
    )


def verdict(every, found, wrong, instead="mpi"):
    """What is found; `instead`: the implementation that avoids it."""
    settings = [s for s in found if s is not halving.PROGRAM]
    if not settings:
        return {"verdict": "program", "candidates": len(every)}
    return {
        "verdict": "found",
        "candidates": len(every),
        "setting": every[settings[0]].name,
        "remedy": every[settings[0]].remedy(instead),
        "wrong": wrong,
        "or_program": halving.PROGRAM in found,
    }
