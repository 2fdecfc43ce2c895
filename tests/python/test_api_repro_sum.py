# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll.repro_sum: the same bits on any number of ranks, those of the rational sum."""

from api_runs import HERE, good, launch

ALL = (1, 2, 3, 4, 5, 8)


def test_repro_sum(build, tmp_path):
    """The program compares each sum with that of fractions.Fraction; one launch for all numbers of
    ranks."""
    # The ranks of MPICH hold the cores: more of them than cores with Open MPI only.
    asked = [ranks for ranks in ALL if build.family == "openmpi" or ranks <= 3]
    done = good(launch(build, tmp_path, HERE / "api_repro_sum.py", *asked, ranks=asked[-1]))
    _, *parts = done.stdout.split("ranks ")
    of = {int(part.split("\n")[0]): part.split("\n")[1:] for part in parts}
    assert list(of) == asked and of[1][0].startswith("condition 1e") and len(of[1]) > 13
    for ranks in asked:
        assert of[ranks] == of[1], ranks
