# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Fortran module cresta_multisend, for include/cresta_multisend.h."""

from __future__ import annotations

from emit_fortran import fold

BUFFER_IN = "type(*), dimension(..), intent(in), asynchronous :: sendbuf"
BUFFER_OUT = "type(*), dimension(..), asynchronous :: recvbuf"


def _in(*names: str) -> list[str]:
    return [f"integer, intent(in) :: {name}" for name in names]


def _out(*names: str) -> list[str]:
    return [f"integer, intent(out) :: {name}" for name in names]


def _handle(intent: str) -> str:
    return f"type(c_ptr), intent({intent}) :: multisend"


DATATYPE, COMM = "@MPI_Datatype, intent(in) :: {}", "@MPI_Comm, intent(in) :: comm"
TYPE = DATATYPE.format("datatype")
SENDS = ["sendcounts(*)", "sdispls(*)"]
SOURCES = [
    BUFFER_OUT,
    *_in("recvcounts(*)", "rdispls(*)", "nsources", "sources(*)"),
    TYPE,
    COMM,
    _handle("out"),
]
DESTINATIONS = _in("ndestinations", "destinations(*)")

# Arguments of each, in order; `@TYPE` is an MPI handle.  The error comes last.
CALLS = {
    "cresta_exchange": [
        BUFFER_IN,
        *_in(*SENDS),
        TYPE,
        *DESTINATIONS,
        *_out("sources", "elements"),
        COMM,
    ],
    "cresta_exchange_begin": [
        BUFFER_IN,
        *_in(*SENDS),
        TYPE,
        *DESTINATIONS,
        *(f"integer, intent(out), asynchronous :: {n}" for n in ("sources", "elements")),
        COMM,
        "@MPI_Request, intent(out) :: request",
    ],
    "cresta_exchange_take": [
        BUFFER_OUT,
        *(f"integer, intent(inout) :: {n}(*)" for n in ("sources", "recvcounts", "rdispls")),
        TYPE,
        COMM,
    ],
    "cresta_multicast_init": [BUFFER_IN, *_in("sendcount"), *DESTINATIONS, *SOURCES],
    "cresta_manytomany_init": [BUFFER_IN, *_in(*SENDS), *DESTINATIONS, *SOURCES],
    "cresta_multisend_notify": [
        _handle("in"),
        "type(c_funptr), value :: arrived",
        "type(c_ptr), value :: context",
        "integer, intent(inout), asynchronous :: flags(*)",
    ],
    "cresta_multisend_start": [_handle("in")],
    "cresta_multisend_wait": [_handle("in")],
    "cresta_multisend_test": [_handle("in"), "type(*), intent(inout) :: flag"],
    "cresta_multisend_free": [_handle("inout")],
    "cresta_sneighbor_alltoall": [
        BUFFER_IN,
        *_in("sendcount"),
        DATATYPE.format("sendtype"),
        BUFFER_OUT,
        *_in("recvcount"),
        DATATYPE.format("recvtype"),
        COMM,
        "@MPI_Request, intent(inout) :: requests(*)",
    ],
}


def _declare(line: str, f08: bool) -> str:
    if not line.startswith("@"):
        return line
    handle, rest = line[1:].split(",", 1)
    return (f"type({handle})" if f08 else "integer") + "," + rest


def _body(name: str, suffix: str, arguments: list[str]) -> str:
    lines = [_declare(line, suffix == "f08") for line in arguments]
    lines.append("integer, optional, intent(out) :: ierror")
    names = ", ".join(line.split(":: ")[1].removesuffix("(*)") for line in lines)
    known = ("MPI_Comm", "MPI_Datatype", "MPI_Request", "c_ptr", "c_funptr")
    imports = [n for n in known if f"({n})" in " ".join(lines)]
    text = fold(f"subroutine {name}_{suffix}({names}) bind(c, name='{name}_{suffix}')", 8)
    text += "            " + (f"import :: {', '.join(imports)}" if imports else "implicit none")
    text += "\n" + "".join(f"            {line}\n" for line in lines)
    return text + f"        end subroutine {name}_{suffix}\n"


def module(_table) -> str:
    text = (
        "!> Module cresta_multisend: sends to lists of ranks, for programs that include 'mpif.h',\n"
        "!> use mpi or use mpi_f08.  include/cresta_multisend.h says what the calls mean; a\n"
        "!> multisend is a type(c_ptr), ranks and places count from 0.  ierror is optional.\n"
        "!> Buffers are contiguous: a section with gaps is an error, MPI_ERR_BUFFER.\n"
        "module cresta_multisend\n"
        "    use, intrinsic :: iso_c_binding, only: c_funptr, c_ptr\n"
        "    use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Request\n"
        "    implicit none\n    private\n"
    )
    text += fold("public :: " + ", ".join(CALLS), 4) + "\n"
    for name, arguments in CALLS.items():
        handles = any(a.startswith("@") for a in arguments)
        bodies = "".join(
            _body(name, suffix, arguments) for suffix in (("int", "f08") if handles else ("any",))
        )
        text += f"    interface {name}\n{bodies}    end interface {name}\n\n"
    return text.rstrip("\n") + "\nend module cresta_multisend\n"
