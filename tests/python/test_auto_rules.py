# SPDX-License-Identifier: BSD-3-Clause
"""tools/auto_rules.py: which ranges become built-in rules. No launches."""

import importlib
import json
import math
import re
import sys
from types import SimpleNamespace

import pytest
from conftest import ROOT
from crestacoll_tools.rules import points

sys.path.insert(0, str(ROOT / "tools"))
auto_rules = importlib.import_module("auto_rules")

LIMITS = SimpleNamespace(ratio=0.9, tail=1.0, least=2, smallest=0)
SIZES = (8, 64, 512, 4096)


def measured(ratios, collective="bcast", ranks=2, mpi="openmpi", tail=0.8):
    pairs = zip(SIZES, ratios)
    return [auto_rules.Measured(mpi, collective, ranks, b, r, tail) for b, r in pairs if r]


@pytest.mark.parametrize(
    "ratios, expected",
    [
        ((0.5, 0.5, 0.5, 0.5), ["bcast[0-4K](2){nodes=1}=shm"]),
        ((0.5, 0.9, 0.91, 0.5), ["bcast[0-64](2){nodes=1}=shm"]),
        ((1.2, 0.5, 0.5, 0.5), ["bcast[64-4K](2){nodes=1}=shm"]),
        ((0.5, 1.2, 0.5, 1.2), []),
        ((None, 0.5, 0.5, 1.2), ["bcast[0-512](2){nodes=1}=shm"]),
    ],
)
def test_a_range_has_neighbours_that_win(ratios, expected):
    assert auto_rules.rules(measured(ratios), LIMITS) == expected


def test_the_slow_samples_count_too():
    assert auto_rules.rules(measured((0.5,) * 4, tail=1.1), LIMITS) == []


def test_each_way_of_measuring_must_win():
    assert auto_rules.rules(measured((0.5,) * 4) + measured((0.5, 0.5, 1, 1)), LIMITS) == [
        "bcast[0-64](2){nodes=1}=shm"
    ]


def test_a_size_that_an_mpi_lacks_does_not_end_a_range_but_is_not_the_end_of_one():
    some = measured((0.5, None, 0.5, None), mpi="openmpi5")
    assert auto_rules.rules(measured((0.5,) * 4) + some, LIMITS) == ["bcast[0-512](2){nodes=1}=shm"]
    lost = measured((0.5, 1.0, 0.5, 0.5))
    assert auto_rules.rules(lost + some, LIMITS) == []


def test_neighbouring_ranks_share_what_all_of_them_have():
    found = [
        *measured((0.5,) * 4, ranks=2),
        *measured((0.5, 0.5, 0.5, 1), ranks=4),
        *measured((0.5, 0.5, 0.5, 0.5), ranks=8),
    ]
    assert auto_rules.rules(found, LIMITS) == [
        "bcast[0-4K](2){nodes=1}=shm",
        "bcast[0-512](2-8){nodes=1}=shm",
        "bcast[0-4K](8){nodes=1}=shm",
    ]
    found += measured((1,) * 4, ranks=4)
    assert len(auto_rules.rules(found, LIMITS)) == 2


def test_unsized_collectives_win_at_all_sizes_or_nowhere():
    def rules_of(ratios):
        return auto_rules.rules(measured(ratios, "gatherv", ranks=4), LIMITS)

    assert rules_of((0.5, 0.5, 0.5, 0.5)) == ["gatherv(4){nodes=1}=shm"]
    assert rules_of((0.5, 0.5, 0.5, 0.95)) == []


def test_no_rule_of_the_table_speaks_of_what_is_not_faster():
    table = auto_rules.read(ROOT / "docs" / "lab" / "auto.csv")
    for family in auto_rules.FAMILIES:
        mine = auto_rules.of_family(table, family)
        rules = [points.parse_rule(r) for r in auto_rules.rules(mine, LIMITS)]
        assert len(rules) > 10
        covered = [
            m
            for m in mine
            if points.winner(rules, points.Point(m.collective, m.bytes, m.bytes, m.ranks))[0]
        ]
        assert len(covered) > 100
        assert all(m.ratio <= LIMITS.ratio and m.tail <= LIMITS.tail for m in covered)


