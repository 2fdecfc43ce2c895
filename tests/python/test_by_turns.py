# SPDX-License-Identifier: BSD-3-Clause
"""Tests marked `by_turns` (conftest.py): one build has its turn, make nightly tries the others."""

from types import SimpleNamespace

import conftest


class Item:
    def __init__(self, what, mark, **params):
        self.nodeid, self.mark, self.marks = what, mark, []
        if params:
            self.callspec = SimpleNamespace(params=params)

    def get_closest_marker(self, name):
        return name == self.mark

    def add_marker(self, name):
        self.marks.append(name)


def collected(mark, builds=("openmpi", "mpich")):
    return [
        Item(f"test_{n}[{build}]", mark, build=build, n=n) for n in range(20) for build in builds
    ]


def built(monkeypatch, *names):
    found = [SimpleNamespace(name=name) for name in names]
    monkeypatch.setattr(conftest.builds, "all_builds", lambda: found)


def test_each_build_has_its_turn(monkeypatch):
    built(monkeypatch, "openmpi", "mpich")
    items = collected("by_turns")
    conftest.leave_to_the_night(items)
    today = [item.callspec.params for item in items if not item.marks]
    assert [params["n"] for params in today] == list(range(20))
    assert {params["build"] for params in today} == {"openmpi", "mpich"}
    assert all(item.marks in ([], ["nightly"]) for item in items)


def test_the_only_build_has_every_turn(monkeypatch):
    built(monkeypatch, "mpich")
    items = collected("by_turns")  # those of the other build are skipped
    conftest.leave_to_the_night(items)
    assert not any(item.marks for item in items)


def test_others_are_for_every_build(monkeypatch):
    built(monkeypatch, "openmpi", "mpich")
    items = [*collected("alone"), Item("test_without_builds", "by_turns")]
    conftest.leave_to_the_night(items)
    assert not any(item.marks for item in items)
