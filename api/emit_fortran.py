# SPDX-License-Identifier: BSD-3-Clause
"""The generated side of the Fortran bindings.

Two C layers take Fortran's arguments: *address* entries (plain addresses: mpif.h, `use mpi`, Open
MPI's mpi_f08) and *section* entries (C descriptors, which also know array sections: module
crestacoll, MPICH's mpi_f08)."""

from __future__ import annotations

import textwrap

from table import (
    BUFFERS,
    FORMS,
    RECORDED_FORMS,
    SPLIT_FORMS,
    Arg,
    Collective,
    Form,
    guarded,
    of_the_mpi,
    wrap,
)

SMALL = [form for form in FORMS if not form.large]
SPLIT = SPLIT_FORMS[0]  # no Fortran binding has large counts of its own to translate
RECORDED = RECORDED_FORMS[0]
ENTRIES = (*FORMS, SPLIT, RECORDED)


def stem_of(coll: Collective, form: Form) -> str:
    return form.name(coll.name).lower()


# ---- C: address entries


def _c_kind(arg: Arg, large: bool) -> str:
    count, displ = ("MPI_Count", "MPI_Aint") if large else ("MPI_Fint", "MPI_Fint")
    if arg.kind in BUFFERS:
        return f"void *{arg.name}"
    kind = {"n": count, "ns": count, "ds": displ, "bs": "MPI_Aint"}.get(arg.kind, "MPI_Fint")
    return f"{kind} *{arg.name}"


def _c_args(coll: Collective, form: Form, buffer: str = "void *") -> list[str]:
    args = [_c_kind(a, form.large).replace("void *", buffer, 1) for a in coll.args]
    return args + [f"MPI_Fint *{name}" for _, name in form.extra] + ["MPI_Fint *ierror"]


def _converted(arg: Arg) -> str:
    return {
        "n": f"*{arg.name}",
        "root": f"*{arg.name}",
        "ns": arg.name,
        "ds": arg.name,
        "bs": arg.name,
        "dt": f"PMPI_Type_f2c(*{arg.name})",
        "op": f"PMPI_Op_f2c(*{arg.name})",
        "comm": f"PMPI_Comm_f2c(*{arg.name})",
        "dts": f"c_{arg.name}",
    }.get(arg.kind, f"cco_f_address({arg.name})")


def _address_entry(coll: Collective, form: Form) -> str:
    stem = stem_of(coll, form)
    call = [_converted(a) for a in coll.args]
    before = after = ""
    arrays = [a for a in coll.args if a.kind == "dts"]
    for arg in arrays:
        types, buffer = ("cco_f_near_types", "") if coll.near else ("cco_f_types", "sendbuf, ")
        given = f"{arg.name}, PMPI_Comm_f2c(*comm), {buffer}{int(arg.side == 'send')}"
        before += f"    MPI_Datatype *c_{arg.name} = {types}({given});\n"
    if arrays and form.mode in ("nonblocking", "persistent"):  # begins copy them
        given = ", ".join(f"c_{a.name}, {a.name}" for a in arrays)
        after += f"    cco_f_keep_types({given}, c_request);\n"
    else:
        after += "".join(f"    cco_f_free_types(c_{a.name}, {a.name});\n" for a in arrays)
    for kind, name in form.extra:
        if name == "request":
            before += "    MPI_Request c_request = MPI_REQUEST_NULL;\n"
            after += "    *request = PMPI_Request_c2f(c_request);\n"
            call.append("&c_request")
        elif name == "recording":
            call.append("recording")
        else:
            call.append("PMPI_Info_f2c(*info)")
    text = wrap(f"void cresta_address_{stem}({', '.join(_c_args(coll, form))})") + "\n{\n" + before
    text += (
        wrap(f"int rc = CRESTA_{form.name(coll.name)}({', '.join(call)});", " " * 12, first="    ")
        + "\n"
    )
    return text + after + "    cco_f_return(ierror, rc);\n}\n"