def test_lines_of_never_slower(tmp_path, capsys):
    where = {"mpi": "mpich", "collective": "scan", "ranks": 2, "candidate": "shm"}
    fast = {"mpi_median_us": 2, "mpi_p90_us": 3, "candidate_median_us": 1, "candidate_p90_us": 2}
    lines = [where | fast | {"bytes": b} for b in SIZES] + [{"type": "run"}]
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    auto_rules.main([str(path)])
    told = capsys.readouterr().out
    assert f"tools/auto_rules.py {path}" in told
    assert 'CCO_AUTO(mpich, "scan[0-4K](2){nodes=1}=shm")' in told
    assert "openmpi" not in told


def test_the_rules_of_auto_are_what_the_command_in_their_head_writes(capsys, monkeypatch):
    text = (ROOT / "src" / "tune" / "auto.def").read_text()
    monkeypatch.chdir(ROOT)
    commands = re.findall(r"tools/auto_rules.py (.*?) \*/", text)
    assert len(commands) == 2
    for words in commands:
        auto_rules.main(words.split())
    found, told = (
        [line for line in lines.splitlines() if line.startswith("CCO_AUTO")]
        for lines in (text, capsys.readouterr().out)
    )
    assert found == told


def between_hosts(ratio, each=2, tail=0.8, **more):
    found = {"mpi": "openmpi+", "nodes": 2, "gains": True} | more
    return [auto_rules.Measured(collective="bcast", ranks=each, bytes=b, ratio=ratio, tail=tail,
                                **found) for b in SIZES]


def test_rules_between_hosts_say_which_nodes_were_measured():
    both = between_hosts(0.5, 2) + between_hosts(0.5, 4)
    assert auto_rules.rules(both, LIMITS) == ["bcast[0-4K]{nodes=2&ranks_per_node=2-4}=hier"]
    with pytest.raises(ValueError, match="goes alone"):
        auto_rules.rules(both + measured((0.5,) * 4), LIMITS)


@pytest.mark.parametrize(
    "more, wins",
    [
        (between_hosts(1.0, tail=1.5, gains=False), True),
        (between_hosts(1.01, gains=False), False),
        (between_hosts(0.95), False),
        (between_hosts(0.5, tail=1.1), False),
        (between_hosts(1.2, each=4), False),
    ],
)
def test_a_gain_on_some_hosts_must_be_no_loss_on_others(more, wins):
    """Another network or setting; another number of ranks."""
    found = auto_rules.rules(between_hosts(0.5) + more, LIMITS)
    assert found == (["bcast[0-4K]{nodes=2&ranks_per_node=2}=hier"] if wins else [])


def test_the_table_between_hosts(tmp_path):
    """Under the settings of an MPI's other collectives hier need not gain, nor without a rate."""
    path = tmp_path / "hosts.csv"
    lines = [",".join(auto_rules.auto_hosts.COLUMNS)]
    for settings, rate in (("", "1gbit"), ("coll/han", "1gbit"), ("", "none")):
        lines.append(f"openmpi,{settings},2,4,{rate},back_to_back,reduce,8,20,4,8,1,4")
    path.write_text("\n".join(lines) + "\n")
    found = auto_rules.read(path)
    assert [m.gains for m in found] == [True, False, False]
    assert {(m.ranks, m.nodes, m.ratio, m.tail) for m in found} == {(4, 2, 0.25, 0.5)}
    assert len(auto_rules.of_family(found, "openmpi")) == 3


def test_calls_that_are_left_out():
    found = measured((0.5,) * 4) + measured((0.5,) * 4, "gatherv") + measured((0.5,), "barrier")
    assert auto_rules.rules(auto_rules.between(0, 512, found), LIMITS) == [
        "barrier(2){nodes=1}=shm",
        "bcast[0-512](2){nodes=1}=shm",
    ]
    some = SimpleNamespace(**vars(LIMITS) | {"smallest": 64})
    assert auto_rules.rules(auto_rules.between(64, math.inf, found), some) == [
        "bcast[64-4K](2){nodes=1}=shm"
    ]


def test_another_file_is_an_error(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match="no table of bench/peers"):
        auto_rules.main([str(path)])
