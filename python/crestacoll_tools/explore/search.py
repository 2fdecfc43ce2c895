# SPDX-License-Identifier: BSD-3-Clause
"""The work of `crestacoll explore`: a profile, races one after the other, and the proof."""

import time
from pathlib import Path

from crestacoll_tools.base import outputs
from crestacoll_tools.builds import machine
from crestacoll_tools.explore import (
    arms,
    blame,
    bycalls,
    calldata,
    given,
    outcome,
    reasons,
    runs,
    settle,
    verdict,
    watch,
    whole,
    words,
)
from crestacoll_tools.explore.state import choice_data
from crestacoll_tools.race import race, racestats

PROFILE_SHARE = 0.4  # of the budget, at most
SHARES = {"models": 0.4, "points": 0.3, "algorithms": 0.3}  # of what is left
START_SHARE = 0.5  # of the time of a race, at most, until the first step is known
SUSPECT_S = 1.0  # of racing, to see whether the program fails under an arm
LEAST = 1.0  # seconds: a shorter race is not begun
FINE = 0.005  # a race ends when all differences are known so well,
FINE_PROOF = 0.002  # and the proof, which is to claim small gains, too
WATCH_SHARE, WATCH_MS = 0.05, (50, 500)  # of a run, until its steps are chosen
MOST_RUNS = 100  # of one race
AGAIN = 0.05  # of the budget: so short is a run that may find no step, MOST_MISSED times
LEAST_COVERAGE = 0.1  # of the time of a run is made of steps, or the program counts as without
LONG_MS = 50  # blocks of the proof last at least so long, and LONG_STEPS
LONG_STEPS = 10
PROOF_LEAST = 0.5  # of the time that is left; the rest is for a whole run
PROOF_ROUNDS = 20  # for which the blocks of the proof leave time


class NoSteps(Exception):
    """The program ends, but has no time step that repeats; says why."""


class OutOfTime(Exception):
    """The budget is spent: no other run of the program begins."""


