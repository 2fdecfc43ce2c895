# SPDX-License-Identifier: BSD-3-Clause
"""A communicator whose collectives crestacoll runs. Its import needs mpi4py, and initializes MPI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

from mpi4py import MPI

from crestacoll import _memory, _native, _repro_sum, _services

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from crestacoll._native import Collectives
else:
    Collectives = MPI.Intracomm


class Comm(Collectives):
    """An intracommunicator of mpi4py whose seventeen collectives crestacoll runs.

    >>> comm = crestacoll.Comm(MPI.COMM_WORLD)
    >>> comm.set_impl("allreduce=p2p")
    >>> total = np.zeros(1)
    >>> comm.Allreduce(np.ones(1), total)
    >>> total[0] == comm.size
    np.True_

    Comm(comm) is another name for the communicator `comm`, not a duplicate: free one of them. Every
    method is mpi4py's, but for the collectives with buffers, which are crestacoll's functions of
    the same name; and there are x_begin besides. Dup() and Split() give communicators of mpi4py.

    All ranks of a communicator call its collectives through crestacoll, or none.
    """

    def set_impl(self, spec: str) -> None:
        """crestacoll.set_impl on this communicator."""
        _services.set_impl(self, spec)

    def prepare(self) -> None:
        """crestacoll.prepare on this communicator."""
        _services.prepare(self)

    def alloc_mem(
        self, shape: SupportsIndex | Sequence[SupportsIndex], dtype: npt.DTypeLike = float
    ) -> np.ndarray[Any, Any]:
        """crestacoll.alloc_mem on this communicator."""
        return _memory.alloc_mem(self, shape, dtype)

    def repro_sum(self, array: npt.ArrayLike) -> Any:
        """crestacoll.repro_sum on this communicator."""
        return _repro_sum.repro_sum(array, self)


_native.add_methods(Comm)
