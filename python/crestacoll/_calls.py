# SPDX-License-Identifier: BSD-3-Clause
"""Calls of the library that mpi4py has no method for: arguments, handles, errors."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from crestacoll import _native
from crestacoll._link import link

if TYPE_CHECKING:
    import numpy as np
    from mpi4py import MPI

    Array: TypeAlias = np.ndarray[Any, Any]
    # An array of equal blocks; or an array with the counts of its blocks, and where they begin.
    Blocks: TypeAlias = (
        Array
        | tuple[Array, Sequence[int]]
        | tuple[Array, Sequence[int], Sequence[int]]
    )

# Elements of numpy that every MPI knows; for others mpi4py may have handles that are none.
KNOWN = "?bBhHiIlLqQfdgFDG"

_functions: dict[str, Any] = {}
_byte_types: dict[int, MPI.Datatype] = {}


def call(name: str, *arguments: Any) -> None:
    """Calls `name`; arguments are objects of ctypes. Other threads of Python run meanwhile.

    Raises MPI.Exception, RuntimeError if the library is an older one.
    """
    link()
    function = _functions.get(name)
    if function is None:
        function = _functions[name] = ctypes.CFUNCTYPE(ctypes.c_int)(_native.address_of(name))
    code = function(*arguments)
    if code != 0:
        from mpi4py import MPI

        raise MPI.Exception(code)


def handle(thing: MPI.Comm | MPI.Datatype | MPI.Op | MPI.Request) -> Any:
    """The MPI's handle of an object of mpi4py, to be passed by value."""
    from mpi4py import MPI

    mpi: Any = MPI
    ints = mpi._sizeof(MPI.COMM_SELF) == ctypes.sizeof(ctypes.c_int)
    return (ctypes.c_int if ints else ctypes.c_void_p)(mpi._handleof(thing))


def address_of_handle(thing: MPI.Request) -> Any:
    """Where an object of mpi4py has its handle, to be written by a call."""
    from mpi4py import MPI

    mpi: Any = MPI
    return ctypes.c_void_p(mpi._addressof(thing))


def intracomm(comm: MPI.Comm) -> Any:
    """The handle of an intracommunicator of mpi4py; raises TypeError for anything else."""
    link()
    from mpi4py import MPI

    if not isinstance(comm, MPI.Intracomm):
        raise TypeError(f"expected an intracommunicator of mpi4py, got {type(comm).__name__}")
    return handle(comm)


INT_MAX = 2**31 - 1


def int_of(number: int) -> Any:
    """A C int; raises ValueError for a number that is none, which ctypes would cut."""
    if not -INT_MAX <= number <= INT_MAX:
        raise ValueError(f"{number} elements: the call counts at most {INT_MAX}")
    return ctypes.c_int(number)


def ints(numbers: Sequence[int]) -> Any:
    """An array of C ints; raises ValueError as int_of does."""
    for number in numbers:
        int_of(number)
    return (ctypes.c_int * max(len(numbers), 1))(*numbers)


def array_of(buffer: Any, name: str, writable: bool = False) -> Array:
    """`buffer`, if it is an array of numpy without gaps; raises TypeError or ValueError if not."""
    import numpy as np

    if not isinstance(buffer, np.ndarray):
        raise TypeError(f"{name}: expected an array of numpy, got {type(buffer).__name__}")
    if not buffer.flags.c_contiguous and not buffer.flags.f_contiguous:
        raise ValueError(f"{name}: the array is not contiguous")
    if writable and not buffer.flags.writeable:
        raise ValueError(f"{name}: the array is read-only")
    if buffer.dtype.hasobject:
        raise ValueError(f"{name}: Python objects cannot be sent")
    return buffer


def at(array: Array) -> Any:
    """The address of an array."""
    return ctypes.c_void_p(array.ctypes.data)


def datatype_of(dtype: np.dtype[Any], numbers: bool = False) -> MPI.Datatype:
    """The MPI's datatype for elements of an array; bytes for those that MPI does not know.

    Raises TypeError for these if they have to be `numbers`.
    """
    from mpi4py import MPI

    mpi: Any = MPI
    if dtype.isnative and dtype.char in KNOWN:
        found: MPI.Datatype = mpi._typedict[dtype.char]
        return found
    if numbers:
        raise TypeError(f"MPI has no datatype for elements of {dtype}")
    if dtype.itemsize not in _byte_types:
        _byte_types[dtype.itemsize] = MPI.BYTE.Create_contiguous(dtype.itemsize).Commit()
    return _byte_types[dtype.itemsize]


def blocks_of(blocks: Blocks, n: int, name: str) -> tuple[Array, list[int], list[int]]:
    """The array, counts and displacements of `n` blocks; raises ValueError if they do not fit."""
    parts = blocks if isinstance(blocks, (tuple, list)) else (blocks,)
    array = array_of(parts[0], name)
    if len(parts) > 1:
        counts = [int(count) for count in parts[1]]
    elif n > 0 and array.size % n == 0:
        counts = [array.size // n] * n
    elif n == 0:
        counts = []
    else:
        raise ValueError(f"{name}: {array.size} elements are not {n} equal blocks; give counts")
    if len(parts) > 2:
        displs = [int(d) for d in parts[2]]
    else:
        displs = [sum(counts[:i]) for i in range(len(counts))]
    if len(counts) != n or len(displs) != n:
        raise ValueError(
            f"{name}: {len(counts)} counts and {len(displs)} places, and not {n} of each"
        )
    for count, displ in zip(counts, displs, strict=True):
        if count < 0 or displ < 0 or displ + count > array.size:
            raise ValueError(f"{name}: {count} elements at {displ} are not in {array.size}")
    return array, counts, displs


def ranks_of(ranks: Sequence[int], comm: MPI.Comm, name: str) -> list[int]:
    """Ranks of a communicator, or MPI.PROC_NULL; raises ValueError for others."""
    from mpi4py import MPI

    found = [int(rank) for rank in ranks]
    for rank in found:
        if rank != MPI.PROC_NULL and not 0 <= rank < comm.size:
            raise ValueError(f"{name}: {rank} is not a rank: the communicator has {comm.size}")
    return found