class Search:
    """Everything about one exploration that changes while it goes on."""

    def __init__(self, job, description, state, budget, tell):
        self.job, self.description, self.state, self.tell = job, description, state, tell
        self.options, self.stdin = state.data["options"], given.Input(state.folder)
        self.begin, self.budget = time.monotonic(), budget
        self.earlier_s, self.profile = state.data["spent_s"], None

    def left(self):
        return self.budget - (time.monotonic() - self.begin)

    def has_time(self):
        return self.left() > LEAST

    @property
    def longest_s(self):
        """Seconds of the longest plain run that came to its end; 0 without any."""
        return max(self.wall_s or 0.0, self.state.data.get("run_s", 0.0))

    def room(self):
        """Seconds until every run has to end: what is left of the budget, and one run."""
        return self.left() + self.longest_s

    def run(self, stage, variables, limit, look=lambda seconds: None, runner=None):
        """One more run of the program, which counts even if it is interrupted. It begins within the
        budget, and ends within that and one run of the program.
        """
        if self.left() <= 0:
            raise OutOfTime
        limit, runner = min(limit, self.room()), runner or runs.run
        number, folder = self.state.new_run(stage)
        began = time.monotonic()

        def both(seconds):
            self.tell.tick()
            return look(seconds)

        try:
            ended = runner(self.job, variables(number, folder), folder, limit, both, self.stdin)
            if runner is runs.plain_run and ended.why == "ended":
                self.state.data["run_s"] = max(self.longest_s, ended.seconds)
            return ended
        finally:
            known = self.state.stage(stage)
            known["spent_s"] = known.get("spent_s", 0.0) + time.monotonic() - began
            self.state.data["spent_s"] = self.earlier_s + time.monotonic() - self.begin
            self.state.save()

    def work(self):
        """Goes through all that is not done yet. A Problem says why it cannot."""
        others = machine.Others()
        others.look()
        try:
            self.take_profile()
            if self.state.data["points"]:
                self.compare()
            others.look()
        except OutOfTime:
            self.tell.note("the budget is spent")
            self.need_rounds()
        finally:
            self.state.data["others"] = others.found()
        self.state.data["ended"] = "done"
        self.state.save()

    # The profile.

    def take_profile(self):
        stage = self.state.stage("profile")
        if not stage["done"]:
            self.tell.tries("a run with the MPI's own collectives, to see where the time goes")
            limit = min(self.left(), max(2.0, PROFILE_SHARE * self.left()))
            ended = self.run("profile", self.profiled, limit, runner=runs.plain_run)
            reasons.judge_plain(ended, limit)
            stage |= {"done": True, "why": ended.why, "seconds": ended.seconds, "limit": limit}
        self.profile = outcome.recorded(self.state)
        points, begins = [arms.EVERYTHING], runs.begins_follow_rules()
        if self.profile is not None:
            points = self.points_of_profile(begins)
        if stage["why"] != "ended":
            how = "what rank 0 had called until then is compared"
            if self.profile is None:
                how = "there is no profile, and all collectives are tried together"
            self.note(
                f"the program did not end within {stage['limit']:.0f} s: {how}. A larger --budget"
                " gives it time to end"
            )
        self.state.data["points"] = [p.as_dict() for p in points]
        self.state.save()

    @staticmethod
    def profiled(number, folder):
        return {"CRESTA_PROFILE": str(folder / "p.json"), "CRESTA_PROFILE_EVERY": "1"}

    def points_of_profile(self, begins):
        reasons.need_collectives(self.profile, begins)
        if begins and any(r["mode"] == "nonblocking" for r in self.profile["records"]):
            self.note("waiting for collectives that were begun counts as outside them")
        keep = self.options["keep_rounding"]
        share = self.state.data["share"] = arms.share_of(self.profile, keep, begins)
        found = arms.points_of(self.profile, keep, begins)
        if not found and share > verdict.margin_of(self.state):  # many calls, each with little
            found = arms.points_of(self.profile, keep, begins, least=0.0)
        return found

    def note(self, text):
        """Kept for the report, once."""
        notes = self.state.data.setdefault("notes", [])
        if text not in notes:
            notes.append(text)
            self.tell.note(text)

    # Races.

    def compare(self):
        """By steps, and without steps by calls."""
        if not calldata.is_on(self.state):
            try:
                self.search()
                self.need_rounds()
                self.prove()
                while settle.go_on(self, lambda found: settle.more_rounds(self, found)):
                    self.prove()
            except NoSteps as found:
                bycalls.begin(self, str(found))
        if calldata.is_on(self.state):
            bycalls.ByCalls(self).work()

    def search(self):
        """One race after the other; each begins where the one before ended."""
        points = self.state.points
        self.race("models", lambda: arms.model_choices(points, self.description))
        self.need_an_arm()
        leader = settle.best_model(self)
        self.lead(leader)
        ranking = outcome.ranking(self.state)
        self.race("points", lambda: arms.point_choices(points, leader, ranking), leader)
        leader = outcome.after_points(self.state, leader)
        self.lead(leader)
        self.race(
            "algorithms",
            lambda: arms.algorithm_choices(points, leader, ranking, self.description),
            leader,
        )
        leader = outcome.after_algorithms(self.state, leader)
        leader = settle.unless_disproved(self.state, leader)
        self.lead(leader if leader.picks else settle.once_more(self))

    def need_an_arm(self):
        """If no run of the first race went well, it is the changes that the program cannot bear.
        One that failed says nothing of the other arms: perhaps there was no time for more.
        """
        stage = self.state.stage("models")
        if len(stage["failed"]) > 1 and stage["good"] == 0:
            reasons.fails_under_all(stage["failed"][0]["text"])

    def need_rounds(self):
        """A program that neither ended nor raced may hang: there is nothing to say of choices."""
        stages = self.state.data["stages"]
        known = any(self.state.rounds(s) or self.state.stage(s)["failed"] for s in stages)
        profile = self.state.stage("profile")
        if profile["done"] and self.wall_s is None and not known:
            reasons.no_time(profile["seconds"])

    def lead(self, choice):
        self.state.data["choice"] = choice_data(choice)
        self.state.save()

    def race(self, name, choices, leader=arms.REFERENCE):
        """Runs the program, again and again, until this race has used its share of the time."""
        stage = self.state.stage(name)
        if stage["done"]:
            return
        if not stage["arms"]:
            made = arms.unique([arms.REFERENCE, *([leader] if leader.picks else []), *choices()])
            made = made[: race.MOST_ARMS]
            stage["arms"] = [choice_data(c) for c in made]
            stage["stay"] = 2 if leader.picks else 1
        enough = len(stage["arms"]) > stage["stay"]
        if enough:
            end = time.monotonic() + SHARES[name] * self.left()
            options = {"drop": True, "confirm": name == "models"}
            self.rounds_until(name, stage, end, options)
        stage["done"] = not enough or bool(self.state.rounds(name))
        self.state.save()

    def rounds_until(self, name, stage, end, options):
        """Runs of one race. An arm that breaks the program leaves it."""
        points, keep = self.state.points, self.options["keep_rounding"]
        for _ in range(MOST_RUNS):
            out = [f["arm"] for f in stage["failed"]]
            every = self.state.choices(name)
            taking_part = self.open_arms(name, [c for c in every if c.name not in out])
            suspect = next((c for c in taking_part if c.name in stage["suspects"]), None)
            if suspect is not None:
                taking_part = [every[0], suspect]
            elif len(taking_part) <= stage["stay"] and self.state.rounds(name):
                return
            seconds = end - time.monotonic() - self.lost(name)
            if len(taking_part) < 2 or seconds < LEAST or self.settled(name, taking_part):
                return
            competing = tuple(c.arm(points, keep, every.index(c)) for c in taking_part)
            self.tell.tries(words.TITLES[name], [a.name for a in competing[1:]])
            seconds = SUSPECT_S if suspect else self.within(seconds, options)
            asked = race.Race(competing, seconds=seconds, **options)
            more = self.one_race(name, stage, asked, end - time.monotonic())
            if suspect is not None:
                stage["suspects"].remove(suspect.name)
            elif not more:
                return

    def open_arms(self, name, choices):
        """Without those that earlier runs of this race found clearly slower than the best. The
        reference stays, and the leader of the race before.
        """
        names, rounds = [c.name for c in choices], self.state.rounds(name)
        ahead = watch.leading(rounds, names)
        best = ahead[0] if ahead and ahead[1].trimmed < 0 else arms.MPI
        found, stay = racestats.compare(rounds, names, best), self.state.stage(name)["stay"]
        return [
            c
            for i, c in enumerate(choices)
            if i < stay or found.get(c.name) is None or not found[c.name].surely_slower
        ]

    def within(self, seconds, options):
        """A run that ends before its race would have no long blocks."""
        if not options["confirm"] or self.wall_s is None:
            return seconds
        return min(seconds, max(LEAST, 0.9 * (self.wall_s - self.lost("models"))))

    def lost(self, name):
        """Seconds of a run in which the program does not race, as earlier ones showed."""
        names = ("models", name)
        starts = [log.start["at_s"] for n in names for log in self.state.logs(n) if log.start]
        return min(starts, default=0.0)

    def settled(self, name, taking_part, fine=FINE):
        """Nothing to learn any more: all differences are known well."""
        names = [c.name for c in taking_part]
        found = racestats.compare(self.state.rounds(name), names, names[0])
        return all(
            d is not None and (d.half_width < fine or d.surely_slower) for d in found.values()
        )

    def one_race(self, name, stage, asked, limit):
        """One run that races. False: no more of them."""
        files = {}

        def variables(number, folder):
            files["log"] = folder / "race.jsonl"
            more = {"seed": 16 + number, "watch_ms": self.watch_ms}
            seeded = race.Race(**{**vars(asked), **more})
            seeded.write(folder / "race", files["log"])
            files["look"] = watch.Watch(
                race.Tail(files["log"], self.state.names(name)),
                self.tell,
                max(1.0, START_SHARE * limit if self.wall_s is None else limit),
                self.options["steps"],
                self.wall_s,
                self.state.rounds(name),
                max(5.0, min(watch.STALL, self.budget / 8)),
                outcome.mean_step_s(self.state),
            )
            return {race.VARIABLE: str(folder / "race")}

        ended = self.run(name, variables, limit + 1, lambda seconds: files["look"](seconds))
        log = race.read(files["log"], self.state.names(name))
        if ended.failed or ended.why == watch.STALLED:
            competing = [self.state.names(name)[a.number] for a in asked.arms[1:]]
            blame.broke(self, stage, competing, ended, log)
            return True
        (ended.folder / "stdout").unlink(missing_ok=True)
        stage["good"] += log.start is not None
        if log.start is None or (ended.why == "ended" and not log.rounds):
            return self.missed(stage, ended, log)
        if name == "models" and (log.coverage or 1.0) < LEAST_COVERAGE:
            self.only_a_part(log)
        return ended.why in ("ended", watch.DONE)

    def only_a_part(self, log):
        if self.wall_s is not None and log.end:
            raise NoSteps(f"repeats no step for most of a run: {reasons.only_a_part(log)}")
        self.note(f"{reasons.only_a_part(log)}: steps are these alone")

    @property
    def wall_s(self):
        """Seconds of a whole run; None if none came to its end."""
        stage = self.state.stage("profile")
        return stage["seconds"] if stage.get("why") == "ended" else None

    @property
    def watch_ms(self):
        """Much of a short run would be lost otherwise."""
        least, most = WATCH_MS
        if self.wall_s is None:
            return most
        return round(min(most, max(least, 1e3 * WATCH_SHARE * self.wall_s)))

    def missed(self, stage, ended, log):
        """A run without a round of steps. A short one may do better the next time."""
        stage["missed"] += 1
        again = ended.why == "ended" and ended.seconds < AGAIN * self.budget
        if again and stage["missed"] < blame.MOST_MISSED:
            return True
        cut = ended.why in ("limit", watch.NO_START) and ended.seconds < (self.wall_s or 0.0)
        if cut:  # it might have shown steps later
            return False
        if any(self.state.rounds(s) for s in self.state.data["stages"]):
            return False
        if self.wall_s is None:
            reasons.no_race(ended, log, self.profile is not None)
        raise NoSteps(reasons.lack(log))

    # The proof.

    def prove(self):
        """The choice against the MPI in the same job, then the answers of a whole run."""
        choice, stage = self.state.choice, self.state.stage("proof")
        if not choice.picks:
            return
        pair, keep = (arms.REFERENCE, choice), self.options["keep_rounding"]
        stage = self.state.stage_of("proof", [choice_data(c) for c in pair])
        points, rules = self.state.points, self.write_rules(choice)
        if not stage["done"]:
            self.race_pair(stage, tuple(c.arm(points, keep, i) for i, c in enumerate(pair)))
            stage["done"] = self.proof_ended()
            self.state.save()
        if self.wall_s is None or stage.get("answers"):
            return
        if self.room() > self.tuned_s():
            self.compare_answers(stage, rules)

    def write_rules(self, choice):
        """The file that a tuned run reads."""
        rules = choice.rules(self.state.points, self.options["keep_rounding"])
        path = self.state.folder / "rules"
        outputs.write_text(path, "\n".join(rules) + "\n")
        return path

    def tuned_s(self):
        """How long a whole run takes under the choice, as far as races have shown it."""
        known = outcome.known_difference(self.state)
        return self.longest_s * (1 + (min(0.0, known.high) if known else 0.0))

    def race_pair(self, stage, competing):
        """Long blocks, until the difference is known well or the time is up. As much as possible
        of the time of a whole run is left; a second, if one is needed, may end after the budget.
        """
        whole = 1.2 * self.tuned_s() + 1 if self.wall_s else 0.0
        room = max(self.left() - whole, PROOF_LEAST * self.left())
        end, names = time.monotonic() + room, self.state.choices("proof")
        for count in range(MOST_RUNS):
            seconds = end - time.monotonic() - self.lost("proof")
            if count and (seconds < LEAST or self.proved(names)):
                return
            self.tell.tries("proof: the choice against the MPI, in long blocks")
            asked = race.Race(
                competing,
                seconds=max(LEAST, seconds),
                block_ms=self.long_blocks(seconds),
                drop=False,
                confirm=False,
            )
            limit = max(5.0, end - time.monotonic())
            if not self.one_race("proof", stage, asked, limit) or stage["failed"]:
                return

    def proved(self, names):
        """Nothing more to learn, and nothing that is likely but not sure."""
        return self.proof_ended() and self.settled("proof", names, FINE_PROOF)

    def proof_ended(self):
        return verdict.ended_proof(verdict.proof(self.state), verdict.margin_of(self.state))

    def long_blocks(self, seconds):
        """Milliseconds: long, and still enough rounds."""
        steps = [log.step_s for log in self.state.logs("models") if log.step_s]
        wanted = max(LONG_MS, LONG_STEPS * 1e3 * (steps[-1] if steps else 0.0))
        return max(1.0, round(min(wanted, 1e3 * seconds / PROOF_ROUNDS / 4), 3))

    def compare_answers(self, stage, rules):
        """Runs the program to its end under the rules; once more without them if what it prints
        differs, and no other plain run shows what varies by itself.
        """
        self.tell.tries("a whole run under the rules, to compare its answers")
        pair = whole.Whole(self, stage, rules)
        ended = pair.tuned()
        if ended is None or "answers" in stage:
            return
        self.judge_answers(stage, ended)
        told = stage["answers"]
        if not told["same"] and told["by"] is None and told["plain_runs"] < 2:
            if self.left() > 0 and pair.plain() is not None:
                self.judge_answers(stage, ended)

    def plain_output(self):
        """What the first plain run printed."""
        return self.state.run_folder(self.state.stage("profile")["runs"][-1]) / "stdout"

    def judge_answers(self, stage, ended):
        """What a whole run under the rules printed, against all plain ones. One that printed
        something else is not forgotten for others that did not.
        """
        plains = [self.plain_output(), *map(Path, self.state.data.get("plain_outputs", []))]
        before, compare = stage.get("answers"), self.options["compare"]
        found = runs.answers(plains, ended.folder / "stdout", compare)
        if before is not None and before["same"] and found["same"]:
            (ended.folder / "stdout").unlink()
            found["tuned"] = before["tuned"]
        elif before is not None and not before["same"]:
            again = runs.answers(plains, Path(before["tuned"]), compare)
            found = found if again["same"] else again
        stage["answers"] = found
        self.state.save()
