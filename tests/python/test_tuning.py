# SPDX-License-Identifier: BSD-3-Clause
"""Tuning files in Python: write, read, check, find, merge, compare."""

import copy
import json
import os

import pytest
from crestacoll_tools import schemas
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.base.wildcards import common
from crestacoll_tools.builds import builds, machine
from crestacoll_tools.rules import tuning

pytestmark = pytest.mark.by_turns

HEAD = {
    "machine": {"cpu": "fast", "cores": 4},
    "mpi": "Some MPI 1.0",
    "date": "2026-11-22T14:00:00+00:00",
    "crestacoll": "0.1.0",
}
EARNED = {"arms": ["mpi", "nonblock"], "blocks": 12, "gain": 0.12, "low": 0.1, "high": 0.14}


def rule(collective="alltoall", implementation="nonblock", **more):
    return {"collective": collective, "implementation": implementation, **more}


FULL = rule(
    bytes=[4096, "inf"],
    ranks=[2, 8],
    communicator="row*",
    changes_rounding=False,
    note="größer",
    earned=EARNED,
)


def file(rules, **head):
    return {"schema": tuning.SCHEMA, "head": copy.deepcopy(HEAD) | head, "rules": rules}


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "t.json"
    tuning.write(path, HEAD, [FULL, rule("*", "mpi")])
    assert tuning.read(path) == file([FULL, rule("*", "mpi")])
    lines = path.read_text().splitlines()
    assert [line for line in lines if '"collective"' in line] == [lines[-4], lines[-3]]
    assert path.stat().st_mode & 0o777 == 0o644 and os.listdir(tmp_path) == ["t.json"]
    tuning.write(path, HEAD, [])
    assert tuning.read(path)["rules"] == []


def test_the_head_of_this_machine():
    head = tuning.head("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4")
    assert head["mpi"] == "Open MPI v4.1.4"
    assert head["machine"]["cpu"] == machine.cpu_model()
    assert head["machine"]["cores"] == os.cpu_count()
    assert tuning.problems({"schema": tuning.SCHEMA, "head": head, "rules": []}) == []


def test_the_library_names_machine_and_mpi_alike(build):
    head = tuning.head(build.description["mpi"]["library"])
    expected = {name: head["machine"][name] for name in ("cpu", "cores")} | {"mpi": head["mpi"]}
    assert build.tuning("/dev/null")["here"] == expected


@pytest.mark.parametrize(
    "changed, place",
    [
        ({"collective": "all to all"}, "rules/0/collective"),
        ({"implementation": "mpi,*=p2p"}, "rules/0/implementation"),
        ({"bytes": [1]}, "rules/0/bytes"),
        ({"bytes": [1, 2, 3]}, "rules/0/bytes"),
        ({"bytes": [2, 1]}, "rules/0/bytes: [2, 1] ends before it begins"),
        ({"bytes": [1.0, 2]}, "rules/0/bytes: [1.0, 2] must be whole numbers"),
        ({"bytes": ["inf", "inf"]}, "rules/0/bytes/0"),
        ({"ranks": [True, 2]}, "rules/0/ranks/0"),
        ({"ranks": [-1, 2]}, "rules/0/ranks/0"),
        ({"communicator": ""}, "rules/0/communicator"),
        ({"node": [1, 2]}, "rules/0"),
        ({"earned": {"gain": 0.1}}, "rules/0/earned"),
        ({"earned": EARNED | {"blocks": "many"}}, "rules/0/earned/blocks"),
        ({"changes_rounding": "no"}, "rules/0/changes_rounding"),
    ],
)
def test_what_is_wrong_is_not_written(tmp_path, changed, place):
    data = file([FULL | changed])
    assert any(line.startswith(place) for line in tuning.problems(data)), tuning.problems(data)
    with pytest.raises(ValueError, match="no tuning file"):
        tuning.write(tmp_path / "t.json", HEAD, data["rules"])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("missing", ["machine", "mpi", "date", "crestacoll"])
def test_a_head_says_all(missing):
    head = {name: value for name, value in HEAD.items() if name != missing}
    assert missing in tuning.problems({"schema": tuning.SCHEMA, "head": head, "rules": []})[0]


