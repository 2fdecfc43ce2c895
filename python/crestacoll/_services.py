# SPDX-License-Identifier: BSD-3-Clause
"""What chooses implementations, and what makes them ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crestacoll import _native
from crestacoll._link import link

if TYPE_CHECKING:
    from mpi4py.MPI import Comm


def handle(comm: Comm) -> int:
    """The MPI's handle of a communicator, as an unsigned number; links crestacoll first."""
    link()
    from mpi4py import MPI

    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"expected a communicator of mpi4py, got {type(comm).__name__}")
    mpi: Any = MPI
    value: int = mpi._handleof(comm)
    return value % 2**64


def set_impl(comm: Comm, spec: str) -> None:
    """Chooses implementations for the calls of crestacoll on `comm` that follow.

    >>> crestacoll.set_impl(MPI.COMM_WORLD, "alltoall[64K-inf]=p2p,allreduce=shm")

    comm  an intracommunicator of mpi4py; the call is collective over it
    spec  rules as in docs/choosing.md, such as "alltoall[4K-1M]=p2p,allreduce=shm"; equal on all
          ranks. They replace those of an earlier call; "" takes them back

    The user's CRESTA_IMPL goes before these rules. Under `crestacoll run`, or after preload(), they
    hold for mpi4py's own methods too.
    Raises MPI.Exception, of class MPI.ERR_ARG, on every rank if the rules are wrong or differ (rank
    0 says what is wrong on stderr), of class MPI.ERR_COMM for an intercommunicator.
    """
    _native.set_impl(handle(comm), spec)


def prepare(comm: Comm) -> None:
    """Makes what crestacoll keeps about `comm` now, not in its first collective.

    >>> crestacoll.prepare(MPI.COMM_WORLD)

    Collective over `comm`. Without it, and without set_impl, the first x_begin on a communicator
    run the MPI's own non-blocking collectives (docs/split-phase.md).
    """
    _native.prepare(handle(comm))


def repair(comm: Comm) -> Comm:
    """A communicator of the ranks of `comm` that are left after a process has failed.

    >>> comm = crestacoll.repair(comm)  # doctest: +SKIP

    Collective over these ranks: the new communicator has their order, the name and the error
    handler of `comm`, which is revoked, and left to the caller to free (docs/failures.md).
    Raises MPI.Exception, of class MPI.ERR_UNSUPPORTED_OPERATION, where the MPI cannot go on after a
    failure: that takes Open MPI 5 and `mpirun --with-ft ulfm`.
    """
    made = _native.repair(handle(comm))
    from mpi4py import MPI

    return MPI.Intracomm.fromhandle(made)


def progress() -> None:
    """Progresses collectives that have begun, and returns at once.

    >>> with crestacoll.Barrier_begin(MPI.COMM_WORLD):
    ...     crestacoll.progress()

    Call it now and then in a long computation if there is no progress thread: docs/split-phase.md.
    """
    _native.progress()
