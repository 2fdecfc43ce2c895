# SPDX-License-Identifier: BSD-3-Clause
"""What explore does with a program without steps: implementations are compared by the time of each
call, at the points that cost it. That leaves out what ranks wait elsewhere. So whole runs, plain
and under the choice in turn, have to prove it.
"""

import time

from crestacoll_tools.explore import arms, blame, calldata, reasons, runs, settle, verdict, whole
from crestacoll_tools.explore.state import choice_data
from crestacoll_tools.profile import profiles
from crestacoll_tools.race import race, racestats, turns

SHARE = 0.45  # of the time that is left, for races by calls: two thirds of it for the models
MODELS_SHARE = 2 / 3
FINE = 0.01  # a point is known when all that is open there is known so well
MOST_RUNS = 40
BLOCK = (1, 8)  # calls, at least and at most
ROUNDS = 16  # that blocks should leave room for, at the point with the fewest calls
YOUTH = (2, 32)  # first calls on a communicator
QUIET = (5.0, 30.0)  # seconds without a word before a program counts as hanging


def begin(search, lacks):
    """No steps can be compared, because of what the program does: what races showed so far says
    nothing.
    """
    search.note(
        f"the program {lacks}. So implementations are compared by the time of each call. That"
        " leaves out what ranks wait elsewhere: whole runs, plain and under the rules in turn,"
        " decide"
    )
    data = search.state.data
    points = arms.points_of(search.profile, search.options["keep_rounding"], named=False)
    data |= {"mode": calldata.STAGE, "no_steps": lacks}
    data["stages"] = {"profile": data["stages"]["profile"]}
    data["points"] = [p.as_dict() for p in points]
    search.state.save()


class Sizes:
    """Ends a run in which no rank has written anything for long."""

    def __init__(self, path, patience, tick=lambda: None):
        self.path, self.patience, self.tick = path, patience, tick
        self.size, self.since = -1, 0.0

    def __call__(self, seconds):
        size = sum(f.stat().st_size for f in turns.files(self.path) if f.exists())
        if size != self.size:
            self.size, self.since = size, seconds
        return "stalled" if seconds - self.since > self.patience else None


