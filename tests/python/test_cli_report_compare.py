# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll report --compare`: what it says of two programs whose difference is planted."""

import functools
import json

import numpy as np
import pytest
import report_data
from click.testing import CliRunner
from crestacoll_tools import cli, schemas
from crestacoll_tools.profile import compare, placenames, profiles

PLACES = 12  # in the program


def run_of(rng, noise, slower=(), moved=0, build="00ff"):
    """A profile of a run of 10 s: computation and calls at twelve places, each with noise of its
    own; `slower`: {place: factor}. `moved`: by how much the places are elsewhere in the file.
    """
    factor = dict(slower)
    calls = []
    for i in range(PLACES):
        us = 0.5e6 * factor.get(i, 1.0) * float(np.exp(rng.normal(0, noise)))
        one = report_data.call(f"Call{i % 3}", "send", us, [0, 100 * (i + 1) + moved])
        calls.append(one)
    computing = 4e6 * float(np.exp(rng.normal(0, noise)))
    wall = computing + sum(call["time_us"]["mean"] for call in calls)
    return base() | {
        "wall_s": wall / 1e6,
        "records": [report_data.record("bcast", "row", 8, 0.1 * wall)],
        "calls": report_data.calls()
        | {
            "list": calls,
            "suspended_us": 0.0,
            "wall_us": {"mean": wall, "min": wall, "max": wall},
            "modules": [{"path": "/nowhere/app", "build_id": build}],
        },
    }


base = functools.cache(report_data.profile)


def sides(rng, noise, runs, slower=(), **more):
    return [run_of(rng, noise) for _ in range(runs)], [
        run_of(rng, noise, slower, **more) for _ in range(runs)
    ]


def test_nothing_planted_is_no_alarm():
    """At most one of 100 pairs of sides is called slower or faster."""
    rng = np.random.default_rng(48)
    alarms = 0
    for _ in range(100):
        lines = compare.compare(*sides(rng, 0.02, 5))
        alarms += any(line.verdict in (compare.SLOWER, compare.FASTER) for line in lines)
    assert alarms <= 1


def test_a_planted_slowdown_is_found_with_its_place():
    """5 % in one of twelve places, by ten runs a side that scatter by 1 %: in 95 of 100."""
    rng, found = np.random.default_rng(5), 0
    for _ in range(100):
        lines = compare.compare(*sides(rng, 0.01, 10, {4: 1.05}))
        said, text = compare.verdict(lines)
        found += said == compare.SLOWER and "MPI_Call1 app+0x1f4 takes" in text
    assert found >= 95


@pytest.mark.parametrize(
    "old, new, change",
    [((1, 1, 1), (2, 2, 2), 1.0), ((1, 2, 4), (1, 2, 4), 0.0), ((4, 4.1, 3.9), (2, 2, 2.1), -0.49)],
)
def test_intervals_hold_the_change(old, new, change):
    told, low, high = compare.welch(old, new, 0.99)
    assert told == pytest.approx(change, abs=0.01) and low <= told <= high
    assert (low < high) == (len({*old}) + len({*new}) > 2)


def test_an_interval_is_that_of_welch():
    """As by hand: the degrees of freedom are between 4 and 5, the table has 2.776 for four."""
    old, new = [10.0, 11.0, 12.0, 10.5], [13.0, 12.5, 14.0]
    a, b = np.log(old), np.log(new)
    se = np.sqrt(a.var(ddof=1) / 4 + b.var(ddof=1) / 3)
    change, low, high = compare.welch(old, new, 0.95)
    assert change == pytest.approx(np.exp(b.mean() - a.mean()) - 1)
    half = np.log1p(high) - np.log1p(change)
    assert half == pytest.approx(np.log1p(change) - np.log1p(low))
    assert half == pytest.approx(2.776 * se, rel=1e-3)


def test_small_lines_and_missing_ones():
    """What takes less than 1 % of the run is left out; what one side lacks has no interval."""
    rng = np.random.default_rng(1)
    old, new = sides(rng, 0.01, 3, {3: 0.01})
    for data in new:
        data["calls"]["list"].pop(0)
    lines = {line.name: line for line in compare.compare(old, new)}
    gone = lines["MPI_Call0 app+0x64"]
    assert gone.low is None and "only in OLD" in compare.cells(gone, 1e7)
    for data in old:
        data["calls"]["list"][3]["time_us"]["mean"] = 10.0
    assert "MPI_Call0 app+0x190" not in {line.name for line in compare.compare(old, new)}


