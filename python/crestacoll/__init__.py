# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll from Python: collectives of mpi4py run by the implementation that is chosen for them.

docs/python.md is the guide. Whatever is public is listed in __all__, and loaded when it is first
used: the command line (`python -m crestacoll`) needs none of it, and a program none of the command
line.
"""

from __future__ import annotations

import importlib
from glob import glob
from os.path import dirname, join, realpath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crestacoll._comm import Comm as Comm
    from crestacoll._exchange import Exchange as Exchange
    from crestacoll._exchange import Exchange_begin as Exchange_begin
    from crestacoll._exchange import ExchangeRequest as ExchangeRequest
    from crestacoll._files import load_profile as load_profile
    from crestacoll._files import load_tuning as load_tuning
    from crestacoll._files import profile_frame as profile_frame
    from crestacoll._files import tuning_frame as tuning_frame
    from crestacoll._link import link as link
    from crestacoll._link import preload as preload
    from crestacoll._memory import alloc_mem as alloc_mem
    from crestacoll._memory import free_mem as free_mem
    from crestacoll._multisend import Manytomany as Manytomany
    from crestacoll._multisend import Multicast as Multicast
    from crestacoll._multisend import Multisend as Multisend
    from crestacoll._native import *  # noqa: F403
    from crestacoll._neighbors import Neighbor_alltoall_reduce as Neighbor_alltoall_reduce
    from crestacoll._neighbors import (
        Neighbor_alltoall_reduce_begin as Neighbor_alltoall_reduce_begin,
    )
    from crestacoll._neighbors import Neighbor_alltoall_reduce_init as Neighbor_alltoall_reduce_init
    from crestacoll._neighbors import Neighbor_reduce as Neighbor_reduce
    from crestacoll._neighbors import Neighbor_reduce_begin as Neighbor_reduce_begin
    from crestacoll._neighbors import Neighbor_reduce_init as Neighbor_reduce_init
    from crestacoll._profile import profile as profile
    from crestacoll._recording import Recording as Recording
    from crestacoll._recording import RecordingInfo as RecordingInfo
    from crestacoll._recording import record as record
    from crestacoll._repro_sum import repro_sum as repro_sum
    from crestacoll._services import prepare as prepare
    from crestacoll._services import progress as progress
    from crestacoll._services import repair as repair
    from crestacoll._services import set_impl as set_impl

__version__ = "0.1.0"

_HOMES = {
    "_comm": ("Comm",),
    "_exchange": ("Exchange", "ExchangeRequest", "Exchange_begin"),
    "_files": ("load_profile", "load_tuning", "profile_frame", "tuning_frame"),
    "_link": ("link", "preload"),
    "_memory": ("alloc_mem", "free_mem"),
    "_multisend": ("Manytomany", "Multicast", "Multisend"),
    "_neighbors": tuple(
        name + suffix
        for suffix in ("", "_begin", "_init")
        for name in ("Neighbor_reduce", "Neighbor_alltoall_reduce")
    ),
    "_profile": ("profile",),
    "_recording": ("Recording", "RecordingInfo", "record"),
    "_repro_sum": ("repro_sum",),
    "_services": ("prepare", "progress", "repair", "set_impl"),
    "_native": (
        "Request",
        *(
            name + suffix
            for suffix in ("", "_begin")
            for name in (
                "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Reduce",
                "Allgather", "Allgatherv", "Allreduce", "Reduce_scatter", "Reduce_scatter_block",
                "Alltoall", "Alltoallv", "Alltoallw", "Scan", "Exscan",
                "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall",
                "Neighbor_alltoallv", "Neighbor_alltoallw",
            )
        ),
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)

# In a checkout, and where `make install` has put it, the extension _native lies in the folders of
# the builds (python/CMakeLists.txt).
__path__ += sorted(glob(join(dirname(dirname(dirname(realpath(__file__)))), "build/*/lib/python")))


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'crestacoll' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"crestacoll.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
