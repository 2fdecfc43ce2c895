#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes api/mpi_calls.def: the functions of the MPI that a profile counts, and those that it
leaves out, with the reason.

Signatures come from the standard's own description, the package pympistandard (MPI-5.0), which
this needs and nothing else does: the table is committed. What an MPI does not have its build
leaves out.
"""

import re
from pathlib import Path

import pympistandard

TABLE = Path(__file__).resolve().parent / "mpi_calls.def"
COLLECTIVE = (
    "Barrier|Bcast|Gatherv?|Scatterv?|Reduce|Allgatherv?|Allreduce|Reduce_scatter(_block)?|"
    "Alltoall[vw]?|Scan|Exscan|Neighbor_(allgatherv?|alltoall[vw]?)"
)
IO = "read|write"

# part: what its functions are. The first match counts. The groups of a report are in
# python/crestacoll_tools/profile/mpitime.py.
PARTS = {
    "collective": COLLECTIVE,
    "begin": f"I({COLLECTIVE})|({COLLECTIVE})_init",
    "send": "[BSR]?send|Sendrecv(_replace)?",
    "receive": "Recv|Mrecv|Probe|Mprobe",
    "start": "I[bsr]?send|I?m?recv|Isendrecv(_replace)?|([BSR]?send|Recv|Psend|Precv)_init|Start|"
    "Startall|Pready(_list|_range)?|Buffer_attach|(Comm|Session)_attach_buffer",
    "test": "Test(all|any|some)?|Iprobe|Improbe|Parrived|Request_get_status(_all|_any|_some)?",
    "wait": "Wait(all|any|some)?|Buffer_(detach|flush)|(Comm|Session)_(detach|flush)_buffer",
    "begin-flush": "Buffer_iflush|(Comm|Session)_iflush_buffer",
    "rma": "R?(Put|put|Get|get|accumulate)|Accumulate|Get_accumulate|Rget_accumulate|"
    "Fetch_and_op|Compare_and_swap",
    "synchronize": "Win_(fence|lock|lock_all|unlock|unlock_all|flush|flush_all|flush_local|"
    "flush_local_all|start|complete|post|wait|test|sync)",
    "io": f"File_({IO}).*|File_(sync|seek_shared)",
    "begin-io": f"File_i({IO}).*",
    "file": "File_(open|close|delete|set_view|set_size|preallocate|set_info|set_atomicity)",
    "job": "Init|Init_thread|Finalize|Abort|Session_(init|finalize)",
    "communicator": "Comm_(dup|dup_with_info|split|split_type|create|create_group|"
    "create_from_group|free|disconnect|set_info)|Intercomm_(create|create_from_groups|merge)|"
    "(Cart|Graph|Dist_graph)_create(_adjacent)?|Cart_sub|Comm_(spawn|spawn_multiple|accept|"
    "connect|join)|Comm_(agree|shrink|revoke)",
    "begin-communicator": "Comm_i(dup|dup_with_info|agree|shrink)",
    "window": "Win_(create|create_dynamic|allocate|allocate_shared|free|set_info)",
    "request": "Request_free|Cancel",
    "control": "Pcontrol",
}
LOCAL = "asks or changes something of this process alone"
REASONS = {
    "MPI_Wtime": "a clock, which programs read in their inner loops",
    "MPI_Wtick": "a clock",
    "MPI_T_": "the interface of tools",
    "MPI_Type_": "a datatype: " + LOCAL,
    "MPI_Pack": "copies within this process",
    "MPI_Unpack": "copies within this process",
    "MPI_Reduce_local": "computes within this process",
    "MPI_Alloc_mem": "memory of this process",
    "MPI_Free_mem": "memory of this process",
}
HEAD = """\
# mpi_calls.def - written by api/standard.py from pympistandard {version} - do not edit.
# SPDX-License-Identifier: BSD-3-Clause
#
#   NAME | part | parameters in C | with large counts, or - | arguments in Fortran
#
# NAME without MPI_. In Fortran, an argument that ends in $ is a text, whose length follows the
# others; ierror is the last one; - if there is no binding. A part that begins with ! says why the
# profile leaves the function out.
"""


def part_of(name):
    for part, pattern in PARTS.items():
        if re.fullmatch(pattern, name.removeprefix("MPI_"), re.I):
            return part
    for start, reason in REASONS.items():
        if name.startswith(start):
            return "!" + reason
    return "!" + LOCAL


def c_parameters(expression):
    return ", ".join(str(p) for p in expression.parameters) or "void"


def f_arguments(procedure):
    expression = procedure.express.f90 or procedure.express.f08
    if not expression:
        return "-"
    texts = ("STRING", "STRING_ARRAY", "STRING_2DARRAY")
    return " ".join(p.name + ("$" if p.kind.name in texts else "") for p in expression.parameters)


def row(procedure):
    name = procedure.express.iso_c.name
    part = part_of(name)
    name = name.removeprefix("MPI_")
    if part.startswith("!"):
        return f"{name} | {part}"
    large = "-"
    if procedure.has_embiggenment():
        large = c_parameters(procedure.express.embiggen.iso_c)
    small = c_parameters(procedure.express.iso_c)
    return f"{name} | {part} | {small} | {large} | {f_arguments(procedure)}"


def main():
    pympistandard.use_api_version(1)
    wanted = [p for p in pympistandard.PROCEDURES.values() if p.express.iso_c]
    rows = sorted(row(p) for p in wanted)
    version = pympistandard.__version__
    TABLE.write_text(HEAD.format(version=version) + "".join(r + "\n" for r in rows))


if __name__ == "__main__":
    main()
