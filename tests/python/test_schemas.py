# SPDX-License-Identifier: BSD-3-Clause
"""The JSON Schemas, and what commands write of stored results."""

import json
from pathlib import Path

import jsonschema
import pytest
import report_data
from click.testing import CliRunner
from crestacoll_tools import cli, schemas

NAMES = sorted(p.name.removesuffix(".schema.json") for p in
               Path(schemas.__file__).parent.glob("*.schema.json"))


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_schemas(name):
    """Each has an $id of its own: the value of `schema` in what it describes."""
    schema = schemas.schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    member = schema["properties"]["schema"]
    assert schema["$id"] in member.get("enum", [member.get("const")])
    assert [other for other in NAMES if schemas.schema(other)["$id"] == schema["$id"]] == [name]
    assert "schema" in schema["required"] and schema["title"]


def wholly():
    return report_data.profile() | {"calls": report_data.calls()}


STORED = {
    "profile": wholly,
    "io": report_data.io,
    "bench": report_data.bench,
    "overlap": report_data.overlap,
    "explore": report_data.explored,
    "tuning": lambda: report_data.TUNING,
}


@pytest.mark.parametrize("name", STORED)
def test_stored_results_follow_them(name):
    """And break them without any one of the members that must be there."""
    data = STORED[name]()
    assert schemas.problems(name, data) == []
    for member in schemas.schema(name)["required"]:
        less = {key: value for key, value in data.items() if key != member}
        assert any(f"'{member}' is a required" in found for found in schemas.problems(name, less))


@pytest.fixture
def printed(tmp_path, monkeypatch):
    """What a command prints as JSON, in a folder with profiles: q.json and `new` have no calls."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.json").write_text(json.dumps(wholly()))
    (tmp_path / "q.json").write_text(json.dumps(report_data.profile() | {"wall_s": 30.0}))
    (tmp_path / "new").mkdir()
    for i in range(3):
        data = report_data.profile() | {"wall_s": 16.0 + 0.1 * i}
        (tmp_path / f"new/{i}.json").write_text(json.dumps(data))
    (tmp_path / "io.json").write_text(json.dumps(report_data.io()))

    def run(words):
        return json.loads(CliRunner().invoke(cli.main, [*words.split(), "--json"]).stdout)

    return run


@pytest.mark.parametrize(
    "words, name",
    [
        ("report p.json", "report"),
        ("report q.json", "report"),
        *((f"report p.json --by {by}", "report") for by in
          ("collective", "communicator", "implementation")),
        ("report --compare p.json new", "compare"),
        ("report --compare p.json q.json", "compare"),
        ("report io.json", "io"),
    ],
)
def test_what_report_writes_follows_them(printed, words, name):
    data = printed(words)
    assert schemas.problems(name, data) == []
    assert schemas.problems(name, data | {"schema": "crestacoll-other-1"}) != []
    if name == "report":
        assert ("calls" in data) == ("p.json" in words)
        data["sums"][0]["mean_us"] = "much"
    elif name == "compare":
        data["lines"][0]["verdict"] = "perhaps"
    else:
        data["data"][0]["calls"] = -1
    assert len(schemas.problems(name, data)) == 1
