# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of collectives, by their names in rules."""

REDUCTIONS = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")
NEIGHBORS = tuple(
    f"neighbor_{name}"
    for name in (
        *("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"),
        *("reduce", "alltoall_reduce"),
    )
)
UNSIZED = (
    *("barrier", "gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw"),
    *NEIGHBORS,
)
