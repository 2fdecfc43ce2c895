# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll place`: what it prints and the files that launchers read."""

import json
import re

import place_data
import pytest
from click.testing import CliRunner
from crestacoll_tools import cli
from crestacoll_tools.launch import hosts
from crestacoll_tools.place import files

FILES = ["MPICH_RANK_ORDER", "README", "hydra-blocks", "hydra-hosts", "hydra-rankmap", "rankfile"]
FILES += ["slurm-hosts"]


def place(folder, data, *words):
    """The result of the sub-command for a profile."""
    file = place_data.write(folder, data)
    words = ["place", "--profile", str(file), "--output", str(folder / "placed"), *words]
    return CliRunner().invoke(cli.main, words)


def hostfile(folder, text="alpha slots=8\nbeta:8\ngamma slots=16\n"):
    (folder / "hosts").write_text(text)
    return "--hostfile", str(folder / "hosts")


def test_before_and_after_are_shown(tmp_path):
    shown = place(tmp_path, place_data.grid(4, 16, 1), "--hosts", "4x16")
    assert shown.exit_code == 0, shown.output
    assert "64 ranks on 4 hosts, 16 on each" in shown.output
    row = next(line.split() for line in shown.output.splitlines() if line.startswith("row"))
    assert row[:3] == ["row", "(16)", "4"] and row[5:] == ["0", "4", "1"]
    assert re.search(r"placed: \d\d\.\d% fewer bytes between nodes", shown.output)
    assert "--map-by rankfile:file=" in shown.output and "--distribution=arbitrary" in shown.output
    assert sorted(path.name for path in (tmp_path / "placed").iterdir()) == FILES


def test_an_order_that_is_fine_stays(tmp_path):
    shown = place(tmp_path, place_data.grid(4, 16), "--hosts", "4x16")
    assert "no better order was found" in shown.output
    lines = (tmp_path / "placed/rankfile").read_text().splitlines()
    assert lines[17] == "rank 17=+n1 slot=1"


def test_on_one_node_there_is_nothing_to_gain(tmp_path):
    shown = place(tmp_path, place_data.grid(2, 4), "--hosts", "1x8")
    assert "nothing to gain" in shown.output and shown.exit_code == 0


def test_json_has_all_of_it(tmp_path):
    shown = place(tmp_path, place_data.grid(4, 8, 2), *hostfile(tmp_path), "--json")
    data = json.loads(shown.output)
    assert data["schema"] == "crestacoll-place-1" and data["gained"]
    assert [h["name"] for h in data["hosts"]] == ["alpha", "beta", "gamma"]
    assert sorted(rank for h in data["hosts"] for rank in h["ranks"]) == list(range(32))
    between = data["between_nodes"]
    assert between["after"] < between["before"] < data["total_bytes"]
    parts = [c["between_nodes"]["after"] for c in data["communicators"]]
    assert sum(parts) == pytest.approx(between["after"])


def hosts_of(folder):
    """The host of each rank, as each file has it."""
    text = {path.name: path.read_text() for path in folder.iterdir()}
    found = re.findall(r"^rank (\d+)=(\S+) slot=(\d+)$", text["rankfile"], re.MULTILINE)
    assert [int(rank) for rank, _, _ in found] == list(range(len(found)))
    assert len({(host, slot) for _, host, slot in found}) == len(found)
    yield [host for _, host, _ in found]
    yield text["slurm-hosts"].split()
    blocks = [line.split(":") for line in text["hydra-blocks"].split()]
    yield [host for host, count in blocks for _ in range(int(count))]
    once = [line.split(":") for line in text["hydra-hosts"].split()]
    numbers = [int(number) for number in text["hydra-rankmap"].split(",")]
    assert [numbers.count(i) for i in range(len(once))] == [int(count) for _, count in once]
    yield [once[number][0] for number in numbers]
    lines = [line for line in text["MPICH_RANK_ORDER"].splitlines() if line[0] != "#"]
    ranks = [[int(rank) for rank in line.split(",")] for line in lines]
    where = {rank: once[i][0] for i, line in enumerate(ranks) for rank in line}
    assert len(where) == len(numbers)
    yield [where[rank] for rank in range(len(where))]


@pytest.mark.parametrize("seed", [None, 8, 9])
def test_all_files_say_the_same(tmp_path, seed):
    to = f"--json={tmp_path}/found.json"
    shown = place(tmp_path, place_data.grid(4, 8, seed), *hostfile(tmp_path), to)
    assert shown.exit_code == 0, shown.output
    of_json = json.loads((tmp_path / "found.json").read_text())["hosts"]
    expected = {rank: host["name"] for host in of_json for rank in host["ranks"]}
    for found in hosts_of(tmp_path / "placed"):
        assert found == [expected[rank] for rank in range(32)]


def test_hosts_without_ranks_are_no_part_of_the_files(tmp_path):
    place(tmp_path, place_data.grid(2, 4), *hostfile(tmp_path, "a:4\nb:4\nc:4\n"))
    for found in hosts_of(tmp_path / "placed"):
        assert set(found) == {"a", "b"}


def test_hosts_of_numbers_have_no_names(tmp_path):
    shown = place(tmp_path, place_data.grid(2, 4), "--hosts", "2x4")
    assert "host0 to host1 stand for the hosts of the job" in shown.output
    assert "rank 0=+n0 slot=0\n" in (tmp_path / "placed/rankfile").read_text()
    assert "stand for" not in place(tmp_path, place_data.grid(2, 4), *hostfile(tmp_path)).output


def test_names_are_quoted_for_a_shell():
    found = files.commands(files.Path("a folder"), 4)
    assert "'a folder'/rankfile" in found[0]["command"]
    assert files.caution(hosts.of_words("1x4"))


@pytest.mark.parametrize(
    "words, code, text",
    [
        ([], 2, "either --hosts LIST or --hostfile FILE"),
        (["--hosts", "2x4", "--hostfile", "p.json"], 2, "either --hosts"),
        (["--hosts", "4"], 2, "HOSTSxSLOTS"),
        (["--hosts", "1x7"], 125, "7 slots"),
    ],
)
def test_wrong_usage_is_named(tmp_path, monkeypatch, words, code, text):
    monkeypatch.chdir(tmp_path)
    shown = place(tmp_path, place_data.grid(2, 4), *words)
    assert shown.exit_code == code and text in shown.output
    assert not (tmp_path / "placed").exists()


def test_a_profile_without_members_is_refused(tmp_path, profile_data):
    profile_data["schema"] = "crestacoll-profile-1"
    for member in ("communicators", "timeline", "clocks"):
        del profile_data[member]
    shown = place(tmp_path, profile_data, "--hosts", "1x2")
    assert shown.exit_code == 125 and "record it again" in shown.output


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "placed").write_text("a file")
    shown = place(tmp_path, place_data.grid(2, 4), "--hosts", "2x4")
    assert shown.exit_code == 125 and "cannot write" in shown.output


def test_one_host_is_not_each_of_several(tmp_path):
    shown = place(tmp_path, place_data.grid(2, 2), "--hosts", "1x4").output
    assert shown.startswith("4 ranks on 1 host\n")
    assert "nothing to gain: all ranks are on one host" in shown
    assert "host0 stands for the host of the job: replace it in" in shown
