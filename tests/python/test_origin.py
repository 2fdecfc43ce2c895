# SPDX-License-Identifier: BSD-3-Clause
"""What a profile is of: what `run` adds to it, what is left out, and how it is shown."""

import json
import os

import pytest
import report_data
from crestacoll_tools import schemas
from crestacoll_tools.profile import origin, profiles


def written(path, of):
    """A profile as the ranks write it."""
    data = report_data.profile() | {"calls": report_data.calls()}
    text = json.dumps(data).removesuffix("}")
    path.write_text(f'{text},{origin.MARK}{json.dumps(of)}}}\n')
    return path


def test_numbers_are_lists():
    assert origin.numbers("0-3,8") == [0, 1, 2, 3, 8] and origin.numbers("") == []
    assert origin.listed([8, 1, 0, 3, 2]) == "0-3,8" and origin.listed([]) == ""


def test_run_adds_what_the_ranks_do_not_know(tmp_path, monkeypatch):
    path = written(tmp_path / "p.json", report_data.origin() | {"command": ["./app"]})
    (tmp_path / "rules").write_text("alltoall=shm\n")
    monkeypatch.setenv("PBS_JOBID", "12.host")
    words = ["mpirun", "./app", "\udcff \"ü\""]
    for _ in range(2):
        origin.complete(path, words, {"CRESTA_IMPL": f"@{tmp_path}/rules"}, False)
    found = profiles.load(path)
    assert found["origin"]["command"] == words
    assert found["origin"]["rules"] == "alltoall=shm\n"
    assert found["origin"]["variables"]["PBS_JOBID"] == "12.host"
    assert len(found["records"]) == len(report_data.profile()["records"])


def test_a_long_command_is_cut(tmp_path):
    path = written(tmp_path / "p.json", report_data.origin())
    origin.complete(path, ["./app", "x" * 100000, "y"], {}, False)
    command = profiles.load(path)["origin"]["command"]
    assert command[-1] == "[...]" and sum(map(len, command)) < 9000
    assert origin.lines(profiles.load(path))[0].endswith("x[...]")


def test_anonymous_leaves_out_what_it_says(tmp_path):
    of = report_data.origin(hosts=2, OMPI_MCA_btl="tcp", UCX_LOG="/home/me/log", FI_A="tcp://n2")
    path = written(tmp_path / "p.json", of)
    origin.complete(path, ["/home/me/app", "--secret"], {"CRESTA_IMPL": "@/home/me/r"}, True)
    text, found = path.read_text(), profiles.load(path)
    for word in ("home", "secret", "n1", "n2", "nowhere", "/opt", "log"):
        assert word not in text
    assert found["origin"]["variables"] == {"SLURM_JOB_ID": "4711", "OMPI_MCA_btl": "tcp"}
    assert [h["name"] for h in found["origin"]["hosts"]] == ["host 1", "host 2"]
    assert found["calls"]["modules"][0]["path"] == "app"
    assert origin.lines(found)[0] == "Command: left out"
    assert origin.lines(found)[1].startswith("2026-11-28 23:59:58 to 2026-11-29 00:00:14 +01:00")


def test_a_profile_of_an_earlier_version_stays_as_it_is(tmp_path):
    path = tmp_path / "p.json"
    path.write_text(json.dumps(report_data.profile()))
    before = path.read_bytes()
    assert origin.complete(path, ["./app"], {}, False) is None
    assert path.read_bytes() == before and origin.lines(profiles.load(path)) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda o: o.pop("hosts"),
        lambda o: o.update(start="yesterday"),
        lambda o: o["bindings"][0].update(cpus="all"),
        lambda o: o.update(more=1),
    ],
)
def test_a_bad_origin_is_bad(change):
    data = report_data.profile() | {"origin": report_data.origin()}
    assert schemas.problems("profile", data) == []
    change(data["origin"])
    assert schemas.problems("profile", data) != []


def test_all_of_it_is_in_the_page_and_in_json(tmp_path, in_process):
    of = report_data.origin(("0", "0"), OMPI_MCA_btl="<b>tcp")
    path = written(tmp_path / "p.json", of)
    assert in_process("report", path, "-o", tmp_path / "r.html").returncode == 0
    assert "bcast=shm" not in (tmp_path / "r.html").read_text()
    written(path, of := of | {"rules": "bcast=shm"})
    found = json.loads(in_process("report", path, "--json").stdout)
    assert found["origin"] == of and len(found["warnings"]) == 1
    assert schemas.problems("report", found) == []
    shown = in_process("report", path, "-o", tmp_path / "r.html")
    assert shown.returncode == 0, shown.stderr
    page = (tmp_path / "r.html").read_text()
    for word in ("are both bound to hardware thread 0", "bcast=shm", "&lt;b&gt;tcp", "4711"):
        assert word in page
    assert "<b>tcp" not in page and "\x1b" not in page


def test_what_ranks_know_of_a_run(crestacoll, build, turbulence, tmp_path):
    """Bound to one core; other variables stay out of the file."""
    core = str(min(os.sched_getaffinity(0)))
    program = [turbulence[0], "--grid", "32", "--steps", "20"]
    words = [build.launcher, "-n", "2", "taskset", "-c", core, *program]
    variables = {"MY_SECRET": "hidden", "OMP_NUM_THREADS": "1", "SLURM_JOB_ID": "\"7\""}
    words = ["--profile", "p.json", "--mpi", build.family, "--", *words]
    ran = crestacoll("run", *words, **variables)
    assert ran.returncode == 0, ran.stderr
    assert "are both bound to" in ran.stderr and ran.stderr.count("warning") == 1
    assert "hidden" not in (tmp_path / "p.json").read_text()
    found = profiles.load(tmp_path / "p.json")["origin"]
    assert found["command"] == words[words.index("--") + 1 :]
    assert found["variables"]["OMP_NUM_THREADS"] == "1"
    assert found["variables"]["SLURM_JOB_ID"] == '"7"'
    assert [(h["name"], h["ranks"]) for h in found["hosts"]] == [(os.uname().nodename, "0-1")]
    (binding,) = found["bindings"]
    assert binding["cpus"] == core and binding["busy_threads"] >= 1
    assert origin.moment(found["start"]) <= origin.moment(found["end"])
    assert origin.moment(found["end"]).utcoffset() is not None
