# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in memory that ranks share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

from crestacoll import _native
from crestacoll._services import handle

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from mpi4py.MPI import Comm

_given: set[int] = set()  # addresses of arrays that are not freed


def alloc_mem(
    comm: Comm, shape: SupportsIndex | Sequence[SupportsIndex], dtype: npt.DTypeLike = float
) -> np.ndarray[Any, Any]:
    """An array of zeros in memory that the ranks of `comm` on one node share.

    >>> array = crestacoll.alloc_mem(MPI.COMM_WORLD, (2, 3), "f4")
    >>> array.shape, array.sum()
    ((2, 3), np.float32(0.0))
    >>> crestacoll.free_mem(array)

    comm   an intracommunicator of mpi4py; the call is collective over it
    shape  of this rank's array; ranks may give different ones
    dtype  of its elements, which must not be Python objects

    In collectives on `comm` that shm runs, large data that lie there are read by other ranks
    without a copy in between. Where ranks share no memory, it is ordinary memory. It stays until
    free_mem, also after the communicator is freed. No MPI call reads other ranks' arrays through
    it: a rank sees its own.
    Raises MPI.Exception for an intercommunicator, or without memory; ValueError for a wrong shape.
    """
    import numpy as np

    lengths = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    element = np.dtype(dtype)
    if element.hasobject or any(int(n) < 0 for n in lengths):
        raise ValueError(f"alloc_mem: cannot make an array of shape {shape} of {element}")
    count = math.prod(int(n) for n in lengths)
    memory = _native.alloc_mem(handle(comm), max(count * element.itemsize, 1))
    array: np.ndarray[Any, Any] = np.ndarray(lengths, element, buffer=memory)
    _given.add(_address(array))
    return array


def free_mem(array: np.ndarray[Any, Any]) -> None:
    """Gives back the memory of an array that alloc_mem gave.

    The array, and every view of it, must not be used afterwards: its memory is gone. All ranks of
    the communicator free theirs before any of them asks for new memory on it.
    Raises ValueError for any other array, also for a view that begins elsewhere.
    """
    address = _address(array)
    if address not in _given:
        raise ValueError("free_mem: not an array of alloc_mem, or freed before")
    _given.remove(address)
    _native.free_mem(address)


def _address(array: np.ndarray[Any, Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
