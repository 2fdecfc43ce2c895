# SPDX-License-Identifier: BSD-3-Clause
"""The generated C: prototypes, entry points, calls of the MPI, interposed symbols, the check."""

from __future__ import annotations

from table import (
    FORMS,
    RECORDED_FORMS,
    SPLIT_FORMS,
    Collective,
    Form,
    Shape,
    c_names,
    c_parameters,
    guarded,
    of_the_mpi,
    wrap,
)


def _each(table: list[Collective], emit, forms: tuple[Form, ...] = FORMS) -> str:
    """emit(collective, form) for every form, grouped so that one #if covers a group."""
    parts = []
    for form in forms:
        body = "\n".join(emit(coll, form) for coll in table if form.exists(coll))
        parts.append(guarded(form.guard, body))
    return "\n".join(parts)


def _public(coll: Collective, form: Form) -> str:
    return "CRESTA_" + form.name(coll.name)


def _mpi(coll: Collective, form: Form, prefix: str) -> str:
    """The MPI's name; persistent ones go through a macro because Open MPI 4 calls them MPIX_."""
    name = form.name(coll.name)
    return f"CCO_{prefix}_INIT({name})" if form.mode == "persistent" else f"{prefix}_{name}"


def _signature(name: str, coll: Collective, form: Form, end: str, before: str = "") -> str:
    return wrap(f"{before}int {name}({', '.join(c_parameters(coll, form))}){end}") + "\n"


def _prototypes(table: list[Collective], forms: tuple[Form, ...], guard: str) -> str:
    text = f"#ifndef {guard}\n#define {guard}\n\n"
    parts = []
    for form in forms:
        body = "".join(_signature(_public(c, form), c, form, ";") for c in table if form.exists(c))
        parts.append(guarded(form.guard, body))
    return text + "\n".join(parts) + "\n#endif\n"


def prototypes(table: list[Collective]) -> str:
    return _prototypes(table, FORMS + RECORDED_FORMS, "CRESTACOLL_PROTO_H")


def split_prototypes(table: list[Collective]) -> str:
    return _prototypes(table, SPLIT_FORMS, "CRESTA_SP_COLL_PROTO_H")


def _shape(shape: Shape) -> str:
    ranks = {"all": "", "root": " | CCO_AT_ROOT", "later": " | CCO_LATER"}
    return "CCO_" + shape.blocks.upper() + ranks[shape.ranks]


def name_list(table: list[Collective]) -> str:
    def row(coll: Collective) -> str:
        properties = sorted(coll.properties | coll.derived)
        flags = " | ".join("CCO_" + p.upper() for p in properties) or "0"
        names = f'{coll.name.upper()}, "{coll.name}", "{coll.name.capitalize()}"'
        shapes = f"{_shape(coll.gives)}, {_shape(coll.gets)}"
        return wrap(f"CCO_COLLECTIVE({names}, {flags}, {shapes})") + "\n"

    return (
        "/* CCO_COLLECTIVE(enum suffix, name, MPI's name without prefix, properties, what a rank\n"
        " * gives, what it gets) */\n"
        + "".join(map(row, table))
    )


def _rest(fields: list[str]) -> list[str]:
    """The other members of a call without arrays: where one is not named, compilers first clear all
    of it, in a loop."""
    named = {field.split()[0] for field in fields}
    rest = {".by": "CCO_CALLER_CRESTA", ".large": "false", ".root": "0", ".op": "0"}
    return [f"{m} = {zero}" for m, zero in rest.items() if m not in named] + ["CCO_NO_ARRAYS"]


def _call_literal(coll: Collective, form: Form, by: str = "CCO_CALLER_CRESTA") -> str:
    fields = [f".coll = {coll.enum}"]
    if by != "CCO_CALLER_CRESTA":  # which is 0
        fields.append(f".by = {by}")
    if form.large:
        fields.append(".large = true")
    for arg in coll.args:
        fields += [f".{field} = {arg.name}" for field in arg.fields]
    arrays = any("counts" in field for field in fields)
    if form.mode == "blocking" and len(coll.args) > 1 and not arrays:
        fields += _rest(fields)
    return "&(cco_call){" + ", ".join(fields) + "}"


def _plain(coll: Collective, form: Form, by: str) -> str:
    """The call as it came, to the MPI or a tool behind us (native/natives.h)."""
    name, given = form.name(coll.name), ", ".join(c_names(coll, form))
    return f"return cco_native[{by}].{name}({given});"


def _again(coll: Collective, form: Form) -> str:
    """What the communicator remembers of the call, for one without arrays."""
    given = {field: arg.name for arg in coll.args for field in arg.fields}
    kinds = {"sendtype": "(MPI_Datatype)0", "recvtype": "(MPI_Datatype)0", "op": "(MPI_Op)0"}
    kinds |= dict.fromkeys(("sendbuf", "recvbuf"), "NULL")
    wanted = ("sendbuf", "recvbuf", "sendcount", "recvcount", "sendtype", "recvtype", "op")
    root, large = given.get("root", "0"), "true" if form.large else "false"
    rest = ", ".join(given.get(field, kinds.get(field, "0")) for field in wanted)
    one = str(given.get("sendcount") == given.get("recvcount")).lower()
    return f"CCO_FAST_PATH(comm, {coll.enum}, {root}, {large}, {one}, {rest})"


