# SPDX-License-Identifier: BSD-3-Clause
"""CRESTA_ASYNC and what a begin runs, as CRESTA_LOG=info tells it."""

import pytest
from library_runs import each_build, good, messages, run

pytestmark = each_build

RUNS = [
    ("p2p", "thread", "split-phase: p2p runs"),
    ("p2p:ring", "thread", "split-phase: p2p:ring runs"),
    ("os", "thread", "split-phase: os runs"),
    ("os?via=get", "auto", "split-phase: os?via=get runs"),
    ("os?window=dynamic", "thread", "split-phase: p2p runs instead of os?window=dynamic: a begin"),
    ("os?access=calls", "thread", "split-phase: p2p runs instead of os?access=calls: "),
    ("shm", "thread", "split-phase: shm runs"),
    ("shm", "auto", "split-phase: shm runs"),
    ("shm:ring", "auto", "split-phase: shm:ring runs"),
    ("shm", "off", "split-phase: nonblock runs instead of shm: there is no progress thread"),
    ("nonblock", "thread", "split-phase: nonblock runs"),
    ("mpi", "thread", "split-phase: nonblock runs"),
    ("persist", "thread", "split-phase: nonblock runs instead of persist"),
    ("p2p", "off", "split-phase: nonblock runs instead of p2p: there is no progress thread"),
    ("p2p", "auto", "split-phase: nonblock runs instead of p2p: there is no progress thread"),
    ("os", "off", "split-phase: nonblock runs instead of os: there is no progress thread"),
]


@pytest.mark.parametrize("impl, helper, said", RUNS)
def test_the_log_says_once_what_a_begin_runs(build, impl, helper, said):
    """And before, if the next blocking call makes it ready, that it does."""
    env = {"CRESTA_IMPL": f"allreduce={impl}", "CRESTA_LOG": "info", "CRESTA_ASYNC": helper}
    steps = ["allreduce=8", "begin=8", "begin=8", "allreduce=8", "begin=8", "begin=8"]
    done = good(run(build, "script", *steps, env=env))
    lines = [line for line in messages(done) if "split-phase" in line]
    assert said in lines[-1], done.stderr
    assert len(lines) <= 2 and all("nonblock runs" in line for line in lines[:-1]), done.stderr


def test_one_process_needs_no_schedule(build):
    env = {"CRESTA_IMPL": "*=p2p", "CRESTA_LOG": "info", "CRESTA_ASYNC": "thread"}
    done = good(run(build, "script", "allreduce=8", "begin=8", ranks=1, env=env))
    assert "there is one process" in done.stderr


def test_before_the_first_blocking_collective(build):
    """A begin sets nothing up, so that nothing is known yet; the next one runs by the rules."""
    env = {"CRESTA_IMPL": "*=p2p", "CRESTA_LOG": "info", "CRESTA_ASYNC": "thread"}
    done = good(run(build, "script", "dup", "begin=8", "barrier=0", "begin=8", env=env))
    lines = [line for line in messages(done) if "split-phase" in line]
    assert len(lines) == 1 and "split-phase: p2p runs" in lines[0], done.stderr


def test_another_word_stops_the_job(build):
    done = run(build, "script", "allreduce=8", env={"CRESTA_ASYNC": "yes"})
    assert done.returncode != 0
    assert len(messages(done)) == 1, done.stderr
    assert "CRESTA_ASYNC=yes: expected auto, thread or off" in done.stderr


def test_ranks_must_agree(build):
    done = run(build, "script", "allreduce=8", rank_env={1: {"CRESTA_ASYNC": "off"}})
    assert done.returncode != 0


REFUSED = [
    ("p2p", "off", "there is no progress thread that may call the MPI"),
    ("shm", "off", "there is no progress thread"),
]


@pytest.mark.parametrize("impl, helper, reason", REFUSED)
def test_a_begin_that_lacks_what_its_rule_asks_for_is_an_error(build, impl, helper, reason):
    env = {
        "CRESTA_IMPL": f"allreduce={impl}",
        "CRESTA_ASYNC": helper,
        "CRESTA_FALLBACK": "error",
    }
    done = run(build, "script", "allreduce=8", "begin=8", env=env)
    assert done.returncode != 0
    assert len(messages(done)) == 1, done.stderr
    assert "allreduce_begin" in done.stderr and reason in done.stderr


@pytest.mark.parametrize("impl", ["shm", "os?window=dynamic", "os?access=calls", "persist"])
def test_no_error_where_no_begin_has_more(build, impl):
    env = {"CRESTA_IMPL": f"allreduce={impl}", "CRESTA_FALLBACK": "error"}
    good(run(build, "script", "begin=8", "allreduce=8", "begin=8", env=env))


@pytest.mark.parametrize("helper, runs", [("thread", True), ("off", False)])
def test_the_non_blocking_calls_of_a_preloaded_program(build, helper, runs):
    env = {"CRESTA_IMPL": "*=p2p", "CRESTA_LOG": "info", "CRESTA_ASYNC": helper}
    words = ["p2p", "--mode", "nonblocking", "--sparse", "501"]
    done = good(run(build, "conformance_plain", *words, env=env, preload=True))
    assert any("split-phase: p2p runs" in line for line in messages(done)) == runs, done.stderr
