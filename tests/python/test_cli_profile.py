# SPDX-License-Identifier: BSD-3-Clause
"""Profile files: schema, sums, table."""

import json

import jsonschema
import pytest

from crestacoll import profile, schemas


@pytest.mark.parametrize("name", ["profile", "bench", "demo", "harness"])
def test_schemas_are_schemas(name):
    jsonschema.Draft202012Validator.check_schema(schemas.schema(name))


def test_a_good_profile_is_good(profile_data):
    assert schemas.problems("profile", profile_data) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("ranks"),
        lambda d: d["records"][0].pop("wait_us"),
        lambda d: d["records"][0].update(mode="other"),
        lambda d: d["records"][0]["time_us"].update(min=-1),
        lambda d: d["records"][0].update(extra=1),
        lambda d: d.update(schema="crestacoll-profile-2"),
    ],
)
def test_a_bad_profile_is_bad(profile_data, change):
    change(profile_data)
    assert schemas.problems("profile", profile_data) != []


def test_sums_and_shares(profile_data):
    row, other = profile.sums(profile_data)
    assert (row["collective"], row["calls"], row["mean_us"], row["wait_us"]) == (
        "alltoall",
        120,
        1e6,
        2e5,
    )
    assert other["wait_us"] is None
    assert profile.total_us(profile_data) == pytest.approx(1e6 + 20)


def test_the_report_shows_what_matters(profile_data, tmp_path, crestacoll):
    file = tmp_path / "p.json"
    file.write_text(json.dumps(profile_data))
    shown = crestacoll("report", file)
    assert shown.returncode == 0, shown.stderr
    line = next(li for li in shown.stdout.splitlines() if li.startswith("alltoall"))
    for word in ("row (2)", "4K-8K", "nonblock", "120", "1 s", "200 ms", "50.0 %"):
        assert word in line
    assert "iallreduce" in shown.stdout and "8-inf" in shown.stdout
    summed = json.loads(crestacoll("report", file, "--by", "communicator", "--json").stdout)
    assert [s["communicator"] for s in summed["sums"]] == ["row", ""]


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"schema": "x"}', '{"schema": "crestacoll-profile-1"}']
)
def test_what_is_no_profile_is_refused(text, tmp_path, crestacoll):
    (tmp_path / "p.json").write_text(text)
    shown = crestacoll("report", "p.json")
    assert shown.returncode == 125 and "p.json" in shown.stderr
    assert "Traceback" not in shown.stderr
