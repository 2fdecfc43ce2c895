# SPDX-License-Identifier: BSD-3-Clause
"""Made-up profiles with communicators, as the library writes them, for tests of placement."""

import json

import numpy as np


def runs_of(ranks):
    """As cco_member_runs writes them."""
    runs = []
    for rank in ranks:
        if runs and runs[-1][2] == 1:
            runs[-1][1] = rank - runs[-1][0]
        if runs and rank == runs[-1][0] + runs[-1][2] * runs[-1][1]:
            runs[-1][2] += 1
        else:
            runs.append([rank, 1, 1])
    return runs


def record(name, processes, collective, count, of_a_call):
    """The record of `count` communicators of one name."""
    ranks = count * processes
    return {
        **{"collective": collective, "mode": "blocking", "communicator": name},
        **{"processes": processes, "bytes_min": 4096, "bytes_max": 8191},
        **{"implementation": "mpi", "rule": "no rule", "refused": None},
        **{"ranks": ranks, "calls": 10, "calls_total": 10 * ranks},
        **{"bytes_total": of_a_call * ranks, "wait_us": None},
        **{"nodes": None, "between_nodes": None},
        "time_us": {"min": 1.0, "mean": 1.0, "max": 1.0},
    }


def profile(ranks, kinds):
    """`kinds`: {name: (members of each communicator, {collective: bytes of a call})}."""
    records, communicators = [], []
    for name, (groups, sent) in kinds.items():
        size = len(groups[0])
        for collective, of_a_call in sent.items():
            records.append(record(name, size, collective, len(groups), of_a_call))
        communicators += [
            {"communicator": name, "processes": size, "members": runs_of(g), "bytes": dict(sent)}
            | {"nodes": None}
            for g in groups
        ]
    return {
        **{"schema": "crestacoll-profile-5", "crestacoll": "0.1.0", "mpi": "Open MPI v4.1.4, x"},
        **{"ranks": ranks, "wall_s": 2.0, "wait_sampling": 1, "records": records},
        **{"communicators": communicators, "timeline": None, "clocks": []},
    }


def grid(rows, columns, seed=None, row=None, col=None):
    """A grid of ranks in rows, or in any order; what its rows and columns call."""
    ranks = np.arange(rows * columns)
    if seed is not None:
        ranks = np.random.default_rng(seed).permutation(ranks)
    table = ranks.reshape(rows, columns)
    kinds = {
        "row": (table.tolist(), row or {"alltoall": 4096}),
        "col": (table.T.tolist(), col or {"alltoall": 4096}),
        "MPI_COMM_WORLD": ([list(range(rows * columns))], {"allreduce": 8}),
    }
    return profile(rows * columns, kinds)


def write(folder, data, name="p.json"):
    """The file with a profile."""
    (folder / name).write_text(json.dumps(data))
    return folder / name
