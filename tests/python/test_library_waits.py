# SPDX-License-Identifier: BSD-3-Clause
"""CRESTA_WAIT=auto: where the program's blocking calls wait politely."""

import os

import pytest
from library_runs import each_build, family_of, good, messages, run

CORES = os.cpu_count()
CROWDED = CORES + 1

pytestmark = [each_build, pytest.mark.skipif(CORES > 16, reason="more ranks than cores are many")]


@pytest.fixture(autouse=True)
def as_the_launcher_finds(monkeypatch):
    monkeypatch.delenv("OMPI_MCA_mpi_yield_when_idle", raising=False)


def said(build, ranks, **env):
    env = {"CRESTA_LOG": "info", **env}
    done = good(run(build, "script", "allreduce=8", ranks=ranks, env=env))
    return [line.split("wait ")[1] for line in messages(done) if "blocking calls" in line]


def test_an_mpi_that_yields_waits_itself(build):
    how = "as the MPI does" if family_of(build) == "openmpi" else "politely"
    assert said(build, CROWDED, CRESTA_WAIT="auto") == [f"{how} (CRESTA_WAIT)"]


def test_an_mpi_that_was_told_not_to_yield(build, monkeypatch):
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "0")
    assert said(build, CROWDED, CRESTA_WAIT="auto") == ["politely (CRESTA_WAIT)"]


@pytest.mark.parametrize("ranks", [1, CROWDED])
def test_as_told(build, ranks):
    crowded = ranks > len(os.sched_getaffinity(0))
    for value, how in [("polite", "politely"), ("mpi", "as the MPI does")]:
        expected = [f"{how} (CRESTA_WAIT)"] if crowded or value == "polite" else []
        assert said(build, ranks, CRESTA_WAIT=value) == expected
