# SPDX-License-Identifier: BSD-3-Clause
"""CRESTA_OFF=1: a program has what it has without crestacoll, and nothing more."""

import functools
import re

import pytest
from library_runs import each_build, good, run

OFF = {
    "CRESTA_OFF": "1",
    "CRESTA_IMPL": "*=no_such_thing",
    "CRESTA_PROFILE": "/does/not/exist",
    "CRESTA_ASYNC": "thread",
    "CRESTA_WATCHDOG": "60",
    "CRESTA_WAIT": "polite",
}


@functools.cache
def plain(build):
    return has(run(build, "off"))


def has(done):
    good(done)
    assert "crestacoll" not in done.stderr, done.stderr
    return re.search(r"^off: .*", done.stdout, re.MULTILINE)[0]


@each_build
def test_preloaded(build, tmp_path):
    loaded = tmp_path / "loaded"
    assert has(run(build, "off", preload=True, env={**OFF, "CRESTA_LOADED": str(loaded)})) == (
        plain(build)
    )
    assert not loaded.exists()


@each_build
def test_linked(build):
    assert has(run(build, "off_linked", env=OFF)) == plain(build)


@each_build
@pytest.mark.parametrize("spec", ["*=p2p", "*=mpi"])
def test_that_it_is_seen(build, spec):
    """What the tests above look at is there where crestacoll is not off."""
    assert has(run(build, "off", preload=True, env={"CRESTA_IMPL": spec})) != plain(build)