def address_entries(table: list[Collective]) -> str:
    parts = []
    for form in ENTRIES:
        body = "\n".join(_address_entry(c, form) for c in table if form.exists(c))
        parts.append(guarded(form.guard, body))
    return (
        "/* Fortran's arguments as plain addresses -> "
        "CRESTA_x: handles and the addresses of Fortran's constants become C's. */\n"
        '#include "entries_address.h"\n#include "handles.h"\n\n' + "\n".join(parts)
    )


def address_prototypes(table: list[Collective]) -> str:
    parts = []
    for form in ENTRIES:
        body = "".join(
            wrap(f"void cresta_address_{stem_of(c, form)}({', '.join(_c_args(c, form))});") + "\n"
            for c in table
            if form.exists(c)
        )
        parts.append(guarded(form.guard, body))
    return (
        '#ifndef CCO_ENTRIES_ADDRESS_H\n#define CCO_ENTRIES_ADDRESS_H\n\n'
        '#include "cresta_sp_coll.h"\n\n'
        + "\n".join(parts)
        + "\n#endif\n"
    )


# ---- C: section entries


def _count_and_type(coll: Collective, buffer: Arg) -> tuple[str, str] | None:
    """The scalar count and type that describe a buffer; None where they are arrays."""
    side = "both" if buffer.kind == "inout" else buffer.name[:4]
    count = [a.name for a in coll.args if a.kind == "n" and a.side in (side, "both")]
    kind = [a.name for a in coll.args if a.kind == "dt" and a.side in (side, "both")]
    return (count[0], kind[0]) if count and kind else None


def _section_entry(coll: Collective, form: Form) -> str:
    stem, mode = stem_of(coll, form), "copy" if form.mode == "blocking" else "type"
    buffers = [a for a in coll.args if a.kind in BUFFERS]
    names = {a.name: a.name for a in coll.args}
    before, after, failed = "", "", ""
    for arg in buffers:
        section = f"{arg.name}_section"
        pair = _count_and_type(coll, arg) if "reduction" not in coll.properties else None
        if mode == "copy":
            init = f"cco_f_copy_in({arg.name})"
        elif pair:
            init = f"cco_f_describe({arg.name}, *{pair[0]}, *{pair[1]})"
            names[pair[0]], names[pair[1]] = f"&{section}.count", f"&{section}.type"
        else:
            init = f"cco_f_contiguous({arg.name})"
        before += f"    cco_f_section {section} = {init};\n"
        after += f"    cco_f_release(&{section}, {int(arg.kind != 'in')});\n"
        names[arg.name] = f"{section}.address"
        failed += (" || " if failed else "") + f"{section}.error"
    if form.large:  # the count of a described section is an MPI_Fint or the caller's own MPI_Count
        for arg in buffers:
            pair = _count_and_type(coll, arg)
            if pair and names[pair[0]].startswith("&"):
                names[pair[0]] = names[pair[0]].replace(".count", ".large_count")
    call = [names[a.name] for a in coll.args] + [name for _, name in form.extra] + ["ierror"]
    text = (
        wrap(f"void cresta_section_{stem}({', '.join(_c_args(coll, form, 'CFI_cdesc_t *'))})")
        + "\n{\n"
        + before
    )
    invoke = f"cresta_address_{stem}({', '.join(call)});"
    if failed:
        none = [f"*{name} = PMPI_Request_c2f(MPI_REQUEST_NULL);" for _, name in form.extra]
        if form.mode == "recorded":
            text += "".join(f"    *{name} = CRESTA_RECORDING_NULL;\n" for _, name in form.extra)
        text += wrap(f"if ({failed}) {{", "        ", first="    ") + "\n"
        text += "".join(f"        {line}\n" for line in none if "*request" in line)
        text += "        cco_f_return(ierror, cco_f_section_error(*comm));\n    } else\n"
        text += wrap(invoke, " " * 12, first=" " * 8) + "\n"
    else:
        text += wrap(invoke, " " * 12, first="    ") + "\n"
    return text + after + "}\n" + _aliases(coll, form)


