# SPDX-License-Identifier: BSD-3-Clause
"""The program's own last lines, apart from what launchers print around them."""

import pytest
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.explore import reasons, runs
from crestacoll_tools.launch import lastwords

pytestmark = pytest.mark.by_turns

RULE = "-" * 74
FAILED = "2 total processes failed to start\n"  # on standard output
NOT_THERE = f"""{RULE}
mpirun.openmpi was unable to launch the specified application as it could not access
or execute an executable:

Executable: ./nothere
Node: vm

while attempting to start process rank 0.
{RULE}
"""
SLOTS = f"""{RULE}
There are not enough slots available in the system to satisfy the 200
slots that were requested by the application:
{RULE}
"""
HYDRA = "[proxy:0:0@vm] HYDU_create_process (x.c:73): execvp error on file ./a (No such file)\n"
CRASH = f"""step 3: residual is nan
[vm:09514] *** Process received signal ***
[vm:09514] Signal: Segmentation fault (11)
[vm:09514] Signal code: Address not mapped (1)
[vm:09514] [ 0] /lib/x86_64-linux-gnu/libc.so.6(+0x3c050)[0x7f27abbac050]
[vm:09514] *** End of error message ***
{RULE}
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
{RULE}
{RULE}
mpirun.openmpi noticed that process rank 1 with PID 0 on node vm exited on signal 11.
{RULE}
"""
MPICH_CRASH = """cannot read input.dat
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   EXIT CODE: 139
===================================================================================
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)
This typically refers to a problem with your application.
Please see the FAQ page for debugging suggestions
"""
OWN_LINES = f"{RULE}\nsolver of my own\n{RULE}\nno convergence\n"


def ended(folder, stderr, code, stdout="", loaded=True):
    (folder / "stderr").write_text(stderr)
    (folder / "stdout").write_text(stdout)
    if loaded:
        (folder / "loaded").write_text("0.1.0\n")
    return runs.Ended(code, 1.0, "ended", folder)


@pytest.mark.parametrize(
    "stderr, own",
    [
        (CRASH, ["step 3: residual is nan"]),
        (MPICH_CRASH, ["cannot read input.dat"]),
        (OWN_LINES, [RULE, "solver of my own", RULE, "no convergence"]),
        (f"{RULE}\nbegin\n{CRASH}", [RULE, "begin", "step 3: residual is nan"]),
        ("*** An error occurred in MPI_Bcast\n", ["*** An error occurred in MPI_Bcast"]),
    ],
)
def test_the_program_itself_is_heard(stderr, own):
    assert lastwords.split(stderr)[0] == own


def test_what_went_to_standard_output_counts_if_nothing_else_does(tmp_path):
    said = ended(tmp_path, MPICH_CRASH.partition("\n")[2], 139, "no such mesh\n").said()
    assert said.startswith("no such mesh\n") and str(tmp_path / "stderr") in said
    assert ended(tmp_path, "", 3).said().startswith("(it printed nothing)")


@pytest.mark.parametrize(
    "stderr, code, exit_code",
    [(NOT_THERE, 132, 127), (HYDRA, 255, 127), (SLOTS, 1, 125)],
)
def test_a_launcher_that_starts_nothing(stderr, code, exit_code, tmp_path):
    """Its exit code may be that of a signal."""
    with pytest.raises(Problem, match="could not start the program") as found:
        reasons.judge_plain(ended(tmp_path, stderr, code, FAILED, loaded=False), 10)
    assert found.value.exit_code == exit_code and "SIG" not in found.value.message


def test_a_crash_before_mpi_init_is_a_crash(tmp_path):
    with pytest.raises(Problem, match="was ended by SIGSEGV") as found:
        reasons.judge_plain(ended(tmp_path, CRASH.partition("\n")[2], 139, loaded=False), 10)
    assert found.value.exit_code == reasons.CRASHED


def test_settings_that_crestacoll_refuses_are_its_own_affair(tmp_path):
    said = "crestacoll: CRESTA_IMPL=@/x/rules: cannot read this file: No such file or directory\n"
    with pytest.raises(Problem, match="CRESTA_IMPL=@/x/rules: cannot read") as found:
        reasons.need_settings(ended(tmp_path, said, 2, loaded=False))
    assert found.value.exit_code == 125
    reasons.need_settings(ended(tmp_path, said, 2))  # it ran, and failed later
