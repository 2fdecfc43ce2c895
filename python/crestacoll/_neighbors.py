# SPDX-License-Identifier: BSD-3-Clause
"""Reductions over the neighbours of a topology, which no MPI has."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from crestacoll import _calls, _native
from crestacoll._exchange import _begin
from crestacoll._recording import Recording

if TYPE_CHECKING:
    from crestacoll._calls import Array
    from mpi4py.MPI import InPlaceType, Op, Topocomm


def _arguments(
    name: str, comm: Topocomm, sendbuf: Array | InPlaceType, recvbuf: Array, op: Op | None
) -> tuple[tuple[Any, ...], tuple[object, ...]]:
    """What the library gets, and what has to stay."""
    from mpi4py import MPI

    where = _calls.intracomm(comm)
    if not isinstance(comm, MPI.Topocomm):
        raise TypeError(f"{name}: expected a communicator of mpi4py with a topology")
    into = _calls.array_of(recvbuf, f"{name}: recvbuf", writable=True)
    sends_one = not name.startswith("Neighbor_alltoall")
    reduction = MPI.SUM if op is None else op
    if sends_one and sendbuf is MPI.IN_PLACE:
        at = ctypes.c_void_p(int(MPI.IN_PLACE) % 2**64)
    else:
        sent = _calls.array_of(sendbuf, f"{name}: sendbuf")
        size = into.size if sends_one else into.size * comm.outdegree
        if sent.size != size or sent.dtype != into.dtype:
            raise ValueError(
                f"{name}: expected {size} elements of {into.dtype} in sendbuf, got {sent.size} of"
                f" {sent.dtype}"
            )
        at = _calls.at(sent)
    datatype = _calls.handle(_calls.datatype_of(into.dtype, numbers=True))
    given = (at, _calls.at(into), _calls.int_of(into.size), datatype, _calls.handle(reduction))
    kept = (sendbuf, into, reduction)
    return (*given, where), kept


def _call(
    name: str, comm: Topocomm, sendbuf: Array | InPlaceType, recvbuf: Array, op: Op | None
) -> None:
    given, kept = _arguments(name, comm, sendbuf, recvbuf, op)
    _native.keep_this(kept)
    _calls.call(f"CRESTA_{name}", *given)


def _request(
    name: str, comm: Topocomm, sendbuf: Array | InPlaceType, recvbuf: Array, op: Op | None
) -> _native.Request:
    given, kept = _arguments(name, comm, sendbuf, recvbuf, op)
    return _begin(f"CRESTA_{name}_begin", *given, keep=kept)


def _recording(
    name: str, comm: Topocomm, sendbuf: Array | InPlaceType, recvbuf: Array, op: Op | None
) -> Recording:
    given, kept = _arguments(name, comm, sendbuf, recvbuf, op)
    made = Recording()
    _calls.call(f"CRESTA_{name}_init", *given, ctypes.byref(made._handle))
    made._kept.append(kept)
    return made


def Neighbor_reduce(
    comm: Topocomm, sendbuf: Array | InPlaceType, recvbuf: Array, op: Op | None = None
) -> None:
    """The reduction of what the sources of this rank send: the same to all their destinations.

    >>> ring = MPI.COMM_WORLD.Create_cart([MPI.COMM_WORLD.size], [True])
    >>> total = np.zeros(1)
    >>> crestacoll.Neighbor_reduce(ring, np.ones(1), total)
    >>> total.tolist()
    [2.0]

    comm     a communicator of mpi4py with a topology (Cartcomm, Graphcomm, Distgraphcomm)
    sendbuf  an array of numpy without gaps, as long as recvbuf and of its dtype; MPI.IN_PLACE: what
             is sent lies in recvbuf
    recvbuf  stays as it is on a rank without sources
    op       MPI.SUM by default; those of MPI and of the program

    In the order of the list of sources, from the left (docs/neighbours.md).
    Raises TypeError, ValueError for wrong arguments, MPI.Exception for what the MPI finds.
    """
    _call("Neighbor_reduce", comm, sendbuf, recvbuf, op)


def Neighbor_reduce_begin(
    comm: Topocomm, sendbuf: Array | InPlaceType, recvbuf: Array, op: Op | None = None
) -> _native.Request:
    """Begins a Neighbor_reduce; returns a Request. The first on a communicator waits for all."""
    return _request("Neighbor_reduce", comm, sendbuf, recvbuf, op)


def Neighbor_reduce_init(
    comm: Topocomm, sendbuf: Array | InPlaceType, recvbuf: Array, op: Op | None = None
) -> Recording:
    """Makes a persistent Neighbor_reduce: a Recording of the one call, which has not run.

    Collective over `comm`.
    """
    return _recording("Neighbor_reduce", comm, sendbuf, recvbuf, op)


def Neighbor_alltoall_reduce(
    comm: Topocomm, sendbuf: Array, recvbuf: Array, op: Op | None = None
) -> None:
    """The reduction of what the sources of this rank send to it: to each destination a block.

    Arguments are those of Neighbor_reduce; sendbuf has a block as long as recvbuf for each
    destination.
    """
    _call("Neighbor_alltoall_reduce", comm, sendbuf, recvbuf, op)


def Neighbor_alltoall_reduce_begin(
    comm: Topocomm, sendbuf: Array, recvbuf: Array, op: Op | None = None
) -> _native.Request:
    """Begins a Neighbor_alltoall_reduce; returns a Request."""
    return _request("Neighbor_alltoall_reduce", comm, sendbuf, recvbuf, op)


def Neighbor_alltoall_reduce_init(
    comm: Topocomm, sendbuf: Array, recvbuf: Array, op: Op | None = None
) -> Recording:
    """Makes a persistent Neighbor_alltoall_reduce: a Recording, as Neighbor_reduce_init."""
    return _recording("Neighbor_alltoall_reduce", comm, sendbuf, recvbuf, op)
