# SPDX-License-Identifier: BSD-3-Clause
"""Names of the places of calls, by what the symbols of compilers are."""

import pytest
from crestacoll_tools.profile import sites

SYMBOLS = [
    ("main", "main"),
    ("solve(double*)", "solve(double*)"),
    ("MAIN__", "MAIN__"),
    ("exchange_", "exchange_"),
    ("__fft_grid_MOD_exchange", "fft_grid::exchange"),
    ("__fft_grid_MOD_reduce_all.constprop.0", "fft_grid::reduce_all"),
    ("fft_grid_mp_exchange_", "fft_grid::exchange"),
    ("_QMfft_gridPexchange", "fft_grid::exchange"),
    ("step.isra.0.cold", "step"),
    ("a.part.of", "a.part.of"),
    ("??", ""),
]


@pytest.mark.parametrize(("symbol", "name"), SYMBOLS)
def test_the_name_of_a_function_is_that_of_the_source(symbol, name):
    places = sites.Places([{"path": "/opt/app", "build_id": None}])
    places.known[(0, 16)] = (symbol, "/src/transpose.f90", 120)
    assert places.name([0, 16]) == f"transpose.f90:120 {name}".strip()


def test_what_cython_makes_is_a_name_of_python():
    assert sites.by_cython("__pyx_pw_6mpi4py_3MPI_4Comm_5Send") is not None
    assert sites.by_cython("main") is None
