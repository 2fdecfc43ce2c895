# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll bisect`: finds what changes an answer or crashes, by few runs."""

import json
import math

import pytest
from crestacoll_tools.bisect import answers, candidates, halving, job
from crestacoll_tools.explore import runs
from spoilt import RULES, spoilt

pytestmark = pytest.mark.by_turns

__all__ = ["spoilt"]
BLAMED = "alltoall of 65536 to 131071 bytes on communicator 'row' of 2 ranks by p2p:pairwise"


@pytest.mark.parametrize("count", [*range(1, 65), 100])
def test_the_search_finds_each_of_them(count):
    for guilty in [halving.PROGRAM, *range(count)]:
        runs = []

        def is_bad(on, guilty=guilty, runs=runs):
            runs.append(on)
            return guilty is halving.PROGRAM or guilty in on

        group = halving.search(count, is_bad)
        assert guilty in group and group in [(guilty,), (halving.PROGRAM, 0)]
        assert len(runs) <= halving.most_runs(count) == math.ceil(math.log2(count))
        assert len(group) == 1 or count & (count - 1) == 0


class FakeRuns(job.Runs):
    """Runs of a program that is wrong with one of its settings (None: without any, too)."""

    seconds, why = 1.0, "limit"  # of each, which is its own end

    def __init__(self, tmp_path, records, guilty):
        super().__init__(None, answers.Judge(), tmp_path, {"CRESTA_IMPL": "*=p2p"}, {}, {}, len)
        self.records = records
        self.guilty = guilty

    def run(self, what, rules, variables=None, tuned=True):
        """The rule of a candidate that is off comes before those of the user."""
        off = rules == job.PLAIN
        if self.guilty is not None:
            off = off or f"[{self.guilty['bytes_min']}-{self.guilty['bytes_max']}](2)=mpi" in rules
        elif not self.done:
            off = True  # else it would fail at once
        self.done.append(what)
        return self, "" if off else "wrong"

    def profile_of(self, ended):
        return {"records": self.records}


@pytest.mark.parametrize("count", range(1, 65))
def test_runs_in_all(tmp_path, count, profile_data):
    """At most 2 + log2 of the candidates, rounded up, whichever is to blame."""
    record = profile_data["records"][0] | {"implementation": "p2p", "communicator": ""}
    records = [record | {"bytes_min": 100 + i, "bytes_max": 100 + i} for i in range(count)]
    (tmp_path / "stderr").write_text("")
    for guilty in [None, *records]:
        runs = FakeRuns(tmp_path, records, guilty)
        found = job.blame(runs)
        assert len(runs.done) <= 2 + math.ceil(math.log2(count)), runs.done
        if guilty is not None:
            assert found["setting"].startswith(f"alltoall of {guilty['bytes_min']} to"), found
        else:
            assert found["verdict"] == "program" or found["or_program"]


def test_answers():
    right = "time 3\nsum: 1.0000000 and 2e-3 m\n"
    same = "time 4\nsum: 1.0000001 and .002 m\n"
    assert answers.first_difference([right], same, 1e-6, ["^time"]) is None
    assert "became" in answers.first_difference([right], same, 1e-6, [])
    assert "became" in answers.first_difference([right], same, 0, ["^time"])
    assert "in place of" in answers.first_difference([right], same.replace(" m", " s"), 1, [])
    assert answers.first_difference([right], "time 3\n", 0, []) == (
        "0 lines like 'sum: 1.0000000 and 2e-3 m' in place of 1"
    )


def test_what_varies_by_itself_is_not_wrong(tmp_path):
    """Times differ in each run; a sum does not, however it is written."""
    folder = tmp_path / "run"
    folder.mkdir()
    judge = answers.Judge()

    def judged(text):
        (folder / "stdout").write_text(text)
        return judge.wrong(runs.Ended(0, 1.0, "ended", folder), 10)

    assert judged("time 3 s\nsum 10\n") == ""
    assert judged("time 4 s\nsum 10.0\n") == "'time 3 s' became 'time 4 s'"
    judge.learn(runs.Ended(0, 1.0, "ended", folder))
    assert judged("time 5 s\nsum 1e1\n") == ""
    assert judged("time 5 s\nsum 11\n") == "'sum 10' became 'sum 11'"


