# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran modules: interfaces of crestacoll and cresta_sp_coll, in both kinds of handles."""

from __future__ import annotations

import re

from emit_fortran import RECORDED, SMALL, SPLIT, fold, interface_body, stem_of
from table import Collective, Form

HANDLES = {"comm": "in", "newcomm": "out"}  # communicators, in either kind


_KINDS = (
    "c_int64_t", "c_intptr_t", "c_ptr",
    "c_float", "c_double", "c_float_complex", "c_double_complex",
)  # fmt: skip


def module(table: list[Collective]) -> str:
    forms = [f for f in SMALL if f.mode != "persistent"] + [RECORDED]
    names = [f"cresta_{stem_of(c, f)}" for f in forms for c in table if f.exists(c)] + [
        "cresta_set_impl",
        "cresta_comm_prepare",
        "cresta_comm_repair",
        "cresta_alloc_mem",
        "cresta_repro_sum",
        "cresta_win_init",
        "cresta_win_finalize",
        "cresta_free_mem",
        "cresta_record_begin",
        "cresta_record_end",
        "cresta_replay_start",
        "cresta_replay_end",
        "cresta_recording_info",
        "cresta_recording_free",
        "CRESTA_RECORDING_NULL",
    ]
    text = (
        "!> Module crestacoll: CRESTA_x for programs "
        "that include 'mpif.h', use mpi or use mpi_f08.\n"
        "!> Every argument means what it means in MPI_x; "
        "ierror is optional; buffers may be array sections\n"
        "!> (in the non-blocking CRESTA_Ix only as the buffer of one count and one datatype).\n"
        "module crestacoll\n"
        "    use, intrinsic :: iso_c_binding, only: c_int64_t, c_intptr_t, c_ptr, c_float, &\n"
        "        c_double, c_float_complex, c_double_complex\n"
        "    use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request\n"
        "    implicit none\n    private\n"
    )
    text += fold("public :: " + ", ".join(names), 4) + "\n"
    text += "    integer, parameter :: CRESTA_RECORDING_NULL = 0\n\n"
    return text + _interfaces(table, forms) + _module_tail()


def _interfaces(table: list[Collective], forms: list[Form]) -> str:
    """Each collective under one name for both kinds of handles."""
    text = ""
    for form in forms:
        for coll in filter(form.exists, table):
            stem = stem_of(coll, form)
            bodies = "".join(
                interface_body(
                    coll, form, f"cresta_{stem}_{s}", f"cresta_{stem}_{s}", s == "f08", 8
                )
                for s in ("int", "f08")
            )
            text += f"    interface cresta_{stem}\n{bodies}    end interface cresta_{stem}\n\n"
    return text


def split_module(table: list[Collective]) -> str:
    own = [f"cresta_coll_{name}" for name in ("end", "test", "some", "testsome")]
    own.append("cresta_progress")
    names = [f"cresta_{stem_of(c, SPLIT)}" for c in table] + own
    text = (
        "!> Module cresta_sp_coll: collectives that begin in one call and end in another, for\n"
        "!> programs that include 'mpif.h', use mpi or use mpi_f08.  CRESTA_x_begin has the\n"
        "!> arguments of MPI_Ix; include/cresta_sp_coll.h says what they mean.  ierror is\n"
        "!> optional.  A buffer may be an array section where one count and one datatype, and no\n"
        "!> operation, describe it; elsewhere a section with gaps is an error, MPI_ERR_BUFFER.\n"
        "module cresta_sp_coll\n"
        "    use, intrinsic :: iso_c_binding, only: c_intptr_t\n"
        "    use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request\n"
        "    implicit none\n    private\n"
    )
    text += fold("public :: " + ", ".join(names), 4) + "\n"
    return text + _interfaces(table, [SPLIT]) + _split_tail()


def _split_tail() -> str:
    # A default logical in a bind(c) interface is an extension, an error with gfortran -std=f2018.
    count, flag = "integer, intent(in) :: count", "type(*), intent(inout) :: flag"
    handles = "dimension(..), intent(inout) :: requests"
    text = _control("cresta_coll_end", [count, handles], ("int", "f08"), "MPI_Request")
    text += _control("cresta_coll_test", [count, handles, flag], ("int", "f08"), "MPI_Request")
    handle, most = ":: request", "integer, intent(in) :: maxblocks"
    landed = [handle, most, "integer, intent(inout) :: blocks(*)", "integer, intent(out) :: n"]
    for name in ("cresta_coll_some", "cresta_coll_testsome"):
        text += _control(name, landed, ("int", "f08"), "MPI_Request")
    text += _control("cresta_progress", [], ("any",))
    return text.rstrip("\n") + "\nend module cresta_sp_coll\n"


