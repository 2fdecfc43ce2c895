# SPDX-License-Identifier: BSD-3-Clause
"""The public names of the Python package: documented, typed, light to import; files."""

import importlib.util
import inspect
import json
import subprocess
import sys

import crestacoll as package
import pytest
from api_runs import ROOT

PROFILE = {
    "schema": "crestacoll-profile-1",
    "records": [{"collective": "bcast", "calls": 2, "time_us": {"mean": 3.5, "max": 4.0}}],
}
TUNING = {
    "schema": "crestacoll-tuning-1",
    "head": {},
    "rules": [
        {"collective": "alltoall", "bytes": [4096, "inf"], "implementation": "p2p"},
        {"collective": "bcast", "implementation": "shm"},
    ],
}


def test_every_public_name_is_documented():
    page = (ROOT / "docs/reference/python.md").read_text()
    lacking = [n for n in package.__all__ if f"`{n}(" not in page and f"`{n}`" not in page]
    assert not lacking
    assert set(package.__all__) <= set(dir(package))


def test_the_names_of_the_collectives_are_those_of_the_table():
    table = (ROOT / "generated/python/ways.inc").read_text()
    names = {line[11:].split(",")[0] for line in table.splitlines() if "CRESTA_WAY(" in line[:11]}
    names = {n for n in names if n.isidentifier()}
    assert len(names) == 44 and names <= set(package.__all__)


def test_types():
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("no mypy: run 'make setup'")
    files = sorted(str(p) for p in (ROOT / "python/crestacoll").glob("_[a-z]*.py*"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null",
         "--follow-imports=silent", "-m", "crestacoll",
         *(a for f in files for a in ("-m", f"crestacoll.{f.split('/')[-1].split('.')[0]}"))],
        cwd=ROOT / "python", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_loads_nothing_else():
    """What takes time is loaded when it is used; the command line never."""
    code = (
        "import sys; before = set(sys.modules); import crestacoll;"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "python")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    heavy = ("numpy", "mpi4py", "click", "rich", "pandas", "ctypes", "_native", "subprocess")
    assert not [name for name in heavy if name in done.stdout], done.stdout


def test_files(tmp_path):
    path = tmp_path / "p.json"
    path.write_text(json.dumps(PROFILE))
    loaded = package.load_profile(path)
    assert loaded["timeline"] is None and loaded["records"][0]["nodes"] is None
    with pytest.raises(ValueError, match="not a tuning of crestacoll"):
        package.load_tuning(path)
    path.write_text("{")
    with pytest.raises(ValueError, match="not a JSON"):
        package.load_profile(path)
    path.write_text(json.dumps(TUNING))
    assert package.load_tuning(path)["rules"][1]["collective"] == "bcast"


def test_frames():
    if importlib.util.find_spec("pandas") is None:
        with pytest.raises(ImportError, match="pip install pandas"):
            package.profile_frame(PROFILE)
        return
    assert package.profile_frame(PROFILE)["time_us_mean"].tolist() == [3.5]
    frame = package.tuning_frame(TUNING)
    assert frame["bytes_most"].tolist()[0] == float("inf")
    assert frame["bytes_least"].isna().tolist() == [False, True]


def test_docstrings():
    from crestacoll import (
        _exchange,
        _files,
        _link,
        _memory,
        _multisend,
        _profile,
        _recording,
        _services,
    )  # fmt: skip

    modules = (_exchange, _files, _link, _memory, _multisend, _profile, _recording, _services)
    for module in modules:
        for name, value in vars(module).items():
            if name in package.__all__ and inspect.isfunction(value):
                assert value.__doc__ and value.__doc__.endswith("\n    "), name
