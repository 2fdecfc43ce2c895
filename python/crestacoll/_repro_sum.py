# SPDX-License-Identifier: BSD-3-Clause
"""Sums of distributed arrays whose bits do not depend on how they are distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crestacoll import _native
from crestacoll._services import handle

if TYPE_CHECKING:
    import numpy.typing as npt
    from mpi4py.MPI import Comm

_TYPES = {
    "f": "FLOAT",
    "d": "DOUBLE",
    "g": "LONG_DOUBLE",
    "F": "C_FLOAT_COMPLEX",
    "D": "C_DOUBLE_COMPLEX",
    "G": "C_LONG_DOUBLE_COMPLEX",
}


def repro_sum(array: npt.ArrayLike, comm: Comm) -> Any:
    """The exact sum of the arrays of all ranks, rounded once, on every rank.

    >>> crestacoll.repro_sum([1e20, 1.0, -1e20], MPI.COMM_SELF)
    np.float64(1.0)

    array  of floating-point or complex numbers, of any shape, also none; its type is the same on
           all ranks, its size need not be
    comm   an intracommunicator of mpi4py; the call is collective over it

    The bits are the same for any number of ranks, and whichever of them have which numbers.
    The result is a scalar of numpy, of the type of the array.
    Raises TypeError for numbers of another type (integers, float16), MPI.Exception of class
    MPI.ERR_COMM for an intercommunicator. docs/trust.md says what infinities, NaN and zeros
    come to.
    """
    import numpy as np

    comm_handle = handle(comm)
    from mpi4py import MPI

    mpi: Any = MPI
    numbers = np.asarray(array)
    numbers = np.ascontiguousarray(numbers, dtype=numbers.dtype.newbyteorder("="))
    name = _TYPES.get(numbers.dtype.char)
    if name is None:
        raise TypeError(f"repro_sum: cannot sum exactly numbers of type {numbers.dtype}")
    result: Any = np.zeros(1, numbers.dtype)
    datatype = mpi._handleof(getattr(MPI, name)) % 2**64
    at = numbers.ctypes.data
    _native.repro_sum(at, numbers.size, datatype, result.ctypes.data, comm_handle)
    return result[0]