def _first(coll: Collective, form: Form, by: str, public: str) -> str:
    """The entry of a blocking call without arrays: it looks for what is remembered, before it puts
    the arguments into a call.  All else is in a function of its own, which has registers to save.
    """
    given = {field: arg.name for arg in coll.args for field in arg.fields}
    buffers = f"{given.get('sendbuf', 'NULL')}, {given.get('recvbuf', 'NULL')}"
    if "in" not in {arg.kind for arg in coll.args}:  # one buffer for both, or none
        buffers = ", ".join([given.get("recvbuf", "NULL")] * 2)
    names = ", ".join(c_names(coll, form))
    return (
        _signature(public, coll, form, "")
        + "{\n"
        + "    if (cco_phase_now() == CCO_IDLE)\n"
        + wrap(_plain(coll, form, by), " " * 12, first=" " * 8)
        + "\n"
        + wrap(f"const cco_repeat *again = {_again(coll, form)};", " " * 8, first="    ")
        + "\n    if (again != NULL)\n"
        + f"        return again->run(again, {buffers}, NULL);\n"
        + wrap(f"return {public}_slow({names});", " " * 8, first="    ")
        + "\n}\n"
    )


def _entry(coll: Collective, form: Form, by: str = "CCO_CALLER_CRESTA") -> str:
    """The entry under our name; with CCO_CALLER_MPI that under the MPI's."""
    blocking = form.mode == "blocking"
    public = _public(coll, form) if by == "CCO_CALLER_CRESTA" else _mpi(coll, form, "MPI")
    repeats = blocking and not coll.has_arrays()
    enter = f"cco_enter(comm, {coll.enum})" if blocking else "cco_enter_start(comm)"
    literal = _call_literal(coll, form, by)
    if blocking:
        run = f"return cco_dispatch(state, {literal});"
    else:
        info = "info" if form.mode == "persistent" else "MPI_INFO_NULL"
        run = f"return cco_start(state, CCO_{form.mode.upper()}, {literal}, {info}, request);"
    name, before = (f"{public}_slow", "CCO_SLOW_PATH static ") if repeats else (public, "")
    return (
        _signature(name, coll, form, "", before)
        + "{\n"
        + f"    cco_comm *state = {enter};\n"
        + "    if (state == NULL)\n"
        + wrap(_plain(coll, form, by), " " * 12, first=" " * 8)
        + "\n"
        + wrap(run, " " * 8, first="    ")
        + "\n}\n"
        + ("\n" + _first(coll, form, by, public) if repeats else "")
    )


def _own_entry(coll: Collective, form: Form) -> str:
    """What no MPI has always passes through the choice."""
    literal = _call_literal(coll, form)
    run = f"cco_profile_count({literal}, recording)"
    if form.mode == "blocking":
        run = f"cco_dispatch_ours({literal})"
    return (
        _signature(_public(coll, form), coll, form, "")
        + "{\n"
        + wrap(f"return {run};", " " * 8, first="    ")
        + "\n}\n"
    )


def _any_entry(coll: Collective, form: Form) -> str:
    return _own_entry(coll, form) if coll.ours else _entry(coll, form)


def entries(table: list[Collective]) -> str:
    return (
        "/* CRESTA_x, CRESTA_Ix, CRESTA_x_init: straight to the MPI, or through the choice. */\n"
        '#include "api/dispatch.h"\n#include "extensions/ours.h"\n#include "split/split.h"\n'
        '#include "native/natives.h"\n\n'
        + _each(table, _any_entry, FORMS + RECORDED_FORMS)
    )


def _split_entry(coll: Collective, form: Form) -> str:
    """Arrays must be copied; other calls may go straight to the MPI."""
    text = _signature(_public(coll, form), coll, form, "") + "{\n"
    if not coll.has_arrays() and not coll.ours:
        native = Form("nonblocking", form.large)
        plain = _plain(coll, native, "CCO_CALLER_CRESTA")
        root = "root" if any(a.kind == "root" for a in coll.args) else "0"
        call = plain.removeprefix("return ").removesuffix(";")
        plain = f"return cco_streaming({call}, {coll.enum}, {root}, comm, request);"
        text += "    if (cco_begin_is_plain())\n"
        text += wrap(plain, " " * 12, first=" " * 8) + "\n"
    run = f"return cco_begin({_call_literal(coll, form)}, request);"
    return text + wrap(run, " " * 8, first="    ") + "\n}\n"


def split_entries(table: list[Collective]) -> str:
    return (
        "/* CRESTA_x_begin: straight to the MPI, or with what must outlive the call. */\n"
        '#include "split/split.h"\n#include "split/streaming.h"\n#include "native/natives.h"\n\n'
        + _each(table, _split_entry, SPLIT_FORMS)
    )


