# SPDX-License-Identifier: BSD-3-Clause
"""Sends to lists of ranks, again and again."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from crestacoll import _calls

if TYPE_CHECKING:
    from crestacoll._calls import Array, Blocks
    from mpi4py.MPI import Comm

_ARRIVED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)


_under_way: set[Multisend] = set()  # their arrays must stay, also of those that were dropped


class Multisend:
    """What Multicast and Manytomany make: started again and again, each time with the data of then.

    start() sends what lies in the send buffer, wait() ends it. In between some() tells what has
    come. As a context manager it is one start and its wait; free() it at the end.
    """

    def __init__(
        self,
        name: str,
        comm: Comm,
        sends: tuple[Any, ...],
        into: tuple[Array, list[int], list[int]],
        sources: list[int],
        kept: tuple[object, ...],
    ) -> None:
        self._handle = ctypes.c_void_p()
        self._kept = (*kept, into[0])
        self._arrived: list[int] = []
        self._told = 0
        self._expected = 0
        self._comes = sum(1 for rank in sources if rank >= 0)
        array, counts, displs = into
        _calls.call(
            name, *sends, _calls.at(array), _calls.ints(counts), _calls.ints(displs),
            ctypes.c_int(len(sources)), _calls.ints(sources),
            _calls.handle(_calls.datatype_of(array.dtype)), _calls.intracomm(comm),
            ctypes.byref(self._handle),
        )  # fmt: skip
        # A call-back of the instance would keep it alive for ever.
        arrived = self._arrived
        self._call_back = _ARRIVED(lambda context, i, source, data: arrived.append(i))
        _calls.call("CRESTA_Multisend_notify", self._handle, self._call_back, None, None)

    def start(self) -> None:
        """Sends. Local: it waits for nobody. Until the end the send buffer must not be written.

        Raises MPI.Exception of class MPI.ERR_REQUEST if it is under way.
        """
        _calls.call("CRESTA_Multisend_start", self._handle)
        _under_way.add(self)
        self._arrived.clear()
        self._told = 0
        self._expected = self._comes

    def wait(self) -> None:
        """Waits until all has come and the send buffer may be written.

        Other threads of Python run meanwhile. Nothing where it is not under way.
        """
        _calls.call("CRESTA_Multisend_wait", self._handle)
        _under_way.discard(self)

    def test(self) -> bool:
        """Whether it is complete. Does not wait."""
        over = ctypes.c_int()
        _calls.call("CRESTA_Multisend_test", self._handle, ctypes.byref(over))
        if over.value:
            _under_way.discard(self)
        return bool(over.value)

    def testsome(self) -> list[int] | None:
        """Like some(), but does not wait: [] if no other message has come, None after the last."""
        if self._told == self._expected:
            return None
        if self._told == len(self._arrived):
            self.test()
        new = self._arrived[self._told :]
        self._told += len(new)
        return new

    def some(self) -> list[int]:
        """The places in the list of sources whose messages have come since the last time.

        Waits until there is one; an empty list when all have been returned. Their data may be read
        at once.
        """
        while (new := self.testsome()) == []:
            os.sched_yield()
        return new or []

    def free(self) -> None:
        """Frees it. Local; before the end of MPI. Nothing if it has been freed.

        Raises MPI.Exception of class MPI.ERR_REQUEST if it is under way.
        """
        if self._handle:
            _calls.call("CRESTA_Multisend_free", ctypes.byref(self._handle))
            self._kept = ()

    def __enter__(self) -> Multisend:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.wait()


def _made(
    name: str,
    comm: Comm,
    sends: tuple[Any, ...],
    sent: Array,
    destinations: Sequence[int],
    recvbuf: Blocks,
    sources: Sequence[int],
) -> Multisend:
    _calls.intracomm(comm)
    kind = name.removeprefix("CRESTA_").removesuffix("_init")
    to = _calls.ranks_of(destinations, comm, kind)
    origin = _calls.ranks_of(sources, comm, kind)
    into = _calls.blocks_of(recvbuf, len(origin), "recvbuf")
    _calls.array_of(into[0], "recvbuf", writable=True)
    if sent.dtype != into[0].dtype:
        raise ValueError(f"{kind}: sends {sent.dtype} and receives {into[0].dtype}")
    arguments = (_calls.at(sent), *sends, ctypes.c_int(len(to)), _calls.ints(to))
    return Multisend(name, comm, arguments, into, origin, (sent,))


def Multicast(
    comm: Comm,
    sendbuf: Array,
    destinations: Sequence[int],
    recvbuf: Blocks,
    sources: Sequence[int],
) -> Multisend:
    """Makes a multicast: each start sends one array to a list of ranks.

    >>> comm, sent, got = MPI.COMM_WORLD, np.full(2, 1.0 + MPI.COMM_WORLD.rank), np.zeros(2)
    >>> cast = crestacoll.Multicast(comm, sent, [comm.rank], got, [comm.rank])
    >>> with cast:
    ...     pass  # work that needs neither array
    >>> bool(got[0] == 1 + comm.rank)
    True
    >>> cast.free()

    comm          an intracommunicator of mpi4py; the call is collective over it, also with empty
                  lists
    sendbuf       an array of numpy without gaps
    destinations  ranks that get it, in any order
    recvbuf       an array of as many equal blocks as there are sources; or (array, counts), or
                  (array, counts, displacements), in elements
    sources       ranks from which this one receives; the lists of all ranks fit together

    The arrays stay where they are, and are kept (docs/neighbours.md).
    Raises ValueError, TypeError for wrong arguments of this rank, while the others wait.
    """
    sent = _calls.array_of(sendbuf, "sendbuf")
    return _made(
        "CRESTA_Multicast_init", comm, (_calls.int_of(sent.size),), sent, destinations, recvbuf,
        sources,
    )  # fmt: skip


def Manytomany(
    comm: Comm,
    sendbuf: Blocks,
    destinations: Sequence[int],
    recvbuf: Blocks,
    sources: Sequence[int],
) -> Multisend:
    """Makes a many-to-many: each start sends a block of an array to each of a list of ranks.

    >>> comm = MPI.COMM_WORLD
    >>> everybody = range(comm.size)
    >>> sent, got = np.full(comm.size, comm.rank), np.zeros(comm.size, int)
    >>> many = crestacoll.Manytomany(comm, sent, everybody, got, everybody)
    >>> with many:
    ...     pass
    >>> got.tolist() == list(everybody)
    True
    >>> many.free()

    Arguments are those of Multicast; sendbuf has a block for each destination, as recvbuf has one
    for each source.
    """
    sent, counts, displs = _calls.blocks_of(sendbuf, len(destinations), "sendbuf")
    return _made(
        "CRESTA_Manytomany_init", comm, (_calls.ints(counts), _calls.ints(displs)), sent,
        destinations, recvbuf, sources,
    )  # fmt: skip
