# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll tune --native` and `crestacoll tuning export`: files for other MPIs, what becomes a
winner, what is left out; two jobs for each MPI at the end.
"""

import json
import random

import pytest
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.bench import benchjob
from crestacoll_tools.explore.progress import Lines
from crestacoll_tools.race import racestats
from crestacoll_tools.rules import tuning
from crestacoll_tools.tune import (
    export,
    measure,
    native,
    native_file,
    native_search,
    state as states,
)

INFO = """\
mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:0:ignore
mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:1:basic_linear
mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:4:ring
mca:coll:tuned:param:coll_tuned_allreduce_algorithm:help:Which allreduce algorithm is used.
mca:coll:tuned:param:coll_tuned_alltoall_algorithm:enumerator:value:5:two_proc
mca:coll:tuned:param:coll_tuned_use_dynamic_rules:enumerator:value:1:true
"""


class FakeBuild:
    family = "mpich"
    launcher = "none"


class NamedBuild(FakeBuild):
    name = "Some"


class FakeJobs:
    """Microseconds by a formula of the variables, with noise."""

    launch_s = 0.0

    def __init__(self, time_of):
        self.time_of, self.random, self.header = time_of, random.Random(3), None

    def race(self, point, sizes, arms, seconds, batch_us, tick, variables):
        self.header = {"mpi_library": "Some MPI 1.0", "hosts": 1}
        us = {b: self.time_of(b, variables) * self.random.gauss(1, 0.02) for b in sizes}
        return {b: [{"mpi": us[b]}] * 3 for b in sizes}, []


def winner(collective="allreduce", algorithm="ring", sizes=(8, 64), **more):
    earned = {"sizes": [{"bytes": s} for s in sizes]}
    made = {"collective": collective, "ranks": 2, "bytes": [sizes[0], sizes[-1]]}
    return made | {"algorithm": algorithm, "earned": earned} | more


def everywhere(name):
    return {"collective": "bcast", "ranks": [2], "algorithm": name, "sizes": [8, 64]}


def numbers(text):
    """As Open MPI reads the file: what follows # is a comment."""
    return [int(w) for line in text.splitlines() for w in line.partition("#")[0].split()]


def test_what_open_mpi_lists():
    assert native.enumerated(INFO) == {
        "allreduce": {"basic_linear": 1, "ring": 4}, "alltoall": {"two_proc": 5},
    }


def test_a_file_of_rules():
    one = {"collective": "allreduce", "ranks": 4, "bytes": [1024, 65536], "number": 4}
    assert numbers(native.openmpi_file([one])) == [
        *(1, 2, 3),  # a collective: allreduce, for three sizes of communicators
        *(1, 1, 0, 0, 0, 0),  # 1 rank and more: nothing
        *(4, 3, 0, 0, 0, 0, 1024, 4, 0, 0, 65537, 0, 0, 0),
        *(5, 1, 0, 0, 0, 0),
    ]


def test_neighbouring_rules_and_ranks():
    two = [
        {"collective": "bcast", "ranks": n, "bytes": b, "number": k}
        for n, b, k in [(2, [0, 8], 6), (2, [9, 64], 7), (3, [64, 64], 1)]
    ]
    assert numbers(native.openmpi_file(two)) == [
        *(1, 7, 4, 1, 1, 0, 0, 0, 0),
        *(2, 3, 0, 6, 0, 0, 9, 7, 0, 0, 65, 0, 0, 0),
        *(3, 3, 0, 0, 0, 0, 64, 1, 0, 0, 65, 0, 0, 0),
        *(4, 1, 0, 0, 0, 0),
    ]


def test_bytes_of_all_ranks_and_of_a_barrier():
    assert native.message_rules("alltoall", 4, [(8, 63, 2)]) == [(0, 0), (32, 2), (256, 0)]
    barrier = {"collective": "barrier", "ranks": 2, "bytes": None, "number": 3}
    assert numbers(native.openmpi_file([barrier]))[9:17] == [2, 2, 0, 3, 0, 0, 1, 0]


def search_with(tmp_path, monkeypatch, time_of, budget=1000.0):
    monkeypatch.setattr(native, "algorithms", lambda *_: ["smp", "nb", "broken"])
    options = {"collectives": ["bcast"], "ranks": [2], "sizes": [8, 512]}
    state = states.new(tmp_path / "t", options | {"mpi": "x", "launcher": None, "native": True})
    work = native_search.NativeSearch(FakeBuild, state, FakeJobs(time_of), budget, Lines())
    work.work()
    return state


def name_in(variables):
    return variables.get("MPIR_CVAR_BCAST_INTRA_ALGORITHM")


def test_jobs_of_the_winner_are_faster(tmp_path, monkeypatch):
    def time_of(size, variables):
        if name_in(variables) == "broken":
            raise Problem("it broke off:\nInvalid value (broken)")
        return {"smp": 5.0 if size == 8 else 10.0, "nb": 12.0}.get(name_in(variables), 10.0)

    state = search_with(tmp_path, monkeypatch, time_of)
    path, made = native_file.write(state, "mpich")
    (one,) = made["winners"]
    assert (one["algorithm"], one["bytes"], one["ranks"]) == ("smp", [8, 64], 2)
    assert one["earned"]["low"] > 0.4 and one["earned"]["blocks"] == native_search.ROUNDS
    assert made["everywhere"] == [everywhere("smp") | {"sizes": [8, 512]}]
    assert native_file.read(path) == made
    assert state.points[0]["notes"] == ["bcast broken: Invalid value (broken)"]