def _member(arg, field: str, large: bool) -> str:
    """The expression that takes an argument out of a cco_call."""
    casts = {
        "n": "" if large else "(int)",
        "ns": "(const MPI_Count *)" if large else "(const int *)",
        "ds": "(const MPI_Aint *)" if large else "(const int *)",
        "bs": "(const MPI_Aint *)",
    }
    return f"{casts.get(arg.kind, '')}c->{field}"


def _case(coll: Collective, form: Form) -> str:
    if coll.ours:
        return f"    case {coll.enum}:\n        return cco_neighbor_reduce(c);\n"
    members = [_member(a, a.fields[-1], form.large) for a in coll.args]
    members += [name for _, name in form.extra]
    call = f"return to->{form.name(coll.name)}({', '.join(members)});"
    return f"    case {coll.enum}:\n" + wrap(call, " " * 12, first=" " * 8) + "\n"


def _native_function(table: list[Collective], form: Form) -> str:
    extra = "".join(f", {kind}{name}" for kind, name in form.extra)
    size = "_large" if form.large else ""
    cases = "".join(_case(c, form) for c in table if form.exists(c))
    head = f"static int {form.mode}{size}(const cco_natives *to, const cco_call *c{extra})"
    body = (
        wrap(head) + "\n"
        f"{{\n    switch (c->coll) {{\n{cases}"
        "    default:\n        return MPI_ERR_UNSUPPORTED_OPERATION;\n    }\n}\n"
    )
    return guarded(form.guard, body)


def _native_front(mode: str) -> str:
    form = next(f for f in FORMS if f.mode == mode and not f.large)
    extra = "".join(f", {kind}{name}" for kind, name in form.extra)
    names = "".join(f", {name}" for _, name in form.extra)
    unused = "".join(f"    (void){name};\n" for _, name in form.extra)
    body = (
        "#if defined(CRESTA_HAVE_LARGE_COUNT)\n    if (c->large)\n"
        f"        return {mode}_large(to, c{names});\n#endif\n"
        f"    return {mode}(to, c{names});\n"
    )
    if form.guard:
        refuse = f"    (void)to, (void)c;\n{unused}    return MPI_ERR_UNSUPPORTED_OPERATION;\n"
        body = f"#if {form.guard}\n{body}#else\n{refuse}#endif\n"
    head = f"int cco_native_{mode}(const cco_natives *to, const cco_call *c{extra})"
    return f"{wrap(head)}\n{{\n{body}}}\n"


def native_calls(table: list[Collective]) -> str:
    functions = "\n".join(_native_function(table, form) for form in FORMS)
    fronts = "\n".join(_native_front(mode) for mode in ("blocking", "nonblocking", "persistent"))
    return (
        "/* The MPI's own collectives, called with the arguments in a cco_call. */\n"
        '#include "native/calls.h"\n#include "native/neighbor_reduce.h"\n\n'
        + functions + "\n" + fronts
    )


def _wrapper(coll: Collective, form: Form) -> str:
    return _entry(coll, form, "CCO_CALLER_MPI")


def wrappers(table: list[Collective]) -> str:
    return (
        "/* Every collective of the MPI, under its own "
        "name: what makes the preload library work. */\n"
        '#include "api/dispatch.h"\n#include "split/split.h"\n#include "native/natives.h"\n\n'
        '#pragma GCC visibility push(default)\n\n'
        + _each(of_the_mpi(table), _wrapper)
    )


def _native(coll: Collective, form: Form) -> str:
    own, theirs = _mpi(coll, form, "PMPI"), _mpi(coll, form, "MPI")
    parameters, given = ", ".join(c_parameters(coll, form)), ", ".join(c_names(coll, form))
    row = f"CCO_NATIVE({form.name(coll.name)}, {own}, {theirs}, ({parameters}), ({given}))"
    return wrap(row, "    ") + "\n"


def natives(table: list[Collective]) -> str:
    return (
        "/* CCO_NATIVE(name without prefix, the MPI's own name, that for programs and tools,\n"
        " * (parameters), (arguments)) */\n" + _each(of_the_mpi(table), _native)
    )


def _check(coll: Collective, form: Form) -> str:
    kinds = wrap(
        f"int (*{form.name(coll.name)})({', '.join(c_parameters(coll, form))}) ="
        f" {_mpi(coll, form, 'PMPI')};",
        " " * 8,
        first="    ",
    )
    return f"{kinds}\n    (void){form.name(coll.name)};\n"


def header_check(table: list[Collective]) -> str:
    body = _each(of_the_mpi(table), _check)
    return (
        "/* Compiles only if the table agrees with this "
        "MPI's mpi.h: each PMPI_x is assigned to a pointer to the\n"
        " * function that the table describes. */\n"
        '#include "crestacoll.h"\n\n#include "mpi/mpi_compat.h"\n\nint main(void)\n{\n'
        + body
        + "    return 0;\n}\n"
    )