@pytest.mark.parametrize(
    "text, said",
    [
        (b"", "line 1, column 1"),
        (b'{\n "schema": oops}', "line 2, column 12"),
        (b'{\n "\xff": 1}', "line 2, byte 3: not UTF-8"),
        (b'{"schema": 1, "schema": 2}', '"schema" stands twice'),
        (b'{"schema": NaN}', "NaN is not a number"),
        pytest.param(b"[" * 100000, "not a JSON file", id="deep"),
        (b"[]", "not a tuning file"),
        (b'{"schema": "crestacoll-tuning-2"}', "not a tuning file"),
        (b'{"schema": "crestacoll-tuning-1"}', "'head' is a required property"),
        # Every report of a test has its name in it.
        pytest.param(b" " * ((4 << 20) + 1), "at most 4194304", id="long"),
    ],
)
def test_what_is_wrong_is_not_read(tmp_path, text, said):
    path = tmp_path / "t.json"
    path.write_bytes(text)
    with pytest.raises(Problem) as caught:
        tuning.read(path)
    assert said in str(caught.value) and str(path) in str(caught.value)


def test_too_much_is_not_written(tmp_path):
    with pytest.raises(Problem, match="at most 4194304"):
        tuning.write(tmp_path / "t.json", HEAD, [FULL | {"note": "x" * tuning.MOST}])
    assert os.listdir(tmp_path) == []


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(Problem, match="cannot write"):
        tuning.write(tmp_path / "no" / "t.json", HEAD, [])


def test_where_files_are_looked_for(tmp_path, monkeypatch):
    here, config, prefix = (tmp_path / name for name in ("here", "config", "prefix"))
    for folder in (here, config / "crestacoll", prefix / "share" / "crestacoll"):
        folder.mkdir(parents=True)
    root = prefix / "lib" / "crestacoll"
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    monkeypatch.setattr(builds, "ROOT", root)
    assert tuning.find() is None
    for folder in (prefix / "share" / "crestacoll", config / "crestacoll", here):
        (folder / "crestacoll.json").write_text("{}")
        assert tuning.find() == folder / "crestacoll.json"
    monkeypatch.setattr(builds, "ROOT", tmp_path / "checkout")
    assert [str(path) for path in tuning.places()] == [
        "crestacoll.json", f"{config}/crestacoll/crestacoll.json",
    ]
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tuning.places()[1] == tmp_path / ".config" / "crestacoll" / "crestacoll.json"


@pytest.mark.parametrize(
    "a, b, overlaps",
    [
        (rule(), rule(), True),
        (rule(), rule("bcast"), False),
        (rule(), rule("*"), True),
        (rule(), rule("AllToAll"), True),
        (rule(bytes=[0, 8]), rule(bytes=[9, "inf"]), False),
        (rule(bytes=[0, 9]), rule(bytes=[9, "inf"]), True),
        (rule(ranks=[2, 4]), rule(ranks=[5, 6]), False),
        (rule(ranks=[2, 4]), rule(), True),
        (rule(communicator="row"), rule(communicator="col"), False),
        (rule(communicator="r*"), rule(communicator="*w"), True),
        (rule(communicator="row"), rule(), True),
        (rule(nodes=[1, 1]), rule(nodes=[2, "inf"]), False),
        (rule(ranks_per_node=[1, 4]), rule(ranks_per_node=[4, 8]), True),
        (rule("scan", type="integer"), rule("scan", type="derived"), False),
        (rule("scan", type="integer"), rule("scan"), True),
        (rule("scan", operation="user"), rule("scan", operation="rounding"), False),
        (rule("scan", operation="user"), rule("scan", operation="commutative"), True),
    ],
)
def test_overlaps(a, b, overlaps):
    assert tuning.overlap(a, b) == tuning.overlap(b, a) == overlaps


