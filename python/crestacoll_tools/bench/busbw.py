# SPDX-License-Identifier: BSD-3-Clause
"""Bus bandwidth: what each rank moves over its link, which can be compared with the peak of the
hardware, whatever the number of ranks.
"""

# Collectives whose bytes in a record are one block: the S of nccl-tests is that of all ranks.
BLOCKS = ("alltoall", "allgather", "gather", "scatter", "reduce_scatter_block")
WHOLE = ("bcast", "reduce", "allreduce", "reduce_scatter")


def factor(collective, ranks):
    """By which bandwidth S / t is multiplied."""
    if collective in ("bcast", "reduce"):
        return 1.0
    return (2 if collective == "allreduce" else 1) * (ranks - 1) / ranks


def of_record(record):
    """GB/s of the median time of a record of `bench`, a gigabyte being 10^9 bytes; None where it is
    not defined.

    The definition is that of NVIDIA's nccl-tests: the bytes S of the whole vector, or of the blocks
    of all n ranks, by the time, and that by 2(n-1)/n for allreduce, (n-1)/n for alltoall,
    allgather, reduce_scatter, gather and scatter, 1 for bcast and reduce
    (https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md; gather and scatter are in
    src/gather.cu and scatter.cu). It has none for scans, calls with blocks of unlike sizes, and
    neighbourhood collectives.
    """
    name, ranks = record["collective"], record["ranks"]
    if name not in (*BLOCKS, *WHOLE) or not record["median_us"]:
        return None
    size = record["bytes"] * (ranks if name in BLOCKS else 1)
    return size * factor(name, ranks) / record["median_us"] / 1e3


def cell(record):
    """In a table, in GB/s."""
    value = of_record(record)
    return "-" if value is None else f"{value:.3g}"
