# SPDX-License-Identifier: BSD-3-Clause
"""A matrix, distributed by rows, is transposed while the ranks compute.

    mpirun -n 4 python transpose.py [ROWS_PER_RANK]
"""

import sys

import crestacoll
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100
n = rows * comm.size

crestacoll.set_impl(comm, "alltoall=p2p")  # the rules of docs/choosing.md

# Row i of the matrix is i * n, i * n + 1, ...; a block of `rows` columns goes to each rank.
mine = np.arange(n * rows, dtype=float).reshape(rows, n) + comm.rank * rows * n
blocks = np.ascontiguousarray(mine.reshape(rows, comm.size, rows).swapaxes(0, 1))
received = np.empty_like(blocks)

with crestacoll.Alltoall_begin(comm, blocks, received):
    norm = np.linalg.norm(mine)  # work that needs neither buffer

# The blocks are those of my columns: put them side by side, transposed.
transposed = np.concatenate([block.T for block in received], axis=1)

total = np.array(norm**2)
crestacoll.Allreduce(comm, MPI.IN_PLACE, total)
first = np.arange(n) * n + comm.rank * rows
wrong = np.count_nonzero(transposed != first + np.arange(rows)[:, np.newaxis])
if comm.rank == 0:
    print(f"{n} x {n}, norm {np.sqrt(total):.6g}, {wrong} wrong")
sys.exit(int(wrong > 0))
