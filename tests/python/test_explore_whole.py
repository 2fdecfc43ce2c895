# SPDX-License-Identifier: BSD-3-Clause
"""Rules are blamed for what a run did only if the plain program, run after it, does not do so."""

from types import SimpleNamespace

import pytest
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.explore import hang, reasons, runs, whole, words


class Search:
    """Its runs end as they are told to: (exit code, seconds that one takes)."""

    def __init__(self, folder, *ends, left=100.0):
        self.folder, self.ends, self.notes, self.done = folder, list(ends), [], []
        self.wall_s, self.budget, self.seconds_left = 1.0, 100.0, left
        self.tell = SimpleNamespace(tries=lambda text: None)
        self.state = SimpleNamespace(save=lambda: None, data={})

    def left(self):
        return self.seconds_left

    def room(self):
        return self.seconds_left + self.wall_s

    def plain_output(self):
        return self.folder / "plain"

    def note(self, text):
        self.notes.append(text)

    def run(self, stage, variables, limit, runner=runs.run):
        limit = min(limit, self.room())
        code, seconds, *more = self.ends.pop(0)
        tuned = "CRESTA_IMPL" in variables(1, self.folder)
        self.done.append("tuned" if tuned else "plain")
        assert tuned or runner is runs.plain_run
        why = "hangs" if more == ["hangs"] else "ended" if seconds < limit else "limit"
        folder = self.folder / str(len(self.done))
        folder.mkdir()
        (folder / "loaded").write_text("0.1.0\n" if more != ["refused"] else "")
        if more == ["refused"]:
            (folder / "loaded").unlink()
            (folder / "stderr").write_text("crestacoll: CRESTA_IMPL=@r: cannot read this file\n")
        spent = min(seconds, limit)
        self.seconds_left -= spent
        return runs.Ended(code, spent, why, folder, "rank 1 waits" if why == "hangs" else "")


def tuned(tmp_path, *ends, **more):
    search, stage = Search(tmp_path, *ends, **more), {}
    ended = whole.Whole(search, stage, "rules").tuned()
    return search, stage, ended


def test_rules_that_crash_the_program(tmp_path):
    search, stage, ended = tuned(tmp_path, (9, 1.0), (0, 1.2))
    assert search.done == ["tuned", "plain"] and ended.code == 9
    assert stage["answers"]["failed"] == "ended with exit code 9"
    assert stage["answers"]["after"] == "ended well in 1 s" and not stage["answers"]["ok"]


def test_rules_under_which_it_does_not_end(tmp_path):
    search, stage, _ = tuned(tmp_path, (0, 1000), (0, 1.0))
    assert search.done == ["tuned", "plain"]
    assert stage["answers"]["failed"] == "did not end in 8 s"


def test_rules_that_crash_the_program_when_the_time_is_up(tmp_path):
    """They are not kept, and what was not looked at is said."""
    search, stage, ended = tuned(tmp_path, (9, 1.0), left=0.5)
    assert search.done == ["tuned"] and ended.code == 9 and not stage["answers"]["ok"]
    (told,) = words.answers({"answers": stage["answers"]})
    assert told == (
        "Under the rules the program ended with exit code 9; no plain run after it came to its end"
        " in the time that was left."
    )
    search, stage, ended = tuned(tmp_path / "x", left=0.0)
    assert search.done == [] and ended is None and "answers" not in stage


def test_rules_under_which_the_rest_of_the_time_is_too_short(tmp_path):
    """A run of 3 s, of which 1.5 were left: nothing is said against the rules."""
    search, stage, ended = tuned(tmp_path, (0, 3.0), left=0.5)
    assert search.done == ["tuned"] and ended is None and "answers" not in stage
    assert search.notes == ["under the rules the program did not end in 2 s, and there was no time"
                            " for more"]  # fmt: skip


def test_a_machine_that_becomes_slower(tmp_path):
    """The limit follows the plain run beside it."""
    search, stage, ended = tuned(tmp_path, (0, 24.0), (0, 24.0), (0, 24.0))
    assert search.done == ["tuned", "plain", "tuned"] and ended.code == 0
    assert "answers" not in stage and stage["plain_s"] == 24.0
    (note,) = search.notes
    assert note == (
        "under the rules the program did not end in 8 s; the plain program after it took 24 s, and"
        " at first 1.0 s: the machine, or the program, has become slower"
    )


@pytest.mark.parametrize("ends, left", [([(0, 24.0), (0, 500.0)], 100.0), ([(0, 24.0)] * 2, 20.0)])
def test_a_machine_that_becomes_too_slow(ends, left, tmp_path):
    search, stage, ended = tuned(tmp_path, *ends, left=left)
    assert ended is None and "answers" not in stage and "has become slower" in search.notes[0]


@pytest.mark.parametrize(
    "plain, code, told",
    [
        ((9, 1.0), reasons.CRASHED, "ended with exit code 9, too: no rule is to blame"),
        ((0, 1.0, "hangs"), reasons.HANGS, "hangs, too: no rule is to blame: rank 1 waits"),
    ],
)
def test_a_program_that_fails_by_itself_now(plain, code, told, tmp_path):
    with pytest.raises(Problem) as found:
        tuned(tmp_path, (9, 1.0), plain)
    assert found.value.exit_code == code and told in found.value.message
    assert found.value.message.startswith("under the rules the program ended with exit code 9; run")


def test_rules_that_are_gone(tmp_path):
    """Another exploration removed the file."""
    with pytest.raises(Problem, match="CRESTA_IMPL=@r: cannot read this file") as found:
        tuned(tmp_path, (2, 0.1, "refused"))
    assert found.value.exit_code == 125


def test_an_arm_of_a_race(tmp_path):
    broke = runs.Ended(139, 2.0, "ended", tmp_path)
    search = Search(tmp_path, (0, 1.0))
    assert whole.clear_of(search, broke, "os") == "the plain program, run again, did not fail"
    search = Search(tmp_path / "x", (139, 1.0))
    (tmp_path / "x").mkdir()
    with pytest.raises(Problem, match="under os the program was ended by SIGSEGV; run again"):
        whole.clear_of(search, broke, "os")
    assert "no time" in whole.clear_of(Search(tmp_path, left=0.0), broke, "os")


def test_a_listener_leaves_nothing(tmp_path):
    with hang.listening(tmp_path) as made:
        made.started(None)
        assert made.file.exists() and made.ask_all() == []
    assert list(tmp_path.iterdir()) == []
