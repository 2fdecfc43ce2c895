# SPDX-License-Identifier: BSD-3-Clause
"""tools/frozen_mutants.py: mutants are found again after functions have moved."""

import importlib
import sys

import pytest
from library_runs import ROOT

sys.path.insert(0, str(ROOT / "tools"))
frozen = importlib.import_module("frozen_mutants")

FILE = """/* f.c */
static int one(int a)
{
    if (a < 0)
        return 1;
    return a;
}

int two(int a)
{
    if (a < 0)
        return 1;
    if (a < 0)
        a = 7 + a;
    return a;
}
"""


def mutant(function, number, old, new, file="src/comm/f.c"):
    return frozen.Mutant("name", file, function, number, old, new, frozen.NOT_RUN)


SECOND = mutant("two", 1, "if (a < 0)", "if (a <= 0)")


@pytest.fixture
def tree(monkeypatch, tmp_path):
    (tmp_path / "src/comm").mkdir(parents=True)
    (tmp_path / "src/mpi").mkdir()
    monkeypatch.setattr(frozen, "ROOT", tmp_path)
    frozen.places.cache_clear()
    return tmp_path


def test_of_lines_alike_it_is_the_same_one(tree):
    path = tree / "src/comm/f.c"
    path.write_text(FILE)
    assert frozen.located(SECOND) == (path, FILE[: FILE.rindex("if (a < 0)")].count("\n"))


def test_a_function_that_moved_is_found(tree):
    moved = tree / "src/mpi/g.c"
    moved.write_text("/* g.c */\nint other;\n" + FILE[FILE.index("int two"):])
    path, number = frozen.located(SECOND)
    assert path == moved
    assert moved.read_text().split("\n")[number + 1].strip() == "a = 7 + a;"


def test_a_function_that_has_another_name_is_found_by_its_line(tree):
    path = tree / "src/comm/f.c"
    path.write_text(FILE.replace("two(", "core_two("))
    line = mutant("two", 0, "a = 7 + a;", "a = 7 - a;")
    assert frozen.located(line) == (path, FILE[: FILE.index("a = 7")].count("\n"))
    assert frozen.located(SECOND) is None  # its line is there more than once


def test_what_is_gone_is_not_found(tree):
    (tree / "src/comm/f.c").write_text(FILE.replace("a = 7 + a;", "a += 7;"))
    assert frozen.located(mutant("two", 0, "a = 7 + a;", "a = 7 - a;")) is None


def test_the_list():
    found = frozen.read()
    assert len(found) == 300 == len({m.name for m in found})
    assert len({(m.file, m.function, m.number, m.old, m.new) for m in found}) == 300
    assert not any(m.file.startswith("src/algo/") for m in found)


def test_the_same_seed_selects_the_same(tree):
    (tree / "src/comm/f.c").write_text(FILE)
    (tree / "src/algo/bcast").mkdir(parents=True)
    (tree / "src/algo/bcast/a.c").write_text(FILE)
    first = list(frozen.selected(6, 1))
    assert first == list(frozen.selected(6, 1)) and len({m.name for m in first}) == 6
    assert {m.file for m in first} == {"src/comm/f.c"}
    assert {m.name.rpartition("-")[0] for m in first} <= {"one", "two"}
