# SPDX-License-Identifier: BSD-3-Clause
"""Whole runs of the program, plain and under the rules. The program and the machine may change
while an exploration goes on: rules, or an arm of a race, are blamed for what a run did only if the
plain program, run again after it, does not do so. How long a run may take follows from the latest
plain run.
"""

from crestacoll_tools.explore import reasons, runs

TIMES, MORE_S = 3, 5.0  # a run under the rules may take so much longer than the plain one
MOST_OUTPUTS = 6  # of plain runs
AGAIN = "the plain program once more, before anything is blamed"


def did(ended):
    """What a run did, as the end of a sentence."""
    if ended.why == "ended":
        return ended.how() if ended.code else f"ended well in {ended.seconds:.0f} s"
    return f"did not end in {ended.seconds:.0f} s"


def clear_of(search, ended, what):
    """What is said beside "WHAT: the program crashed" once the plain program has run again. A
    Problem if it fails as well.
    """
    limit = min(search.left(), max(TIMES * ended.seconds, search.wall_s or 0) + MORE_S)
    if limit < 1:
        return "there was no time to run the plain program again"
    search.tell.tries(AGAIN)
    plain = search.run("plain", lambda n, f: {}, limit, runner=runs.plain_run)
    reasons.need_innocence(plain, f"under {what} the program {reasons.how(ended)}")
    if plain.why != "ended":
        return f"the plain program, run again, {did(plain)}, but did not fail"
    return "the plain program, run again, did not fail"


class Whole:
    """Works for a Search, whose profile is of a whole run. `stage`: of the proof."""

    def __init__(self, search, stage, rules):
        self.search, self.stage, self.rules = search, stage, rules
        self.plain_s = stage.get("plain_s", search.wall_s)

    @property
    def limit(self):
        return TIMES * self.plain_s + MORE_S

    def variables(self, tuned):
        def made(number, folder):
            more = {"CRESTA_IMPL": f"@{self.rules}"} if tuned else {}
            return {"CRESTA_PROFILE": str(folder / "p.json"), "CRESTA_PROFILE_WAIT": "0"} | more

        return made

    def plain(self, before=""):
        """A plain run; None if there was no time for it. `before`: what a run under the rules has
        just done. A Problem if it fails.
        """
        if self.search.left() <= 0:
            return None
        limit = self.search.room()
        ended = self.search.run("proof", self.variables(False), limit, runner=runs.plain_run)
        reasons.need_innocence(ended, before)
        if ended.why != "ended":
            self.search.note(
                f"{before + '; then ' if before else ''}the plain program did not end in"
                f" {ended.seconds:.0f} s, where it took {self.search.wall_s:.1f} s at first: the"
                " machine, or the program, has become slower"
            )
            return None
        self.plain_s = self.stage["plain_s"] = ended.seconds
        self.keep(ended.folder / "stdout")
        return ended

    def keep(self, output):
        """A few show which words vary by themselves."""
        kept = self.search.state.data.setdefault("plain_outputs", [])
        if len(kept) < MOST_OUTPUTS:
            kept.append(str(output))
        else:
            output.unlink(missing_ok=True)

    def tuned(self):
        """A run under the rules; None if it is not known whether it would have ended well. One that
        fails, although a plain run after it does not, ends the proof.
        """
        for last in (False, True):
            limit = self.limit
            if self.search.left() <= 0:
                return None
            cut = self.search.room() < limit
            ended = self.search.run("proof", self.variables(True), limit)
            reasons.need_settings(ended)
            if ended.why == "ended" and ended.code == 0:
                return ended
            before = f"under the rules the program {did(ended)}"
            if cut and ended.why != "ended":
                self.search.note(f"{before}, and there was no time for more")
                return None
            self.search.tell.tries(AGAIN)
            plain = self.plain(before)
            if plain is None and not ended.failed:
                return None
            if ended.failed or self.limit <= limit or last:
                after = did(plain) if plain is not None else None
                self.stage["answers"] = self.failed(ended, after)
                self.search.state.save()
                return ended
            self.search.note(
                f"{before}; the plain program after it took {plain.seconds:.0f} s, and at first"
                f" {self.search.wall_s:.1f} s: the machine, or the program, has become slower"
            )
            if self.search.left() < plain.seconds:
                return None
        return None

    def failed(self, ended, after):
        """What the answers are of a run that failed. `after`: what a plain run did after it; None:
        there was no time for one, or it did not end.
        """
        plain = self.search.plain_output()
        found = {"plain": str(plain), "tuned": str(ended.folder / "stdout"), "by": None}
        found |= {"ok": False, "prints": True, "same": False}
        return found | {"failed": did(ended), "after": after}
