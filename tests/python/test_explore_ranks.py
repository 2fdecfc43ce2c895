# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll explore` of programs that are hard to explore, on real ranks; test_cli_explore.py has
stand-ins for them.
"""

import json

import pytest
from crestacoll_tools import schemas
from crestacoll_tools.builds import builds, machine

pytestmark = pytest.mark.quiet


NO_RHYTHM = 14


def explored(crestacoll, folder, name, kind, steps, budget, ranks=2, options=()):
    """The result for tests/mpi/plain_steps.c, with the build of an MPI, and options of its
    launcher. Where other programs leave it few steps, they may be too few.
    """
    build = next((b for b in builds.all_builds() if b.name == name), None)
    program = build and build.folder / "tests" / "bin" / "plain_steps"
    if build is None or not program.exists():
        pytest.skip(f"{name} is not built with tests")
    beyond = ["--oversubscribe"] if name == "openmpi" else []
    launch = [build.launcher, *beyond, *options, "-n", ranks]
    words = ["explore", "--budget", budget, "--output", "made", "--json", "made.json", "--"]
    ran = crestacoll(*words, *launch, program, steps, kind, **builds.clean_environment())
    if ran.returncode == NO_RHYTHM:
        lacks = ("too few steps in a run", "ends too soon", "shows no rhythm")
        assert any(words in ran.stderr for words in lacks), ran.stderr
        pytest.skip("too few steps in this time")
    assert ran.returncode == 0, ran.stderr + ran.stdout
    found = json.loads((folder / "made.json").read_text())
    assert schemas.problems("explore", found) == []
    return found


def test_an_arm_under_which_ranks_crash(crestacoll, tmp_path):
    """It leaves, and no other does; the rest are compared without it."""
    found = explored(crestacoll, tmp_path, "openmpi", "fragile", 400, "8s")
    failed = {a["name"] for a in found["arms"] if a["failed"]}
    if not failed and machine.is_shared(found["others"]):
        pytest.skip("other programs leave no time to come so far")
    assert failed == {"shm"}
    assert not any("shm" in r["implementation"] for r in found["rules"])


def test_communicators_of_each_step(crestacoll, tmp_path):
    found = explored(crestacoll, tmp_path, "mpich", "comms", 3000, "6s")
    assert found["verdict"] in ("faster", "not-faster", "undecided")
    assert not [a for a in found["arms"] if a["failed"]]
    assert {"alltoall", "allreduce"} <= {p["collective"] for p in found["points"]}


@pytest.mark.parametrize(("nodes", "races"), [("2x2", True), ("4", False)])
def test_a_program_on_several_nodes(crestacoll, tmp_path, nodes, races):
    """hier takes part there, and nowhere else."""
    options = ["-x", f"CRESTA_NODES={nodes}"]
    found = explored(crestacoll, tmp_path, "openmpi", "steps", 2000, "12s", 4, options)
    assert {p["nodes"] for p in found["points"]} == {2 if races else 1}
    tried = [rule for a in found["arms"] for rule in a["rules"]]
    assert any("=hier" in rule for rule in tried) == races
    assert any("=p2p" in rule for rule in tried)
