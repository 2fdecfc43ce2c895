# SPDX-License-Identifier: BSD-3-Clause
"""Sends to ranks that do not know it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from crestacoll import _calls, _native

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from mpi4py.MPI import Comm

    Messages = Mapping[int, npt.ArrayLike] | Iterable[tuple[int, npt.ArrayLike]]
    Received = list[tuple[int, np.ndarray[Any, Any]]]


class ExchangeRequest:
    """An exchange that has begun, from Exchange_begin.

    end() gives what has come, and so does `messages` afterwards. As a context manager it ends with
    the block.
    """

    def __init__(self, comm: Comm, messages: Messages, dtype: npt.DTypeLike) -> None:
        import numpy as np

        self._comm = comm
        self._dtype = np.dtype(dtype)
        self._count, self._elements = ctypes.c_int(), ctypes.c_int()
        self._received: Received | None = None
        self._error: Exception | None = None
        self._lock = threading.Lock()  # of its end
        where = _calls.intracomm(comm)
        given = messages.items() if isinstance(messages, Mapping) else messages
        pairs = [(int(rank), np.ravel(np.asarray(data, self._dtype))) for rank, data in given]
        ranks = _calls.ranks_of([rank for rank, _ in pairs], comm, "Exchange")
        counts = [data.size for _, data in pairs]
        displs = [sum(counts[:i]) for i in range(len(counts))]
        # One array, and a copy: what was given may be changed at once.
        sent = np.concatenate([data for _, data in pairs]) if pairs else np.empty(0, self._dtype)
        self._request = _begin(
            "CRESTA_Exchange_begin",
            _calls.at(sent), _calls.ints(counts), _calls.ints(displs),
            _calls.handle(_calls.datatype_of(self._dtype)), ctypes.c_int(len(ranks)),
            _calls.ints(ranks), ctypes.byref(self._count), ctypes.byref(self._elements), where,
            keep=(sent, self._count, self._elements),
        )  # fmt: skip

    def test(self) -> bool:
        """Whether it has ended. Does not wait. Raises MPI.Exception if it failed."""
        if not self._lock.acquire(blocking=False):
            return False  # another thread is about to end it
        try:
            return self._finish(self._request.test)
        finally:
            self._lock.release()

    def end(self) -> Received:
        """Waits for the end: what has come, in the order of the senders.

        Other threads of Python run meanwhile. Raises MPI.Exception if it failed.
        """
        with self._lock:
            self._finish(self._request.end)
        return self.messages

    @property
    def messages(self) -> Received:
        """Pairs of a rank and an array; raises RuntimeError before the end."""
        if self._received is None:
            raise RuntimeError("the exchange has not ended")
        return self._received

    def __enter__(self) -> ExchangeRequest:
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def _finish(self, how: Callable[[], bool | None]) -> bool:
        """Ends it, once; whether it has ended. What failed once raises the same error again."""
        if self._error is not None:
            raise self._error
        if self._received is None:
            try:
                if how() is not False:
                    self._take()
            except Exception as error:
                self._error = error
                raise
        return self._received is not None

    def _take(self) -> None:
        import numpy as np

        n = self._count.value
        data = np.empty(self._elements.value, self._dtype)
        sources, counts, places = (_calls.ints([0] * n) for _ in range(3))
        _calls.call(
            "cresta_exchange_take_of",
            ctypes.byref(self._count), _calls.at(data), sources, counts, places,
            _calls.handle(_calls.datatype_of(self._dtype)), _calls.handle(self._comm),
        )  # fmt: skip
        self._received = [
            (sources[i], data[places[i] : places[i] + counts[i]]) for i in range(n)
        ]


def _begin(name: str, *arguments: Any, keep: tuple[object, ...]) -> _native.Request:
    """Begins a call whose last argument is a request; `keep` stays until its end."""
    from mpi4py import MPI

    request = MPI.Request()
    _calls.call(name, *arguments, _calls.address_of_handle(request))
    return _native.request_for(request, keep, name.removeprefix("CRESTA_"))


def Exchange_begin(comm: Comm, messages: Messages, dtype: npt.DTypeLike = float) -> ExchangeRequest:
    """Begins an Exchange: a request, whose end() gives what has come.

    >>> request = crestacoll.Exchange_begin(MPI.COMM_WORLD, {0: [1, 2]}, int)
    >>> len(request.end()) == (MPI.COMM_WORLD.size if MPI.COMM_WORLD.rank == 0 else 0)
    True

    Several may be under way; ranks begin those of one communicator in the same order. What was
    given may be changed at once. The first on a communicator waits for its ranks.
    """
    return ExchangeRequest(comm, messages, dtype)


def Exchange(comm: Comm, messages: Messages, dtype: npt.DTypeLike = float) -> Received:
    """Sends arrays to ranks that do not know it, and receives what others have sent to this one.

    >>> for source, data in crestacoll.Exchange(MPI.COMM_WORLD, {0: [1.5]}):
    ...     assert MPI.COMM_WORLD.rank == 0 and data.tolist() == [1.5]

    comm      an intracommunicator of mpi4py; the call is collective over it
    messages  {rank: array}, or pairs (rank, array), a rank also several times; empty where this
              rank sends nothing; an array may be empty
    dtype     of all elements, the same on all ranks; of numbers, or what numpy has besides

    Gives pairs (rank, array) in the order of the ranks, those of one rank in the order of its list
    (docs/neighbours.md). Arrays lose their shape.
    Raises ValueError for wrong ranks, on this rank alone, before it sends anything: the others
    wait; MPI.Exception of class MPI.ERR_COUNT for more elements than an int counts.
    """
    return Exchange_begin(comm, messages, dtype).end()
