# SPDX-License-Identifier: BSD-3-Clause
"""The estimate of bytes between nodes, and the search for a placement."""

import json
import re
from pathlib import Path

import numpy as np
import place_data
import pytest
from crestacoll_tools import schemas
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.launch import hosts
from crestacoll_tools.place import outcome, traffic
from crestacoll_tools.place.partition import Job
from crestacoll_tools.place.search import best
from crestacoll_tools.profile import profiles


def placed(data, sizes):
    """(placement, what it comes to) of a profile on nodes of some sizes."""
    return outcome.compare(traffic.of_profile(profiles.checked("p.json", data), "p.json"), sizes)


def row_of(found, name):
    return next(r for r in found["communicators"] if r["communicator"] == name)


def test_the_data_follow_the_schema():
    assert schemas.problems("profile", place_data.grid(4, 4)) == []


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_rows_are_found_within_nodes(seed):
    _, found = placed(place_data.grid(4, 16, seed), [16] * 4)
    assert row_of(found, "row")["nodes"]["after"] == 1
    assert row_of(found, "row")["between_nodes"]["after"] == 0
    assert found["gained"] == (seed is not None)


@pytest.mark.parametrize("seed", [None, 3])
def test_heavier_columns_are_found_within_nodes(seed):
    data = place_data.grid(16, 16, seed, row={"alltoall": 8}, col={"alltoall": 4096})
    _, found = placed(data, [16] * 16)
    assert row_of(found, "col")["nodes"]["after"] == 1 and found["gained"]


def test_reductions_in_both_directions_want_square_blocks():
    """Rows within nodes: each column is on 16 nodes. Blocks of 4 by 4: all are on 4."""
    sent = {"allreduce": 1 << 20}
    _, found = placed(place_data.grid(16, 16, 4, row=sent, col=sent), [16] * 16)
    assert row_of(found, "row")["nodes"]["after"] == row_of(found, "col")["nodes"]["after"] == 4


def test_lines_in_three_directions_want_cubes():
    """Each line of 8 ranks is on 2 nodes if a node has a cube of 4 by 4 by 4."""
    cube = np.random.default_rng(4).permutation(512).reshape(8, 8, 8)
    kinds = {
        name: (np.moveaxis(cube, axis, 2).reshape(-1, 8).tolist(), {"allreduce": 4096})
        for axis, name in enumerate("xyz")
    }
    _, found = placed(place_data.profile(512, kinds), [64] * 8)
    assert [row["nodes"]["after"] for row in found["communicators"]] == [2, 2, 2]


def test_rows_longer_than_a_node_take_whole_nodes():
    _, found = placed(place_data.grid(4, 32, 5, col={"alltoall": 8}), [16] * 8)
    assert row_of(found, "row")["nodes"]["after"] == 2


def test_nodes_of_unlike_sizes_are_filled():
    placement, found = placed(place_data.grid(6, 8, 6), [8, 24, 16])
    assert np.bincount(placement).tolist() == [8, 24, 16]
    assert row_of(found, "row")["nodes"]["after"] == 1


