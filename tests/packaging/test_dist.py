# SPDX-License-Identifier: BSD-3-Clause
"""`make dist`, the version, the list of exported names, the bill of materials."""
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_exports  # noqa: E402
import check_version  # noqa: E402
import sbom  # noqa: E402


def tool(name, *words, cwd=ROOT, **options):
    done = subprocess.run([sys.executable, str(cwd / "tools" / name), *map(str, words)],
                          cwd=cwd, capture_output=True, text=True, **options)
    return done


@pytest.fixture(scope="module")
def tarball(tmp_path_factory):
    if subprocess.run(["git", "-C", str(ROOT), "rev-parse"], capture_output=True).returncode:
        pytest.skip("not in a clone")
    folder = tmp_path_factory.mktemp("dist")
    made = tool("dist.py", folder)
    assert made.returncode == 0, made.stderr
    return Path(made.stdout.strip())


@pytest.mark.release
def test_the_tarball_has_the_same_bytes_again(tarball, tmp_path):
    """In another time zone, with another umask."""
    made = tool("dist.py", tmp_path, env={**os.environ, "TZ": "Asia/Tokyo"}, umask=0o077)
    assert Path(made.stdout.strip()).read_bytes() == tarball.read_bytes()


@pytest.mark.release
def test_the_tarball_builds_without_git(tarball, tmp_path):
    """The checks of the sources pass there, and cmake configures: what is built is the same."""
    with tarfile.open(tarball) as archive:
        owners = {(m.uid, m.gid, m.mtime) for m in archive.getmembers()}
        archive.extractall(tmp_path)
    assert len(owners) == 1 and next(iter(owners))[:2] == (0, 0)
    top = next(tmp_path.iterdir())
    for check in ("check_layers.py", "check_style.py", "check_docs.py", "check_version.py"):
        done = tool(check, cwd=top)
        assert done.returncode == 0, f"{check}: {done.stdout}{done.stderr}"
    compilers = [c for c in ("mpicc.openmpi", "mpicc.mpich") if shutil.which(c)]
    if not compilers:
        pytest.skip("no mpicc.openmpi, no mpicc.mpich")
    configured = subprocess.run(
        ["cmake", "-S", top, "-B", tmp_path / "build", f"-DMPI_C_COMPILER={compilers[0]}",
         "-DCRESTA_FORTRAN=OFF", "-DCRESTA_TESTS=OFF"], capture_output=True, text=True)
    assert configured.returncode == 0, configured.stderr


@pytest.mark.parametrize("name", [*dict(check_version.FILES), check_version.HEADER,
                                  *dict(check_version.WRITTEN)])
def test_another_version_is_found(name, monkeypatch):
    """In each file that has one: the version of the source is another one then."""
    monkeypatch.setattr(check_version, "version", lambda: "9.8.7")
    wrong = {path: text for path, text, _, _ in check_version.wrong()}
    assert ROOT / name in wrong
    shown = "MAJOR 9" if name == check_version.HEADER else "9.8.7"
    assert shown in wrong[ROOT / name]


def test_what_tools_write_is_the_version():
    assert not list(check_version.wrong())


def build_folders():
    found = [ROOT / "build" / mpi for mpi in ("openmpi", "mpich")]
    return [f for f in found if (f / "lib/libcrestacoll.so").exists()]


@pytest.mark.parametrize("library, name", [
    ("libcrestacoll", "CRESTA_Gone"), ("libcrestacoll-preload", "MPI_Gone")])
def test_a_name_that_disappears_is_found(library, name, monkeypatch, capsys):
    folders = build_folders() or pytest.skip("nothing is built")
    listed = {**check_exports.read(library), name: ("0.1", set())}
    monkeypatch.setattr(check_exports, "read", lambda _: listed)
    report = check_exports.Report("exports")
    check_exports.check(report, folders[0], library)
    assert report.count == 1 and f"{name} is gone" in capsys.readouterr().out


def test_a_name_that_is_new_is_found(monkeypatch, capsys):
    folders = build_folders() or pytest.skip("nothing is built")
    listed = check_exports.read("libcrestacoll")
    del listed["CRESTA_Allreduce"]
    monkeypatch.setattr(check_exports, "read", lambda _: listed)
    report = check_exports.Report("exports")
    check_exports.check(report, folders[0], "libcrestacoll")
    assert report.count == 1 and "CRESTA_Allreduce" in capsys.readouterr().out


def test_names_are_added_and_stay(monkeypatch, tmp_path):
    """A name of one MPI only bears it, and another version has a node of its own."""
    monkeypatch.setattr(check_exports, "LISTS", tmp_path)
    monkeypatch.setattr(check_exports, "mpi_of", lambda folder: folder.name)
    names = {"a1": {"CRESTA_a": None, "CRESTA_b": None}, "b1": {"CRESTA_a": None}}
    monkeypatch.setattr(check_exports, "exported", lambda folder, library: names[folder.name])
    check_exports.add([Path("a1"), Path("b1")], "x")
    assert check_exports.read("x") == {"CRESTA_a": ("0.1", set()), "CRESTA_b": ("0.1", {"a1"})}
    names["b1"] = {"CRESTA_c": None}
    monkeypatch.setattr(check_exports, "version", lambda: "0.2.5")
    check_exports.add([Path("a1"), Path("b1")], "x")
    listed = check_exports.read("x")
    assert listed["CRESTA_a"] == ("0.1", set()) and listed["CRESTA_c"] == ("0.2", {"b1"})


def test_the_bill_names_files_and_packages(tmp_path):
    (tmp_path / "carried").mkdir()
    (tmp_path / "carried/file").write_text("x")
    (tmp_path / "needed").write_text('click\nnot-there==1; python_version < "3.0"\n# a comment\n')
    first = tool("sbom.py", tmp_path / "carried", "--requirements", tmp_path / "needed")
    assert first.returncode == 0, first.stderr
    found = {c["name"]: c for c in json.loads(first.stdout)["components"]}
    assert set(found) == {"file", "click"}
    assert found["file"]["hashes"][0]["content"].startswith("2d711642b726b044")
    assert found["click"]["licenses"] == [{"expression": "BSD-3-Clause"}]
    again = tool("sbom.py", tmp_path / "carried", "--requirements", tmp_path / "needed")
    assert again.stdout == first.stdout
    (tmp_path / "needed").write_text("not-there==1\n")
    failed = tool("sbom.py", tmp_path / "carried", "--requirements", tmp_path / "needed")
    assert failed.returncode and "not-there is not installed" in failed.stderr


@pytest.mark.parametrize("stated, licence", [
    ({"License-Expression": "MIT AND Apache-2.0"}, ("MIT AND Apache-2.0", True)),
    ({"License": "BSD 3-Clause"}, ("BSD-3-Clause", True)),
    ({"License": "Our own"}, ("Our own", False)), ({}, (None, False))])
def test_licences_of_packages(stated, licence):
    class About(dict):
        def get_all(self, name):
            return []

    assert sbom.licence_of(About(stated)) == licence
