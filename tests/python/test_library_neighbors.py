# SPDX-License-Identifier: BSD-3-Clause
"""Neighbourhood collectives of a plain program, under the preload library: what rules replace where
the MPI is wrong, and what is said.

`mpi_bugs neighbors_grid` calls each in each way on a grid with periodic dimensions of 1 and 2, and
names those that are wrong."""

import re

import pytest
from library_runs import each_build, library_of, messages, run

IDLE_BUT_FOR_NEIGHBORS = ["neighbor_*=auto", "*=mpi,neighbor_*=auto"]

pytestmark = each_build


def played(build, spec=None, ranks=2):
    """The wrong calls, as (name, way), and the messages of crestacoll."""
    env = {"CRESTA_IMPL": spec} if spec else {}
    done = run(build, "mpi_bugs", "neighbors_grid", ranks=ranks, env=env, preload=True)
    assert "neighbors_grid, rank 0" in done.stdout, done.stdout + done.stderr
    wrong = set(re.findall(r"^(neighbor_\w+), ([\w-]+), on a grid", done.stdout, re.M))
    return wrong, messages(done)


def defective(build, blocking):
    """Whether this MPI is known to be wrong there."""
    library = library_of(build)
    mpich = re.match(r"MPICH Version: (\d+)", library)
    old = mpich is not None and int(mpich[1]) < 5
    old = old or library.startswith(("Intel(R) MPI", "MVAPICH"))
    return old or (library.startswith("Open MPI") and not blocking)


def blocking_of(wrong):
    return {name for name, way in wrong if way == "blocking"}


@pytest.mark.parametrize("spec", [None, "*=nonblock", "allreduce=shm,*=auto"])
def test_without_a_rule_nothing_is_replaced_or_said(build, spec):
    wrong, said = played(build, spec)
    assert bool(blocking_of(wrong)) == defective(build, True)
    assert bool(wrong) == defective(build, False)
    assert said == []


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    "spec", ["neighbor_*=p2p", "neighbor_*=shm", "neighbor_*=auto", "auto", "neighbor_*=nonblock"]
)
def test_rules_replace_what_is_wrong_with_one_warning(build, spec, ranks):
    wrong, said = played(build, spec, ranks)
    assert blocking_of(wrong) == set()
    warnings = [line for line in said if "mixes up blocks" in line and "runs as" in line]
    assert len(warnings) == int(defective(build, False)), said


def test_a_rule_for_mpi_runs_it_and_says_what_is_wrong(build):
    wrong, said = played(build, "neighbor_*=mpi,allreduce=shm")
    assert bool(blocking_of(wrong)) == defective(build, True)
    assert len(said) == int(defective(build, False)), said
    assert ("which is wrong" in "".join(said)) == defective(build, True)


@pytest.mark.parametrize("spec", IDLE_BUT_FOR_NEIGHBORS)
def test_auto_asks_ranks_nothing_before_a_neighborhood_collective(build, spec):
    done = run(build, "nearby", "calls", "idle", env={"CRESTA_IMPL": spec})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("spec", ["neighbor_*=p2p", "neighbor_*=auto", "*=p2p,neighbor_*=p2p"])
@pytest.mark.parametrize("what", ["quiet", "calls", "begins"])
def test_a_topology_is_warned_of_when_a_neighborhood_collective_is_called(build, spec, what):
    done = run(build, "nearby", what, env={"CRESTA_IMPL": spec})
    assert done.returncode == 0, done.stdout + done.stderr
    warnings = [line for line in messages(done) if "mixes up blocks" in line]
    assert len(warnings) == int(what != "quiet" and defective(build, False)), done.stderr