def _aliases(coll: Collective, form: Form) -> str:
    """The modules have each entry twice, for integer and mpi_f08 handles."""
    if form.large or form.mode == "persistent":
        return ""
    stem = stem_of(coll, form)
    params = ", ".join(_c_args(coll, form, "CFI_cdesc_t *"))
    return "".join(
        wrap(
            f'CCO_EXPORT void cresta_{stem}_{suffix}({params}) '
            f'__attribute__((alias("cresta_section_{stem}")));'
        )
        + "\n"
        for suffix in ("int", "f08")
    )


def section_entries(table: list[Collective]) -> str:
    parts = []
    for form in ENTRIES:
        body = "\n".join(_section_entry(c, form) for c in table if form.exists(c))
        parts.append(guarded(form.guard, body))
    return (
        "/* Fortran's arguments with C descriptors -> "
        "the address entries: what an array section needs. */\n"
        '#include "entries_address.h"\n#include "handles.h"\n#include "section.h"\n\n'
        + "\n".join(parts)
    )


# ---- the symbols of the MPIs


def _openmpi_symbol(coll: Collective, form: Form) -> str:
    macro = "CCO_F_INIT" if form.mode == "persistent" else "CCO_F_SYMBOLS"
    stem, params = stem_of(coll, form), ", ".join(_c_args(coll, form))
    return wrap(f"{macro}({stem}, {stem.upper()}, ({params}), ({_arguments(coll, form)}))") + "\n"


def openmpi_symbols(table: list[Collective]) -> str:
    """mpi_x_ in the spellings of all compilers, mpi_x_f08_ (the same, ierror optional)."""
    mpis = of_the_mpi(table)
    parts = [guarded(f.guard, "".join(_openmpi_symbol(c, f) for c in mpis)) for f in SMALL]
    return (
        "/* The Fortran symbols of Open MPI, whose Fortran bindings call PMPI_ inside and so\n"
        " * escape a C interposer. */\n"
        '#include "entries_address.h"\n#include "interpose_symbols.h"\n\n' + "\n".join(parts)
    )