def test_the_order_of_a_program_that_is_fine_stays():
    placement, found = placed(place_data.grid(4, 16), [16] * 4)
    assert placement == [rank // 16 for rank in range(64)] and not found["gained"]
    assert found["between_nodes"]["before"] == found["between_nodes"]["after"]


def random_job(seed):
    draw = np.random.default_rng(seed)
    ranks = int(draw.integers(2, 60))
    sizes = draw.multinomial(ranks, [1 / 4] * 4) if ranks > 8 else [ranks - 1, 1]
    groups = [
        traffic.Group((f"g{i % 3}", 0), draw.permutation(ranks)[: draw.integers(2, ranks + 1)])
        for i in range(draw.integers(1, 12))
    ]
    for group in groups:
        group.pairs, group.nodes = draw.exponential(1e6, 2) * draw.integers(0, 2, 2)
    return Job(groups, ranks, [int(size) for size in sizes if size])


def brute_cost(job, placement):
    """The estimate as traffic.py defines it, one communicator after the other."""
    sums = 0.0
    for group in job.groups:
        on = [int(placement[rank]) for rank in group.members]
        pairs = sum(a != b for a in on for b in on)
        sums += group.pairs * pairs + group.nodes * (len(set(on)) - 1)
    return sums


@pytest.mark.parametrize("seed", range(40))
def test_never_worse_than_given_and_always_the_same(seed):
    job = random_job(seed)
    found, again = best(job), best(random_job(seed))
    assert found.tolist() == again.tolist()
    assert np.bincount(found, minlength=len(job.sizes)).tolist() == job.sizes.tolist()
    assert job.cost(found) == pytest.approx(brute_cost(job, found))
    assert job.cost(found) <= job.cost(job.given())
    assert not swap_helps(job, found) or found.tolist() == job.given().tolist()


def swap_helps(job, placement):
    """Whether some swap of two ranks makes it clearly better."""
    least = job.cost(placement) - 1e-6 * max(1.0, job.cost(placement))
    for a in range(job.ranks):
        for b in range(a):
            other = placement.copy()
            other[[a, b]] = placement[[b, a]]
            if job.cost(other) < least:
                return True
    return False


@pytest.mark.parametrize("collective", traffic.MODEL)
def test_every_collective_has_an_estimate(collective):
    """On nodes of one rank each, all bytes are between nodes; on one node, none."""
    job = Job([traffic.Group(("x", 6), list(range(6)), *traffic.MODEL[collective](6))], 6, [1] * 6)
    assert job.cost(job.given()) == pytest.approx(traffic.total_of(collective, 6, 1))
    assert Job(job.groups, 6, [6]).cost(np.zeros(6, dtype=int)) == 0


def test_the_collectives_are_those_of_the_library():
    text = (Path(__file__).parents[2] / "api/collectives.def").read_text()
    assert set(traffic.MODEL) == set(re.findall(r"^([a-z_]+) *:", text, re.MULTILINE))


def test_bytes_are_what_the_records_say():
    """alltoall: 4096 bytes from each rank to each other one; both rows sum up to the record."""
    data = place_data.grid(2, 4, col={"barrier": 0})
    data["communicators"][0]["bytes"]["alltoall"] *= 3  # as if one row did three times as much
    found = traffic.of_profile(profiles.checked("p.json", data), "p.json")
    rows = [g for g in found.groups if g.kind[0] == "row"]
    assert [g.pairs for g in rows] == [6144, 2048] and found.unknown == 0
    assert [g.kind[0] for g in found.groups] == ["row", "row", "MPI_COMM_WORLD"]


def test_bytes_of_unknown_members_are_told():
    data = place_data.grid(2, 4, col={"barrier": 0})
    data["communicators"][1]["members"] = []
    found = traffic.of_profile(profiles.checked("p.json", data), "p.json")
    assert found.unknown == 4096 * 4 * 3 and found.groups[0].pairs == 4096


def test_a_profile_without_members_is_refused(profile_data):
    profile_data["schema"] = "crestacoll-profile-2"
    del profile_data["communicators"]
    with pytest.raises(Problem, match="does not say which ranks"):
        traffic.of_profile(profiles.checked("p.json", profile_data), "p.json")


@pytest.mark.parametrize(
    "members", [[[0, 1, 5]], [[0, 0, 4]], [[6, 1, 4]], [[3, -1, 3], [-1, 1, 1]]]
)
def test_wrong_members_are_refused(members):
    data = place_data.grid(2, 4)
    data["communicators"][0]["members"] = members
    with pytest.raises(Problem):
        traffic.of_profile(profiles.checked("p.json", data), "p.json")


@pytest.mark.parametrize(
    "text, sizes", [("4x16", [16] * 4), ("2x16,1x8", [16, 16, 8]), ("1X3", [3])]
)
def test_hosts_are_read(text, sizes):
    assert [host.slots for host in hosts.of_words(text)] == sizes


@pytest.mark.parametrize("text", ["", "4", "4x", "x16", "0x4", "4x0", "4x16,", "9999999x1"])
def test_wrong_hosts_are_named(text):
    with pytest.raises(Problem) as e:
        hosts.of_words(text)
    assert "--hosts" in e.value.message and e.value.exit_code == 2


def test_host_files_are_read(tmp_path):
    text = "# mine\nnode1 slots=4 max_slots=8\nnode2:3  # other\n\nnode3\nnode3\nnode1 slots=1\n"
    (tmp_path / "hosts").write_text(text)
    found = [(host.name, host.slots) for host in hosts.of_file(tmp_path / "hosts")]
    assert found == [("node1", 5), ("node2", 3), ("node3", 2)]


@pytest.mark.parametrize(
    "text", ["", "# none\n", "a b\n", "a:\n", "a:x\n", "a slots=0\n", "a slots=x"]
)
def test_wrong_host_files_are_named(text, tmp_path):
    (tmp_path / "hosts").write_text(text)
    with pytest.raises(Problem) as e:
        hosts.of_file(tmp_path / "hosts")
    assert "hosts" in e.value.message


def test_hosts_are_filled_in_order():
    found = hosts.of_words("2x4,3x2")
    assert hosts.sizes(found, 9, "p.json") == [4, 4, 1]
    with pytest.raises(Problem, match="14 slots, p.json has 15 ranks"):
        hosts.sizes(found, 15, "p.json")


@pytest.mark.long
def test_rows_are_found_on_many_nodes():
    _, found = placed(place_data.grid(64, 64, 8, row={"alltoall": 1 << 16}), [16] * 256)
    assert row_of(found, "row")["nodes"]["after"] == 4


@pytest.mark.parametrize(
    "ranks, kinds",
    [
        (1, {}),
        (4, {}),
        (4, {"all": ([[0, 1, 2, 3]], {"barrier": 0})}),
        (4, {"all": ([[0, 1, 2, 3]], {"alltoall": 8})}),
        (4, {"some": ([[2, 0]], {"scan": 8})}),
    ],
)
def test_programs_with_little_to_place(ranks, kinds):
    sizes = [1] * ranks
    placement, found = placed(place_data.profile(ranks, kinds), sizes)
    assert placement == list(range(ranks)) and not found["gained"]


def test_the_outcome_is_json():
    json.dumps(placed(place_data.grid(3, 5, 7), [8, 7]))