def test_places_of_two_builds(monkeypatch):
    """One build: module and offset. Two: functions, where they are known of both, or the file."""
    rng = np.random.default_rng(2)
    old, new = sides(rng, 0.01, 3, moved=7)
    names = [set(times) for times in placenames.by_place(old + new)]
    assert "MPI_Call0 app+0x64" in names[0] and "MPI_Call0 app+0x6b" in names[3]
    old, new = sides(rng, 0.01, 3, moved=7, build="11ff")
    names = [set(times) for times in placenames.by_place(old + new)]
    assert all(name == {f"MPI_Call{i} app" for i in range(3)} for name in names)

    def name(self, site):
        return f"app.c:{site[1]} f{site[1] // 100}"

    monkeypatch.setattr(placenames.sites.Places, "name", name)
    names = [set(times) for times in placenames.by_place(old + new)]
    assert "MPI_Call0 app.c f1" in names[0]
    assert all(other == names[0] and len(other) == PLACES for other in names)


def test_without_line():
    assert placenames.without_line("solve.c:12 ns::f(int)") == ("solve.c ns::f(int)", True)
    assert placenames.without_line("liba.so+0x12a0 g") == ("liba.so g", True)
    assert placenames.without_line("liba.so+0x12a0") == ("liba.so", False)
    assert placenames.without_line("mpi4py.MPI.Comm.Send") == ("mpi4py.MPI.Comm.Send", True)


@pytest.mark.parametrize("us, text", [(999.97, "1 ms"), (999.4e3, "999 ms"), (999999, "1 s")])
def test_times_that_round_to_the_next_unit(us, text):
    assert profiles.seconds(us) == text


def written(folder, name, data):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(data))


def report(*words):
    return CliRunner().invoke(cli.main, ["report", *map(str, words)])


def stored(tmp_path, runs, slower=()):
    rng = np.random.default_rng(7)
    for side, datas in zip(("old", "new"), sides(rng, 0.01, runs, slower), strict=True):
        for i, data in enumerate(datas):
            written(tmp_path / side, f"{i}.json", data)
    return tmp_path / "old", tmp_path / "new"


def test_exit_codes_and_json(tmp_path):
    old, new = stored(tmp_path, 5, {i: 1.2 for i in range(PLACES)})
    done = report("--compare", old, new)
    assert done.exit_code == 1 and done.stdout.startswith("NEW is slower: the run takes ")
    files = sorted(new.glob("*.json"))
    again = report(*(f"--compare={file}" for file in sorted(old.glob("*.json"))), *files)
    assert again.exit_code == 1 and again.stdout == done.stdout
    other = report("--compare", new, old, f"--json={tmp_path / 'c.json'}")
    assert other.exit_code == 0
    told = json.loads((tmp_path / "c.json").read_text())
    assert (told["schema"], told["verdict"]) == (compare.SCHEMA, "faster")
    assert told["lines"][0]["kind"] == "run" and len(told["lines"][0]["old_us"]) == 5
    assert schemas.problems("profile", profiles.load(files[0])) == []


def test_one_run_of_a_side(tmp_path):
    old, new = stored(tmp_path, 1, {i: 2.0 for i in range(PLACES)})
    done = report("--compare", old, new)
    assert done.exit_code == 0 and "with one run of a side, the noise is not known" in done.stdout
    assert "+59" in done.stdout or "+60" in done.stdout  # what was measured is shown all the same


def test_refusals(tmp_path):
    old, new = stored(tmp_path, 3)
    copied = profiles.read_json(old / "0.json")
    written(tmp_path / "copied", "p.json", copied)
    written(tmp_path / "fewer", "p.json", profiles.read_json(new / "0.json") | {"ranks": 2})
    written(tmp_path / "bench", "b.json", report_data.bench())
    (tmp_path / "empty").mkdir()
    for words, told in (
        ([old, tmp_path / "copied"], "is the same run as"),
        ([old, tmp_path / "fewer"], "compare like runs"),
        ([old, tmp_path / "bench"], "--compare is for profiles"),
        ([old, tmp_path / "empty"], "there is no profile"),
        ([old, new, "-o", tmp_path / "x.html"], "--compare takes no -o"),
    ):
        done = report("--compare", *words)
        assert done.exit_code == 2 and told in done.stderr, (words, done.stderr)
    before = (new / "0.json").read_text()
    done = report("--compare", old, new, f"--json={new / '0.json'}")
    assert done.exit_code == 2 and (new / "0.json").read_text() == before


def test_profiles_without_calls():
    """Those of earlier versions are compared by collective."""
    rng = np.random.default_rng(3)
    old, new = sides(rng, 0.01, 4)
    for data in old:
        del data["calls"]
    lines = compare.compare(old, new)
    assert {line.kind for line in lines} == {"run", "time of a rank", "collective"}
