#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""python_cost.py - what a call of crestacoll from Python costs more than mpi4py's own.

    PYTHONPATH=python mpirun -n 2 .venv/bin/python tools/python_cost.py

An allreduce of 8 bytes on MPI_COMM_SELF and on all ranks, in turns of 2000 calls: mpi4py's method,
crestacoll's function, crestacoll's method, and mpi4py's non-blocking call with its wait beside a
begin with its end. No implementation is chosen, so that the same call of the MPI runs. Prints the
median of the turns with p10 and p90, in nanoseconds a call. Needs a machine that does nothing else.
"""
import sys
import time

import crestacoll
import numpy as np
from mpi4py import MPI

CALLS, TURNS = 2000, 60


def nanoseconds(call):
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        call()
    return (time.perf_counter_ns() - start) / CALLS


def measure(comm):
    """{name: nanoseconds a call, for each turn}"""
    mine, send, recv = crestacoll.Comm(comm), np.ones(1), np.zeros(1)
    calls = {
        "mpi4py": lambda: comm.Allreduce(send, recv),
        "function": lambda: crestacoll.Allreduce(comm, send, recv),
        "method": lambda: mine.Allreduce(send, recv),
        "mpi4py I": lambda: comm.Iallreduce(send, recv).Wait(),
        "begin": lambda: crestacoll.Allreduce_begin(comm, send, recv).end(),
    }
    times = {name: [] for name in calls}
    for turn in range(TURNS + 1):
        for name, call in calls.items():
            comm.Barrier()
            took = nanoseconds(call)
            if turn > 0:
                times[name].append(took)
    return times


def main():
    crestacoll.link()
    for comm in (MPI.COMM_SELF, MPI.COMM_WORLD):
        times = measure(comm)
        for name, own in times.items():
            base = times["mpi4py I" if name in ("mpi4py I", "begin") else "mpi4py"]
            more = np.subtract(own, base)
            line = [f"{x:.0f}" for q in (own, more) for x in np.percentile(q, (50, 10, 90))]
            if MPI.COMM_WORLD.rank == 0:
                print(f"{comm.size} ranks {name:9} {line[0]} ({line[1]}-{line[2]})"
                      f"  more: {line[3]} ({line[4]}-{line[5]})")
    sys.stdout.flush()


main()