def fold(text: str, indent: int) -> str:
    pad = " " * indent
    lines = textwrap.wrap(
        text,
        94,
        initial_indent=pad,
        subsequent_indent=pad + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return " &\n".join(lines) + "\n"


def _declare(arg: Arg, form: Form, f08: bool) -> str:
    count = "integer(c_int64_t)" if form.large else "integer"
    displ = "integer(c_intptr_t)" if form.large else "integer"
    handle = {"dt": "MPI_Datatype", "dts": "MPI_Datatype", "op": "MPI_Op", "comm": "MPI_Comm"}
    if arg.kind in BUFFERS:
        intent = ", intent(in)" if arg.kind == "in" else ""
        lasting = "" if form.mode == "blocking" else ", asynchronous"
        return f"type(*), dimension(..){intent}{lasting} :: {arg.name}\n"
    bytes_ = "integer(c_intptr_t)"
    kind = {"n": count, "ns": count, "ds": displ, "bs": bytes_}.get(arg.kind, "integer")
    if f08 and arg.kind in handle:
        kind = f"type({handle[arg.kind]})"
    shape = "(*)" if arg.kind in ("ns", "ds", "bs", "dts") else ""
    return f"{kind}, intent(in) :: {arg.name}{shape}\n"


def _declarations(coll: Collective, form: Form, f08: bool, indent: int) -> str:
    lines = [_declare(a, form, f08) for a in coll.args]
    for _, name in form.extra:
        kind = {"request": "MPI_Request", "info": "MPI_Info"}.get(name)
        intent = "in" if name == "info" else "out"
        handle = f"type({kind})" if f08 and kind else "integer"
        lines.append(f"{handle}, intent({intent}) :: {name}\n")
    lines.append("integer, optional, intent(out) :: ierror\n")
    return "".join(" " * indent + line for line in lines)


def _arguments(coll: Collective, form: Form) -> str:
    return ", ".join([a.name for a in coll.args] + [n for _, n in form.extra] + ["ierror"])


def _addresses(coll: Collective, form: Form) -> bool:
    """Some displacements are of kind MPI_ADDRESS_KIND."""
    return any(a.kind == "bs" or (a.kind == "ds" and form.large) for a in coll.args)


def interface_body(
    coll: Collective, form: Form, name: str, label: str, f08: bool, indent: int
) -> str:
    pad = " " * indent
    handles = {"dt": "MPI_Datatype", "dts": "MPI_Datatype", "op": "MPI_Op", "comm": "MPI_Comm"}
    imports = (
        sorted(
            {handles[a.kind] for a in coll.args if a.kind in handles}
            | {k.split()[0] for k, _ in form.extra if k.startswith("MPI_")}
        )
        if f08
        else []
    )
    imports += ["c_int64_t"] * form.large + ["c_intptr_t"] * _addresses(coll, form)
    text = fold(f"subroutine {name}({_arguments(coll, form)}) bind(c, name='{label}')", indent)
    if imports:
        text += fold(f"import :: {', '.join(imports)}", indent + 4)
    else:
        text += pad + "    implicit none\n"
    return text + _declarations(coll, form, f08, indent + 4) + f"{pad}end subroutine {name}\n"


def _mpich_symbol(coll: Collective, form: Form) -> str:
    suffix = ("_f08ts" if any(a.kind in BUFFERS for a in coll.args) else "_f08") + (
        "_large" if form.large else ""
    )
    stem = stem_of(coll, form)
    name = f"mpi_{stem[:-2] if form.large else stem}{suffix}"
    text = fold(f"subroutine {name}({_arguments(coll, form)})", 0)
    kinds = ["c_int64_t"] * form.large + ["c_intptr_t"] * _addresses(coll, form)
    if kinds:  # MPI_Count and MPI_Aint; `use mpi` would bring MPICH's common blocks along
        text += fold(f"use, intrinsic :: iso_c_binding, only: {', '.join(kinds)}", 4)
    text += "    implicit none\n" + _declarations(coll, form, False, 4)
    text += (
        "    interface\n"
        + interface_body(coll, form, "entry", f"cresta_section_{stem}", False, 8)
        + "    end interface\n"
    )
    text += fold(f"call entry({_arguments(coll, form)})", 4)
    return text + f"end subroutine {name}\n"


def mpich_symbols(table: list[Collective]) -> str:
    """External procedures with the symbols of MPICH's mpi_f08.

    In Fortran, because the descriptor that these receive is the compiler's own; calling a bind(c)
    procedure converts it."""
    parts = []
    for form in FORMS:
        mpis = of_the_mpi(table)
        body = "\n".join(_mpich_symbol(c, form) for c in mpis if form.exists(c))
        parts.append(guarded(form.guard.replace("defined(CRESTA_HAVE_PERSISTENT) && ", ""), body))
    parts = [
        p.replace(
            "#if defined(CRESTA_HAVE_PERSISTENT)\n", "#ifdef CRESTA_HAVE_PERSISTENT\n"
        ).replace("#if defined(CRESTA_HAVE_LARGE_COUNT)\n", "#ifdef CRESTA_HAVE_LARGE_COUNT\n")
        for p in parts
    ]
    return (
        "! The Fortran symbols of MPICH's mpi_f08, which reach its C layer below the MPI_ names.\n"
        "! (Its mpif.h and `use mpi` call MPI_x in C, where the preload library sees them.)\n"
        + "\n".join(parts)
    )