def test_candidates(profile_data):
    record = profile_data["records"][0] | {"implementation": "shm"}
    other = record | {"communicator": ""}
    (made,) = candidates.of_profile({"records": [record, other]})
    assert made.point.rule("mpi") == "alltoall[4096-8191](2)=mpi"  # names no communicator
    forcing, switches = candidates.variables_of(
        {
            "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
            "OMPI_MCA_coll_tuned_allreduce_algorithm": "4",
            "OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize": "8",
            "MPIR_CVAR_BCAST_INTRA_ALGORITHM": "smp",
            "I_MPI_ADJUST_REDUCE": "3",
            "OMPI_MCA_btl": "self",
        }
    )
    assert list(switches) == ["OMPI_MCA_coll_tuned_use_dynamic_rules"]
    groups = [list(c.variables) for c in candidates.of_variables(forcing)]
    assert sorted(map(len, groups)) == [1, 1, 2]


# What differs from run to run.
TIMES = ["--ignore", "^wall:", "--ignore", "^time_"]


def bisect(spoilt, *words, program):
    ran = spoilt("bisect", *words, *TIMES, "--json=b.json", "--", *program)
    return ran, json.loads((spoilt.folder / "b.json").read_text())


def test_what_changes_the_answer_is_found(spoilt):
    ran, found = bisect(spoilt, "--impl", RULES, program=spoilt.program())
    assert ran.returncode == 1 and found["setting"] == BLAMED, ran.stdout + ran.stderr
    assert len(found["runs"]) <= 2 + math.ceil(math.log2(found["candidates"]))
    assert ran.stdout.count("run ") >= len(found["runs"])
    assert ran.stdout.strip().splitlines()[-1].endswith(
        "to avoid it: the rule 'alltoall[65536-131071](2)@row=mpi' before all others."
    )


def test_so_is_what_crashes(spoilt):
    program = spoilt.program(WRONG_HOW="abort")
    ran, found = bisect(spoilt, "--impl", RULES, program=program)
    assert ran.returncode == 1 and found["setting"] == BLAMED, ran.stdout + ran.stderr
    assert "ended" in found["wrong"]


def test_times_in_what_a_program_prints(spoilt):
    """They differ in each run, and are left out of what is compared."""
    ran = spoilt("bisect", "--impl", RULES, "--", *spoilt.program(steps=2))
    assert ran.returncode == 1 and "To blame is this setting" in ran.stdout
    assert "alltoall[65536-131071](2)@row=mpi" in ran.stdout


def test_no_setting_is_to_blame(spoilt, build):
    program = spoilt.program(steps=2, WRONG_BYTES="1")
    ran, found = bisect(spoilt, "--impl", RULES, program=program)
    assert ran.returncode == 0 and found["verdict"] == "no_setting" and len(found["runs"]) == 2
    if build.family in ("openmpi", "mpich"):
        name = {"openmpi": "pairwise", "mpich": "pairwise"}[build.family]
        ran, found = bisect(spoilt, "--force", f"alltoall={name}", program=program)
        assert found["verdict"] == "no_setting", ran.stdout


def test_a_check_of_the_users(spoilt):
    """The answer is that of the wrong rules: then the plain run fails, and so does all else."""
    check = "grep -q 'result: ok' $CRESTACOLL_OUTPUT && ! grep -q nothing $CRESTACOLL_OUTPUT"
    ran, found = bisect(spoilt, "--check", check, program=spoilt.program(steps=2))
    assert found["verdict"] == "no_setting", ran.stdout + ran.stderr
    ran, found = bisect(spoilt, "--check", "false", program=spoilt.program(steps=2))
    assert found["verdict"] == "program" and "not repeat" in ran.stdout


def test_the_mpis_own_call_is_found(profile_data, tmp_path):
    """Where the plain program fails its check, and other implementations heal it."""

    class Ended:
        folder = tmp_path

    class Fake:
        judge = answers.Judge(check="x")
        forcing = {}
        done = [1]

        def say(self, text):
            pass

        def plain(self):
            return Ended(), "wrong"

        def profile_of(self, ended):
            records = [r | {"mode": "blocking"} for r in profile_data["records"]]
            return {"records": records}

        def healed(self, every, on):
            return any(every[i].point.collective == "alltoall" for i in on)

    found = job.blame(Fake())
    assert found["verdict"] == "found" and found["mpi"]
    assert found["remedy"] == "the rule 'alltoall[4096-8191](2)@row=p2p' before all others"