def _module_tail() -> str:
    """What is no collective, in the order of its arguments; `comm` stands for either handle."""
    spec = "type(*), dimension(..), intent(in) :: spec"
    size = "integer(c_intptr_t), intent(in) :: size"
    pointer = "type(c_ptr), intent(out) :: baseptr"
    base = "type(*), dimension(..), intent(in) :: base"
    text = _control("cresta_set_impl", ["comm", spec], ("int", "f08"))
    text += _control("cresta_comm_prepare", ["comm"], ("int", "f08"))
    text += _control("cresta_comm_repair", ["comm", "newcomm"], ("int", "f08"))
    text += _control("cresta_alloc_mem", [size, "comm", pointer], ("int", "f08"))
    text += _control("cresta_free_mem", [base], ("any",))
    text += _repro_sum()
    text += _control("cresta_win_init", ["comm"], ("int", "f08"))
    text += _control("cresta_win_finalize", [], ("any",))
    return text + _recordings().rstrip("\n") + "\nend module crestacoll\n"


def _repro_sum() -> str:
    """The sum has the kind of its result, and the number of elements may be a large one."""
    name, large = "cresta_repro_sum", "integer(c_int64_t), intent(in) :: n"
    kinds = {"r4": "real(c_float)", "r8": "real(c_double)"}
    kinds |= {"c4": "complex(c_float_complex)", "c8": "complex(c_double_complex)"}
    specifics = []
    for suffix, kind in kinds.items():
        for end, n in (("", "integer, intent(in) :: n"), ("_c", large)):
            listed = ["type(*), dimension(..), intent(in) :: x", n]
            listed += [f"{kind}, intent(out) :: result", "comm"]
            text = _control(name, listed, (f"{suffix}{end}_int", f"{suffix}{end}_f08"))
            specifics += text.split("\n")[1:-3]
    body = "\n".join(specifics)
    return f"    interface {name}\n{body}\n    end interface {name}\n\n"


def _recordings() -> str:
    """Recordings, whose handles are integers in every binding."""
    recording, made = "integer, intent(in) :: recording", "integer, intent(out) :: recording"
    counts = ["calls", "merged", "parts", "recorded", "replayed"]
    text = _control("cresta_record_begin", ["comm"], ("int", "f08"))
    text += _control("cresta_record_end", [made], ("any",))
    text += _control("cresta_replay_start", [recording], ("any",))
    text += _control("cresta_replay_end", [recording], ("any",))
    listed = [recording, *(f"integer, intent(out) :: {name}" for name in counts)]
    text += _control("cresta_recording_info", listed, ("any",))
    return text + _control("cresta_recording_free", [made.replace("(out)", "(inout)")], ("any",))


def _control(
    name: str, declared: list[str], suffixes: tuple[str, ...], handle: str = "MPI_Comm"
) -> str:
    """`comm` and `newcomm` alone are arguments; what begins with its attributes, or without, wants
    the handle's type."""
    text = f"    interface {name}\n"
    for suffix in suffixes:
        kind = f"type({handle})" if suffix.endswith("f08") else "integer"
        handles = {name: f"{kind}, intent({way}) :: {name}" for name, way in HANDLES.items()}
        lines = [handles.get(d, d) for d in declared]
        lines = [f"{kind}, {d}" if d.startswith("dimension(..)") else d for d in lines]
        lines = [f"{kind}, intent(in) {d}" if d.startswith(":: ") else d for d in lines]
        lines.append("integer, optional, intent(out) :: ierror")
        args = ", ".join(line.split(":: ")[1].removesuffix("(*)") for line in lines)
        imports = [n for n in (handle, *_KINDS) if re.search(rf"\b{n}\b", " ".join(lines))]
        text += fold(f"subroutine {name}_{suffix}({args}) bind(c, name='{name}_{suffix}')", 8)
        text += "            " + (f"import :: {', '.join(imports)}" if imports else "implicit none")
        text += "\n" + "".join(f"            {line}\n" for line in lines)
        text += f"        end subroutine {name}_{suffix}\n"
    return text + f"    end interface {name}\n\n"