class ByCalls:
    """Works with a Search, whose profile is known."""

    def __init__(self, search):
        self.search, self.state, self.tell = search, search.state, search.tell
        self.stage = self.state.stage(calldata.STAGE)
        self.stage.setdefault("picks", {})
        self.keep = search.options["keep_rounding"]

    def work(self):
        if not self.state.points:
            return
        self.compare()
        self.search.lead(settle.unless_disproved(self.state, calldata.best(self.state)))
        self.need_comparisons()
        self.prove()
        while settle.go_on(self.search, self.compare_more):
            self.prove()

    # Time per call.

    def compare(self):
        """Models first, then algorithms of the best one at each point."""
        if self.stage["done"]:
            return
        begin, room = time.monotonic(), self.room()
        every = self.models()
        self.compare_until(begin + MODELS_SHARE * room, every, "models")
        more = self.algorithms()
        if any(more):
            self.compare_until(begin + room, more, "algorithms")
        self.stage["done"] = True
        self.state.save()

    def models(self):
        """Those to compare at each point."""
        points = self.state.points
        self.stage["models"] = arms.working(self.search.description, points)
        return [arms.that_differ(self.stage["models"], point) for point in points]

    def compare_more(self, still_open):
        """While nothing is decided: what is open of models and algorithms."""
        every = [a + b for a, b in zip(self.models(), self.algorithms())]
        end = time.monotonic() + settle.MORE * self.search.left()
        self.compare_until(end, every, "models and algorithms")

    def room(self):
        """What whole runs do not need, if there is so much."""
        left = self.search.left()
        return max(min(SHARE * left, left - self.for_proof()), left / 4)

    def for_proof(self):
        return 1.2 * 2 * racestats.FEWEST * self.search.wall_s

    def algorithms(self):
        """Arms with algorithms of the best model, at points with a large share; and what leads."""
        models = {m["name"]: m for m in self.search.description["models"] if m["works"]}
        found = []
        for point, known in zip(self.state.points, calldata.differences(self.state)):
            sure = {how: d for how, d in known.items() if d is not None}
            ranking = sorted(sure, key=lambda how: sure[how].trimmed)
            with_some = [m for m in ranking if models.get(m, {}).get("algorithms")]
            here = arms.ways_of(with_some[0], models, point) if with_some else []
            found.append(here if point.share >= arms.DOMINANT else [])
        return found

    def compare_until(self, end, candidates, what):
        for _ in range(MOST_RUNS):
            left = end - time.monotonic()
            open_picks = self.open_picks(candidates)
            if not any(open_picks) or left < min(1.0, self.search.wall_s):
                return
            suspects = [how for how in self.stage["suspects"] if any(how in p for p in open_picks)]
            self.stage["suspects"] = suspects
            if suspects:  # each alone, until it is known which one it was
                open_picks = [[how for how in p if how == suspects[0]] for p in open_picks]
            names = [f"{arms.named(self.state.points, i)}={'|'.join(p)}"
                     for i, p in enumerate(open_picks) if p]
            self.tell.tries(f"{what}, by the time of each call", names)
            good = self.one_run(self.arms_of(open_picks), left)
            if suspects and good:
                suspects.pop(0)
            self.state.save()

    def open_picks(self, candidates):
        """Those that are neither clearly slower, nor broke the program, nor known well."""
        found = []
        for index, (hows, known) in enumerate(zip(candidates, calldata.differences(self.state))):
            out = calldata.slower(known)
            fine = {h for h, d in known.items() if d is not None and d.half_width < FINE}
            found.append([
                how for how in hows
                if how not in out | fine and not calldata.failed(self.state, index, how)
            ])
        return found

    def arms_of(self, open_picks):
        """Points are compared side by side: the n-th arm has the n-th candidate of each."""
        most = min(max(map(len, open_picks)), race.MOST_ARMS - 1)
        return [arms.REFERENCE] + [
            arms.Choice(
                str(n + 1), tuple((i, p[n]) for i, p in enumerate(open_picks) if n < len(p))
            )
            for n in range(most)
        ]

    def asked(self, competing, number):
        points = self.state.points
        fewest = min(self.calls_of(p) for p in points)
        block = fewest // (2 * len(competing) * ROUNDS)
        return race.Race(
            tuple(c.arm(points, self.keep, n) for n, c in enumerate(competing)),
            seed=16 + number,
            calls=min(max(block, BLOCK[0]), BLOCK[1]),
            youth=min(max(fewest // 8, YOUTH[0]), YOUTH[1]),
        )

    def calls_of(self, point):
        """Calls of one rank, as the profile has them."""
        return sum(
            r["calls"]
            for r in self.search.profile["records"]
            if r["mode"] == "blocking"
            and (r["collective"], r["processes"]) == (point.collective, point.processes)
            and (point.low is None or r["bytes_min"] == point.low)
        )

    def one_run(self, competing, left):
        """True if the program did not break."""
        files = {}

        def variables(number, folder):
            files["log"] = folder / "race.jsonl"
            self.stage["picks"][str(number)] = [list(map(list, c.picks)) for c in competing]
            self.asked(competing, number).write(folder / "race", files["log"])
            least, most = QUIET
            patience = max(least, min(most, self.search.budget / 8), self.search.wall_s / 2)
            files["look"] = Sizes(files["log"], patience)
            return {race.VARIABLE: str(folder / "race")}

        whole = min(1.5 * self.search.wall_s + 1, self.search.left())
        limit = max(2.0, left, whole)
        ended = self.search.run(calldata.STAGE, variables, limit, lambda s: files["look"](s))
        if ended.failed or ended.why == "stalled":
            self.broke(competing, ended, turns.read(files["log"]))
            return False
        (ended.folder / "stdout").unlink(missing_ok=True)
        self.stage["good"] += 1
        return True

    def broke(self, competing, ended, log):
        """What ran first, with nothing behind it, is what broke the program. Where ranks were at
        different ones, or all had run, each has to run alone.
        """
        what = reasons.how(ended)
        reasons.need_settings(ended)
        if not log.started:
            whole.clear_of(self.search, ended, "a race")
            reasons.broken_by_race(ended, what)
        rows = [calldata.row_of(p) for p in self.state.points]
        blamed = blame.of_calls(log, competing, rows)
        suspects = {how for _, how in blamed} or {how for c in competing for _, how in c.picks}
        if len(suspects) > 1:
            self.stage["suspects"] = sorted(suspects)
            return
        where = "in its first calls" if blamed else "under it, with only the MPI's own beside it"
        innocent = whole.clear_of(self.search, ended, " ".join(sorted(suspects)))
        for index, how in blamed or sorted(competing[1].picks):
            self.stage["failed"].append({"arm": how, "pick": [index, how], "text": what})
            self.search.note(
                f"{arms.named(self.state.points, index)}={how}: the program {what} {where};"
                f" {innocent}"
            )

    def need_comparisons(self):
        if any(any(known.values()) for known in calldata.differences(self.state)):
            return
        if self.stage["failed"] and not self.stage["good"]:
            reasons.fails_under_all(self.stage["failed"][0]["text"])
        calls, point = max(((self.calls_of(p), p) for p in self.state.points), key=lambda c: c[0])
        seen = {"runs": len(self.stage["runs"]), "calls": calls, "name": point.where}
        seen["inside"] = 1 - arms.time_parts(self.search.profile)["outside"]
        lacks = self.state.data.get("no_steps", "")
        if not lacks or lacks.startswith(" "):  # an exploration of an earlier version
            lacks = reasons.no_rhythm(lacks.strip(" ()"))
        reasons.no_turns(lacks, seen)

    # Whole runs.

    def prove(self):
        choice = self.state.choice
        if not choice.picks:
            return
        pair = [choice_data(arms.REFERENCE), choice_data(choice)]
        stage = self.state.stage_of("proof", pair)
        if stage["done"]:
            return
        stage.setdefault("pairs", [])
        pair = whole.Whole(self.search, stage, self.search.write_rules(choice))
        for _ in range(runs.MOST):
            if self.search.left() < 2.1 * pair.plain_s or self.proved():
                break
            self.tell.tries("proof: whole runs, plain and under the rules in turn")
            if not self.one_pair(stage, pair):
                break
        failed = stage.get("answers", {}).get("failed")
        stage["done"] = bool(failed) or self.ended_proof(self.known())
        if len(stage["pairs"]) < racestats.FEWEST and not stage["done"]:
            needed = 2 * racestats.FEWEST * pair.plain_s
            self.search.note(
                f"the proof needs {2 * racestats.FEWEST} whole runs, which take {needed:.0f} s:"
                f" give it --budget {2 * needed / 60 + 1:.0f}m"
            )
        self.state.save()

    def known(self):
        return verdict.proof(self.state)

    def ended_proof(self, found):
        return verdict.ended_proof(found, verdict.margin_of(self.state))

    def proved(self):
        found = self.known()
        return self.ended_proof(found) and found.half_width < FINE / 2

    def one_pair(self, stage, pair):
        """Two runs, every other time the tuned one first. False if one failed, or took too long."""
        seconds = {}
        for tuned in (True, False) if len(stage["pairs"]) % 2 else (False, True):
            ended = pair.tuned() if tuned else pair.plain()
            if ended is None or "failed" in stage.get("answers", {}):
                return False
            seconds[tuned] = profiles.load(ended.folder / "p.json")["wall_s"]
            if tuned:
                self.search.judge_answers(stage, ended)
        stage["pairs"].append([seconds[False], seconds[True]])
        self.state.save()
        return True
