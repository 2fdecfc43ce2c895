# SPDX-License-Identifier: BSD-3-Clause
"""The preload library sees every collective once, from C and the three Fortran bindings."""

import os
import subprocess

import pytest
from library_runs import COLLECTIVES, TIMEOUT, cached, each_build, good, profiled, run

pytestmark = [each_build, pytest.mark.by_turns]
FORTRAN = ["mpif", "usempi", "f08"]


def counted(records, communicator):
    """{(collective, mode): calls} on a communicator."""
    calls = {}
    for record in records:
        if record["communicator"] == communicator:
            key = record["collective"], record["mode"]
            calls[key] = calls.get(key, 0) + record["calls"]
    return calls


@pytest.mark.parametrize("spec", ["*=mpi", "*=nonblock"])
def test_c(build, tmp_path, spec):
    made = good(run(build, "each_once")).stdout.split("made:")[1].split("\n")[0]
    records = profiled(build, tmp_path, "each_once", preload=True, env={"CRESTA_IMPL": spec})
    expected = {
        (collective, mode): sum(
            mode in made_mode.split() or (mode == "blocking" and made_mode == " large")
            for made_mode in made.split(";")
        )
        for collective in COLLECTIVES
        for mode in ("blocking", "nonblocking", "persistent")
    }
    assert counted(records, "once") == {key: calls for key, calls in expected.items() if calls}


@pytest.mark.parametrize("spec", ["*=mpi", "*=nonblock", "*=persist"])
@pytest.mark.parametrize("binding", FORTRAN)
@pytest.mark.parametrize("ranks", [1, 3])
def test_fortran(build, tmp_path, binding, spec, ranks):
    program = f"fortran_{binding}"
    if not (build / "tests" / "bin" / program).exists():
        pytest.skip("this MPI has no Fortran here")
    records = profiled(
        build, tmp_path, program, preload=True, ranks=ranks, env={"CRESTA_IMPL": spec}
    )
    expected = {
        (collective, mode): 1
        for collective in COLLECTIVES
        for mode in ("blocking", "nonblocking", "persistent")
    }
    assert counted(records, "once") == expected
    used = {
        record["implementation"]
        for record in records
        if record["mode"] == "blocking" and record["communicator"] == "once"
    }
    assert spec.split("=")[1] in used


@pytest.mark.parametrize(
    "command",
    [["/bin/true"], ["bash", "-c", "ls / | cat > /dev/null; exit 3"], ["python3", "-c", ""]],
)
def test_a_process_without_mpi(build, command):
    preload = str(next((build / "lib").glob("libcrestacoll-preload.so")))
    env = {
        **os.environ,
        "LD_PRELOAD": preload,
        "CRESTA_IMPL": "nonsense",
        "CRESTA_PROFILE": "/does/not/exist",
    }
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert done.returncode == (3 if command[0] == "bash" else 0), done.stderr
    assert done.stdout == "" and done.stderr == ""


def test_the_launcher_under_the_preload_library(build):
    """A plain LD_PRELOAD enters mpiexec as well: it must still launch."""
    preload = str(next((build / "lib").glob("libcrestacoll-preload.so")))
    env = {
        **os.environ,
        "LD_PRELOAD": preload,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    done = subprocess.run(
        [
            cached(build, "MPIEXEC_EXECUTABLE"),
            "-n",
            "1",
            str(build / "tests" / "bin" / "each_once"),
        ],
        env=env,
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
