# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll.repro_sum: the same bits on any number of ranks, those of the rational sum."""

from api_runs import HERE, good, launch

MORE = (2, 3, 4, 5, 8)


def sums(build, folder, ranks):
    return good(launch(build, folder, HERE / "api_repro_sum.py", ranks=ranks)).stdout


def test_repro_sum(build, tmp_path):
    """The program compares each sum with that of fractions.Fraction."""
    one = sums(build, tmp_path, 1)
    assert "condition 1e" in one
    for ranks in MORE:
        # The ranks of MPICH hold the cores: more of them than cores with Open MPI only.
        if build.family == "openmpi" or ranks <= 3:
            assert sums(build, tmp_path, ranks) == one, ranks
