# SPDX-License-Identifier: BSD-3-Clause
"""Sequences of collectives that are recorded once, and replayed."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from crestacoll import _calls, _native

if TYPE_CHECKING:
    from mpi4py.MPI import Comm


_under_way: set[Recording] = set()  # their arrays must stay, also of those that were dropped


class RecordingInfo(NamedTuple):
    """What became of a recording; docs/split-phase.md says what is merged."""

    calls: int
    merged: int
    parts: int
    recorded: int
    replayed: int


class Recording:
    """Collectives that record() has recorded: start() and end() replay them.

    A replay moves the data that lie in the arrays then. It keeps the arrays of recorded calls of
    crestacoll; those of mpi4py's own methods, under `crestacoll run`, have to stay by themselves.
    """

    def __init__(self) -> None:
        self._handle = ctypes.c_int()
        self._kept: list[object] = []

    def start(self) -> None:
        """Starts a replay. The arrays belong to the library until its end."""
        _calls.call("CRESTA_Replay_start", self._handle)
        _under_way.add(self)

    def end(self) -> None:
        """Waits for the end of a replay. Other threads of Python run meanwhile."""
        _calls.call("CRESTA_Replay_end", self._handle)
        _under_way.discard(self)

    @contextmanager
    def replay(self) -> Iterator[None]:
        """A replay beside the block: from its begin to its end."""
        self.start()
        try:
            yield
        finally:
            self.end()

    def info(self) -> RecordingInfo:
        """The number of calls; how many are merged, in how many parts; the messages that this rank
        sent when they were recorded, and that it sends in a replay."""
        numbers = [ctypes.c_int() for _ in RecordingInfo._fields]
        _calls.call("CRESTA_Recording_info", self._handle, *map(ctypes.byref, numbers))
        return RecordingInfo(*(number.value for number in numbers))

    def free(self) -> None:
        """Frees it, and lets go of its arrays. Nothing if it has been freed."""
        if self._handle.value:
            _calls.call("CRESTA_Recording_free", ctypes.byref(self._handle))
            self._kept.clear()


@contextmanager
def record(comm: Comm) -> Iterator[Recording]:
    """Records the blocking collectives on `comm` that the block makes, by this thread.

    >>> comm, total = crestacoll.Comm(MPI.COMM_WORLD), np.zeros(1)
    >>> mine = np.ones(1)
    >>> comm.set_impl("*=p2p")
    >>> with crestacoll.record(comm) as step:
    ...     comm.Allreduce(mine, total)
    >>> mine[0] = 2.0
    >>> with step.replay():
    ...     pass  # work that needs neither array
    >>> bool(total[0] == 2 * comm.size)
    True
    >>> step.info().calls
    1
    >>> step.free()

    comm  an intracommunicator of mpi4py; begin and end of the block are collective over it

    The calls run as usual. All ranks record the same ones; calls by p2p, shm and hier become one
    plan (docs/split-phase.md).
    Raises MPI.Exception on all ranks if they recorded different calls, or if one failed. If an
    exception leaves the block, its recording is not ended, since the others may not be there:
    then use another communicator.
    """
    _calls.call("CRESTA_Record_begin", _calls.intracomm(comm))
    recording = Recording()
    before = _native.keep_in(recording._kept)
    try:
        yield recording
    finally:
        _native.keep_in(before)
    _calls.call("CRESTA_Record_end", ctypes.byref(recording._handle))