@pytest.mark.parametrize(
    "a, b, some",
    [
        ("row", "row", True),
        ("row", "rows", False),
        ("r*", "*s", True),
        ("a*", "b*", False),
        ("a*c", "ab", False),
        ("a*c", "*bc", True),
        ("*a*", "b", False),
        ("*", "", True),
    ],
)
def test_patterns_with_a_common_name(a, b, some):
    assert common(a, b) == common(b, a) == some


def test_merge():
    point = rule(bytes=[0, 8], implementation="p2p")
    other = rule(bytes=[0, 8], implementation="shm")
    partly = rule(bytes=[4, 16], implementation="os")
    apart = rule("bcast", "p2p")
    merged, left_out, pairs = tuning.merge(
        file([point], date="1"), file([other, partly, apart], date="2")
    )
    assert merged == file([point, partly, apart], date="2")
    assert left_out == [other] and pairs == [(point, partly)]
    assert tuning.problems(merged) == []


@pytest.mark.parametrize(
    "head", [{"mpi": "Other 2"}, {"machine": {"cpu": "slow", "cores": 4}},
             {"machine": {"cpu": "fast", "cores": 5}}]
)
def test_files_of_different_machines_are_not_merged(head):
    with pytest.raises(Problem, match="different machines or MPIs"):
        tuning.merge(file([]), file([], **head))


def test_diff():
    same, ours = rule("bcast", "p2p"), rule("scan", "p2p")
    a, b = rule(bytes=[0, 8], implementation="p2p"), rule(bytes=[0, 8], implementation="shm")
    found = tuning.diff(file([same, a, ours]), file([same | {"note": "x"}, b]))
    assert found == [(tuning.point(a), a, b), (tuning.point(ours), ours, None)]
    assert tuning.diff(file([a, b]), file([a])) == [], "of one point the first wins"


def test_rules_that_never_win():
    general, special = rule("*", "mpi", bytes=[0, 100]), rule(bytes=[8, 16])
    assert tuning.shadowed([general, special]) == [(special, general)]
    assert tuning.shadowed([special, general]) == []
    assert tuning.shadowed([rule(communicator="row"), rule()]) == []
    assert tuning.shadowed([rule(ranks=[1, 2]), rule(ranks=[2, 3])]) == []
    some, all_nodes = rule(nodes=[2, 4]), rule(nodes=[1, "inf"])
    assert tuning.shadowed([some, all_nodes]) == []
    assert tuning.shadowed([all_nodes, some]) == [(some, all_nodes)]
    typed, plain = rule("scan", type="integer"), rule("scan")
    assert tuning.shadowed([typed, plain, rule("scan", type="other")]) == [
        (rule("scan", type="other"), plain)
    ]


@pytest.mark.parametrize(
    "given, text",
    [
        (rule(), "alltoall=nonblock"),
        (FULL, "alltoall[4K-inf](2-8)@row*=nonblock"),
        (rule(bytes=[8, 8]), "alltoall[8]=nonblock"),
        (rule(bytes=[0, "inf"], ranks=[1, "inf"]), "alltoall=nonblock"),
        (
            rule("Scan", nodes=[2, "inf"], ranks_per_node=[4, 4], operation="user"),
            "scan{nodes=2-inf&ranks_per_node=4&operation=user}=nonblock",
        ),
    ],
)
def test_a_rule_as_text(given, text):
    assert tuning.rule_text(given) == text


def test_the_schema_has_what_the_library_reads():
    """A condition that ranks do not know would make their job fail."""
    known = schemas.schema("tuning")["$defs"]["rule"]["properties"]
    assert sorted(known) == sorted(tuning.MEMBERS)


def test_every_rule_that_is_written_is_read_by_ranks(build, tmp_path):
    head = tuning.head(build.description["mpi"]["library"])
    rules = [rule(c, "p2p", earned=EARNED, note='" \\ ü', communicator="größe, a=b") for c in
             build.collectives] + [FULL, rule("*", "mpi")]
    tuning.write(tmp_path / "t.json", head, rules)
    verdict = build.tuning(tmp_path / "t.json")
    assert verdict["error"] == "" and verdict["used"] and verdict["rules"] == len(rules), verdict
    assert json.loads((tmp_path / "t.json").read_text())["rules"] == rules