def test_what_is_slower_somewhere_is_not_for_all_sizes(tmp_path, monkeypatch):
    def time_of(size, variables):
        return {"smp": 5.0 if size == 8 else 15.0}.get(name_in(variables), 10.0)

    _, made = native_file.write(search_with(tmp_path, monkeypatch, time_of), "mpich")
    assert [w["algorithm"] for w in made["winners"]] == ["smp"] and made["everywhere"] == []


def test_equal_algorithms_win_nothing(tmp_path, monkeypatch):
    state = search_with(tmp_path, monkeypatch, lambda *_: 10.0)
    assert native_file.write(state, "mpich")[1]["winners"] == []


def test_no_time(tmp_path, monkeypatch):
    state = search_with(tmp_path, monkeypatch, lambda *_: 10.0, budget=1.0)
    assert state.data["ended"] == "time" and native_file.write(state, "mpich") == (None, {})


def exported(tmp_path, jobs, *choices):
    target = export.Mpich(FakeBuild, {"everywhere": list(choices)}, tmp_path / "out.env")
    return target, export.export(target, jobs, Lines())


def test_only_what_proves_itself_is_written(tmp_path):
    class Jobs(FakeJobs):
        def race(self, point, *rest):
            variable = native.cvar(point["collective"])
            self.time_of = lambda size, variables: names.get(variables.get(variable), 10.0)
            if native.UNKNOWN_NAME in rest[-1].values():
                raise Problem("Invalid value")
            return super().race(point, *rest)

    names = {"smp": 5.0, "nb": 15.0}
    slower = everywhere("nb") | {"collective": "scan"}
    target, found = exported(tmp_path, Jobs(None), everywhere("smp"), slower)
    assert [fine for *_, fine in found] == [True, False]
    assert "in force" in found[0][1] and "8 bytes: +5" in found[0][1]
    assert target.path.read_text() == "export MPIR_CVAR_BCAST_INTRA_ALGORITHM=smp\n"


def test_what_the_mpi_does_not_read_is_not_written(tmp_path):
    target, found = exported(tmp_path, FakeJobs(lambda *_: 5.0), everywhere("smp"))
    assert found[0][2] is False and "not in force" in found[0][1]
    assert not target.path.exists()


class SlowJobs(FakeJobs):
    """There is time for a call only in jobs of so many seconds."""

    def __init__(self, least):
        super().__init__(lambda *_: 5.0)
        self.least, self.seconds = least, []

    def race(self, point, sizes, arms, seconds, batch_us, tick, variables):
        self.seconds.append(seconds)
        if seconds < self.least:
            return {}, ["bcast 8 bytes: skipped: the time budget is spent"]
        if native.UNKNOWN_NAME in variables.values():
            raise Problem("Invalid value")
        return super().race(point, sizes, arms, seconds, batch_us, tick, variables)


def test_a_job_without_time_for_a_call_gets_more(tmp_path):
    jobs = SlowJobs(least=5 * export.JOB_S)
    _, found = exported(tmp_path, jobs, everywhere("smp"))
    assert found[0][2] and "in force" in found[0][1]
    assert jobs.seconds[:4] == [export.JOB_S * n for n in (1, 2, 4, 8)]


def test_what_is_never_measured_is_a_problem(tmp_path):
    with pytest.raises(Problem, match="bcast on 2 ranks was not measured: .*budget is spent"):
        exported(tmp_path, SlowJobs(least=1e9), everywhere("smp"))


def test_a_job_that_is_ended_for_its_time_shows_nothing(tmp_path):
    class Jobs(SlowJobs):
        def race(self, *asked):
            if native.UNKNOWN_NAME in asked[-1].values():
                raise benchjob.Overdue("the benchmark was ended after 61 s")
            return super().race(*asked)

    with pytest.raises(Problem, match="was ended after"):
        exported(tmp_path, Jobs(least=0), everywhere("smp"))


def test_the_end_of_the_time_of_a_job_is_told():
    with pytest.raises(benchjob.Overdue, match="Some was ended after 0 s"):
        benchjob.run_command(NamedBuild, ["sleep", "600"], limit=0.01)


def test_wrong_files(crestacoll, tmp_path, build):
    (tmp_path / "t.json").write_text('{"schema": "crestacoll-tuning-1"}')
    asked = ("tuning", "export", "t.json", "--format", build.name, "-o", "x")
    ran = crestacoll(*asked)
    assert ran.returncode == 125 and "tune --native" in ran.stderr, ran.stderr
    head = tuning.head("Other MPI 7")
    data = {"schema": native_file.SCHEMA, "head": head, "family": build.name, "winners": []}
    (tmp_path / "t.json").write_text(json.dumps(data | {"everywhere": []}))
    ran = crestacoll(*asked)
    assert ran.returncode == 125 and "were measured on" in ran.stderr, ran.stderr


def test_the_mpi_obeys(build, tmp_path, monkeypatch):
    """A planted winner is in force on real ranks; where its file says nothing, it is not."""
    monkeypatch.setattr(measure, "KILL", 600)  # where there is much load, a launch takes a minute
    planted = winner(sizes=(65536,))
    data = {"winners": [planted], "everywhere": [everywhere("binomial")]}
    target = export.FORMATS[build.family](build, data, tmp_path / "out")
    (choice,) = target.choices
    jobs = measure.Jobs(build, None)
    point = {"collective": choice["collective"], "ranks": 2}
    assert export.in_force(target, jobs, choice, point, [65536], lambda: None)
    if build.family == "openmpi":
        assert not export.in_force(target, jobs, choice, point, [8], lambda: None)


def test_statistics_have_enough_rounds():
    assert native_search.ROUNDS >= racestats.FEWEST and export.ROUNDS >= racestats.FEWEST
