# SPDX-License-Identifier: BSD-3-Clause
"""The profile of a part of a program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crestacoll import _native
from crestacoll._link import link

_open = False


@contextmanager
def profile() -> Iterator[dict[str, Any]]:
    """Counts and times the collectives of a block.

    >>> with crestacoll.profile() as found:
    ...     crestacoll.Allreduce(MPI.COMM_WORLD, np.ones(2), np.zeros(2))
    >>> [(r["collective"], r["calls"], r["bytes_min"]) for r in found["records"]]
    [('allreduce', 1, 16)]

    Gives a dictionary that is empty until the block ends. Then it has, on every rank, the members
    of a profile file of all ranks (docs/reference/file-formats.md); `communicators` is empty,
    `timeline` None. It can be written by `json.dump`, for `crestacoll report`.

    What is counted is what crestacoll sees: under `crestacoll run`, or after preload(), every
    collective of the process, otherwise those that are called by crestacoll.

    Collective over MPI.COMM_WORLD at the begin and at the end of the block. No other thread calls
    collectives at these two points. If an exception leaves the block, the ranks are not asked, and
    the dictionary stays empty.
    Raises RuntimeError within another block of profile(), MPI.Exception without memory.
    """
    global _open
    if _open:
        raise RuntimeError("crestacoll.profile(): another one is open")
    link()
    _native.profile_start()
    _open = True
    data: dict[str, Any] = {}
    try:
        yield data
        data |= json.loads(_native.profile_stop())
    finally:
        _open = False
