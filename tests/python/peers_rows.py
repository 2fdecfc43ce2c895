# SPDX-License-Identifier: BSD-3-Clause
"""Made-up records and rows for the tests of `crestacoll peers`."""

from crestacoll_tools.peers import mpis, series, table

FLOOR = {"exchange": 0.06, "copy": {"4096": 0.1, "2097152": 40.0}}
WRITTEN = {"buffers": "written"}


def record(collective="allreduce", nbytes=8, implementation="mpi", us=1.0, **changes):
    rooted = collective in series.ROOTED
    return {
        "collective": collective,
        "implementation": implementation,
        "ranks": 2,
        "bytes": nbytes,
        "timing": "back_to_back",
        "root": "rotate" if rooted else "none",
        "buffers": "hot",
        "calls": "blocking",
        "skew_us": 0,
        "verified": True,
        "samples": 10,
        "median_us": us,
        "p10_us": us / 2,
        "p90_us": us * 2,
    } | changes


def result(mpi, *records):
    return {"mpi": mpi, "records": list(records)}


def row(own, cresta, collective="allreduce", nbytes=8, **changes):
    """One row; `own`: {mpi: us}; `cresta`: us on Open MPI 5, or {mpi: us}; `line_us`: exchange
    of a line before and after."""
    cresta = cresta if isinstance(cresta, dict) else {mpis.OURS: cresta}
    sides = [(own, "mpi"), (cresta, "shm")]
    line_us = changes.pop("line_us", [0.06, 0.06])
    found = [
        result(mpi, record(collective, nbytes, name, us, line_us=line_us, **changes))
        for side, name in sides
        for mpi, us in side.items()
    ]
    (only,) = table.rows_of(found)
    return only


def again(*args, **changes):
    return row(*args, **changes, **WRITTEN)
