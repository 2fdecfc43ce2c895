# SPDX-License-Identifier: BSD-3-Clause
"""A process fails, and who waits for it is not who finds that out, or the wait is one of a set-up:
calls of all others return."""

import re

from library_runs import each_build
from test_library_failures import failed, launch, of_others, takes_seconds

pytestmark = each_build

CHAIN = {"CRESTA_IMPL": "barrier=p2p,*=p2p:chain"}


def apart(build, mode, env):
    out, err = launch(build, build / "tests" / "bin" / "failed_apart", mode, env=env)
    assert "WRONG" not in out, f"{out}\n{err}"
    return sorted(re.findall(r"^rank (\d) (\w+): right$", out, re.MULTILINE)), err


def of_one_and_two():
    return sorted((rank, one) for rank in "12" for one in ("returns", "again"))


def test_a_rank_that_works_tells_of_the_end_of_its_replay(build):
    found, err = apart(build, "works", CHAIN)
    assert found == of_one_and_two(), err


def test_a_failure_in_a_rehearsal_is_told(build):
    found, err = apart(build, "rehearsal", CHAIN)
    assert found == of_one_and_two(), err


def test_the_first_exchange_ends(build):
    takes_seconds(build)
    found, err = apart(build, "first", CHAIN)
    assert found == of_others("returns", "again"), err


def test_a_replay_over_nodes_names_who_failed(build):
    env = {"CRESTA_NODES": "1+2", "CRESTA_LOG": "info"}
    found, err = failed(build, "replay", "hier", env=env)
    assert found == of_others("returns", "again", "call", "freed"), err
    named = re.findall(r"rank (\d+) on \S+ \(process \d+\)", err)
    assert named and set(named) == {"1"}, err
