# SPDX-License-Identifier: BSD-3-Clause
"""Records of MPI-IO on the command line: `run --io`, `report`, and what they say."""

import copy
import json

import pytest
import report_data
from crestacoll_tools import schemas
from crestacoll_tools.profile import iorecords
from crestacoll_tools.report import ioplots, iosection, reportfiles, reportpage

pytestmark = pytest.mark.by_turns


def test_a_good_record_is_good():
    assert schemas.problems("io", report_data.io()) == []


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda d: d.pop("files"), "'files' is a required property"),
        (lambda d: d["data"][0].update(kind="other"), "data/0/kind"),
        (lambda d: d["data"][0]["calls_of_bins"].pop(), "another length than there are bins"),
        (lambda d: d.update(schema="crestacoll-io-0"), "is not a record of MPI-IO"),
    ],
)
def test_a_bad_record_is_bad(change, said):
    data = report_data.io()
    change(data)
    with pytest.raises(iorecords.Problem, match=said):
        iorecords.checked("io.json", data)


def test_a_run_shows_and_writes_it(crestacoll, build, tmp_path):
    """The table at the end, the same from the file, JSON, and the page with the profile."""
    program = build.folder / "tests" / "bin" / "io_calls"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    words = ["--", build.launcher, "-n", "2", program, "file"]
    ran = crestacoll("run", "--io", "io.json", "--profile", "p.json", "--json", "r.json", *words)
    assert ran.returncode == 0, ran.stderr
    data = iorecords.load(tmp_path / "io.json")
    told = crestacoll("report", "io.json").stdout
    assert told == ran.stdout
    for said in ("independent write", "split collective read", "MPI_File_set_view", "file "):
        assert said in told, told
    result = json.loads((tmp_path / "r.json").read_text())
    assert result["io"] == "io.json" and result["impl"] is None
    again = crestacoll("report", "io.json", "--json")
    assert json.loads(again.stdout) == data
    made = crestacoll("report", "io.json", "p.json", "-o", "r.html")
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "r.html").read_text()
    assert "By kind of call" in page and "The last panel is from the profile" in page


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["report", "io.json", "--by", "collective"], 2, "is a record of MPI-IO: it takes no --by"),
        (["run", "--io", "no/io.json", "--", "true"], 2, "--io no/io.json: no such folder"),
        (["report", "short.json"], 125, "another length than there are bins"),
    ],
)
def test_mistakes(words, code, said, crestacoll, tmp_path, build):
    data = report_data.io()
    (tmp_path / "io.json").write_text(json.dumps(data))
    data["other_calls"][0]["us_of_bins"].pop()
    (tmp_path / "short.json").write_text(json.dumps(data))
    words = [build.launcher if word == "true" else word for word in words]
    words += ["-n", "1", "true"] if "--" in words else []
    ran = crestacoll(*words)
    assert ran.returncode == code and said in ran.stderr, ran.stderr


def test_what_could_be_collective():
    """Many calls or bytes could; not the few by which libraries write headers."""
    data = report_data.io()
    (name, direction, ranks, calls, moved, windows), = [
        (f["name"], *found) for f, *found in iorecords.could_be_collective(data)
    ]
    assert (name, direction, ranks) == (report_data.NAMES[1], "write", 4)
    assert (calls, moved, windows) == (32000, 32000 * 4096, [1])
    assert "in the same 13.3 % of the run: 32,000 calls" in iorecords.advice(data)[0]
    alone = copy.deepcopy(data)
    alone["files"][0]["processes"] = 1
    assert "all 4 ranks (each opened it for itself) write" in iorecords.advice(alone)[0]


def test_the_figures():
    data = report_data.io()
    lines = {line[0]: line for line in iosection.call_lines(data, 1e6 * data["wall_s"])}
    assert lines["independent write"][1:5] == (4, "32,000", "131 MB", "4.1 kB")
    assert lines["independent write"][-1] == "655"  # 131 MB in 0.2 s
    assert lines["non-blocking write"][-1] == "-"
    assert lines["MPI_File_sync"][1:5] == (4, "4", "–", "–")
    intervals = iosection.intervals(data)
    assert len(intervals) == 12 and [i["apart"] for i in intervals[:4]] == ["0", "8,000", "20,000",
                                                                            "4,000"]
    assert intervals[2]["written"] == number(20000 * 4096 / 1.25e6)
    assert iosection.headline(data).endswith("and 32,000 of these could be collective.")


def number(value):
    return iorecords.number(value)


def test_nothing_called(tmp_path):
    data = report_data.io() | {"data": [], "other_calls": [], "files": []}
    data["other_files"] = {"data": [], "other_calls": []}
    (tmp_path / "io.json").write_text(json.dumps(data))
    page = reportpage.render([reportfiles.read(str(tmp_path / "io.json"))])
    assert "The program called nothing of MPI-IO" in page
    assert "no data moved" in iorecords.summary(data)


@pytest.mark.long
def test_one_axis_with_the_collectives():
    """The picture has the time of both, also if their bins are not equal."""
    profile = report_data.profile()["timeline"]
    both = ioplots.timeline(report_data.io(), profile)
    alone = ioplots.timeline(report_data.io())
    assert "in collectives" in both and "in collectives" not in alone
