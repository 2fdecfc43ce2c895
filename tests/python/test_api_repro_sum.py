# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll.repro_sum: the same bits on any number of ranks, those of the rational sum."""

import functools

import pytest

from api_runs import HERE, good, launch

RANKS = (1, 2, 3, 4, 5, 8)


@functools.cache
def sums(build, folder, ranks):
    return good(launch(build, folder, HERE / "api_repro_sum.py", ranks=ranks)).stdout


@pytest.mark.parametrize("ranks", RANKS)
def test_repro_sum(build, tmp_path_factory, ranks):
    """The program compares each sum with that of fractions.Fraction."""
    few = build.family == "openmpi" or ranks <= 3  # the ranks of MPICH hold the cores
    if not few:
        pytest.skip("more ranks than cores: with Open MPI only")
    folder = tmp_path_factory.getbasetemp()
    out = sums(build, folder, ranks)
    assert "condition 1e" in out
    assert out == sums(build, folder, 1)
