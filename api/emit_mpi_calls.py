# SPDX-License-Identifier: BSD-3-Clause
"""Writes the wrappers of src/calls, which count every call, from api/mpi_calls.def."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from table import FORMS, SPLIT_FORMS, Collective, Form, c_names, c_parameters, guarded, wrap

TABLE = Path(__file__).parent / "mpi_calls.def"

# What requests that a function makes are of, by its part.
MADE = {
    "begin": "COLLECTIVES",
    "begin-io": "IO",
    "rma": "RMA",
    "begin-communicator": "COMMUNICATORS",
}
# MPIs declare an array with const, or without.
CONST_DIFFERS = {"Pready_list"}
WAITS = ("wait", "test", "request")
WINDOW_PEER = "cco_calls_distance_of_window()"


@dataclass(frozen=True)
class Function:
    name: str
    part: str
    small: str
    large: str
    fortran: tuple[str, ...] | None  # lower case, without ierror; texts end in $

    def forms(self):
        """(its name, its parameters) of each form in C."""
        yield self.name, self.small
        if self.large != "-":
            yield self.name + "_c", self.large


def _row(line: str) -> Function | None:
    cells = [cell.strip() for cell in line.split(" | ")]
    if cells[1].startswith("!"):
        return None
    name, part, small, large, fortran = cells
    arguments = fortran.lower().split()
    names = tuple(arguments[:-1]) if arguments[-1] == "ierror" else None
    return Function(name, part, small, large, names)


def read() -> list[Function]:
    lines = TABLE.read_text().splitlines()
    rows = [_row(line) for line in lines if line and not line.startswith("#")]
    return [row for row in rows if row is not None]


def _parameters(text: str) -> list[tuple[str, str]]:
    """[(declaration, name)] in the house's layout."""
    if text == "void":
        return []
    made = []
    for parameter in text.split(", "):
        parameter = re.sub(r"(\*+) ", r" \1", parameter)
        made.append((parameter, re.search(r"(\w+)(\[.*)?$", parameter)[1]))
    return made


def _bytes(function: Function, names: set[str]) -> str:
    """The bytes of a call: what it sends, is ready to receive, or moves. Those of collectives are
    in the records of the profile, and some of their arguments have no meaning on some ranks.
    """
    if function.part in ("collective", "begin"):
        return "0"
    for count, kind in (
        ("count", "datatype"),
        ("sendcount", "sendtype"),
        ("origin_count", "origin_datatype"),
    ):
        if {count, kind} <= names:
            times = "{partitions} * " if "partitions" in names else ""
            return f"cco_calls_bytes({times}{{{count}}}, {{{kind}}})"
    if "datatype" in names and "origin_addr" in names:  # one element
        return "cco_calls_bytes(1, {datatype})"
    return "0"


def _peer(function: Function, names: set[str]) -> tuple[str, str]:
    """(how far it is, which it is)"""
    if function.part == "rma":
        return WINDOW_PEER, "{target_rank}"
    if function.part in ("send", "receive", "start", "test") and "comm" in names:
        for peer in ("dest", "source"):
            if peer in names:
                return f"cco_calls_distance_of({{comm}}, {{{peer}}})", f"{{{peer}}}"
    return "CCO_CALLS_NO_PEER", "0"


def _waited(function: Function, names: set[str]) -> tuple[str, str] | None:
    """(how many requests, which) of a wait or a test."""
    if function.part not in WAITS:
        return None
    if "array_of_requests" in names:
        return ("{incount}" if "incount" in names else "{count}"), "{array_of_requests}"
    return ("1", "{request}") if "request" in names else None


def _leave(function: Function, names: set[str], spelled: dict[str, str], waited) -> str:
    """The end of a counted call, with its arguments as they are `spelled` in C."""
    data = _bytes(function, names).format(**spelled)
    far, peer = (text.format(**spelled) for text in _peer(function, names))
    if data != "0" and peer != "0":
        data = f"{peer} == MPI_PROC_NULL ? 0 : {data}"
    of = "waited.of" if waited else "CCO_CALLS_OF_MESSAGES"
    return f"CCO_CALLS_LEAVE({function.name}, {of}, {far}, {data});"


def _c_wrapper(function: Function, name: str, text: str) -> str:
    parameters = _parameters(text)
    names = {n for _, n in parameters}
    same = {n: n for n in names}
    declared = ", ".join(d for d, _ in parameters) or "void"
    given = ", ".join(n for _, n in parameters)
    waited, made = _waited(function, names), MADE.get(function.part)
    lines = [f"CCO_EXPORT int MPI_{name}({declared})"]
    if name in CONST_DIFFERS:
        declared = declared.replace("const ", "")
        lines = [f'CCO_EXPORT int cco_calls_{name}({declared}) __asm__("MPI_{name}");']
        lines += [f"int cco_calls_{name}({declared})"]
    by_value = "MPI_Request request" in (d for d, _ in parameters)
    body = [f"    CCO_CALLS_NEXT(MPI_{name});"]
    if waited:
        count, requests = (w.format(**same) for w in waited)
        address = f"&{requests}" if by_value else requests
        body += [f"    CCO_CALLS_LOOK({count}, {address});"]
    body += [f"    CCO_CALLS_ENTER({function.name});", f"    const int rc = next({given});"]
    body += [f"    {_leave(function, names, same, waited)}"]
    if waited and not by_value:
        body += [f"    CCO_CALLS_ENDED({requests});"]
    if made and "request" in names:
        body += [f"    CCO_CALLS_BEGUN(*request, {made});"]
    body += ["    return rc;"]
    return "\n".join(wrap(line) for line in lines) + "\n{\n" + "\n".join(
        wrap(line, " " * 8) for line in body
    ) + "\n}\n"


# What these do besides is in src/calls/job.c.
BY_HAND = {"Init", "Init_thread", "Finalize", "Pcontrol"}


def function_list(_) -> str:
    rows = "".join(f'CCO_CALLS_FUNCTION({f.name}, "{f.part}")\n' for f in read())
    return "/* CCO_CALLS_FUNCTION(name without MPI_, its part): those that are counted. */\n" + rows


def wrappers(_) -> str:
    text = (
        "/* Every function that a profile counts, by its name in C: as far as this MPI's mpi.h\n"
        " * declares it (calls_declared.h, which the build makes). */\n"
        '#include "calls/wrap.h"\n#include <calls_declared.h>\n\n'
    )
    for function in read():
        if function.name in BY_HAND:
            continue
        for name, parameters in function.forms():
            body = _c_wrapper(function, name, parameters)
            text += f"#if defined(CCO_DECLARED_{name})\n{body}#endif\n\n"
    return text.rstrip("\n") + "\n"


# Functions that MPIs also have under a second Fortran name, which returns an address as a
# type(c_ptr).
C_POINTERS = {"Win_allocate", "Win_allocate_shared"}
ADDRESS = {  # what stands for an argument of C
    "count": "CCO_F_COUNT({})",
    "type": "PMPI_Type_f2c(*(const MPI_Fint *){})",
    "comm": "PMPI_Comm_f2c(*(const MPI_Fint *){})",
    "int": "(*(const MPI_Fint *){})",
}


def _of_fortran(names: set[str]) -> dict[str, str]:
    """C's value of each argument that a wrapper looks at."""
    made = {}
    for name in names:
        kind = "int"
        if name in ("datatype", "sendtype", "origin_datatype"):
            kind = "type"
        elif name in ("sendcount", "origin_count", "partitions") or name == "count":
            kind = "count"
        elif name == "comm":
            kind = "comm"
        made[name] = ADDRESS[kind].format(name)
    return made


def _f_statements(function: Function) -> list[str]:
    names = {n.rstrip("$") for n in function.fortran}
    texts = [f"length_{n[:-1]}" for n in function.fortran if n.endswith("$")]
    given = ", ".join([*(n.rstrip("$") for n in function.fortran), "ierror", *texts])
    if function.name == "Finalize":
        here = "__builtin_return_address(0), __builtin_frame_address(0)"
        return [f"cco_calls_finalize({here});", f"next({given});", "cco_calls_finalized(*ierror);"]
    as_c = _of_fortran(names)
    waited, made = _waited(function, names), MADE.get(function.part)
    lines = ["cco_calls_init();"] if function.name in ("Init", "Init_thread") else []
    if waited:
        count = "1" if waited[0] == "1" else as_c[waited[0].strip("{}")]
        requests = waited[1].strip("{}")
        lines += [f"CCO_CALLS_F_LOOK({count.replace('CCO_F_COUNT', 'CCO_F_INT')}, {requests});"]
    lines += [f"CCO_CALLS_ENTER({function.name});", f"next({given});"]
    lines += ["const MPI_Fint rc = *ierror;"]
    if function.name in ("Init", "Init_thread"):
        lines += ["cco_calls_initialized(rc);"]
    lines += [_leave(function, names, as_c, waited)]
    if waited:
        lines += [f"CCO_CALLS_F_ENDED({requests});"]
    if made and "request" in names:
        lines += [f"CCO_CALLS_BEGUN(PMPI_Request_f2c(*(const MPI_Fint *)request), {made});"]
    return lines


def _f_body(function: Function) -> str:
    """A macro: the function by any of its names."""
    names = [n.rstrip("$") for n in function.fortran]
    texts = [f"size_t length_{n[:-1]}" for n in function.fortran if n.endswith("$")]
    declared = ", ".join([*(f"cco_f {n}" for n in names), "MPI_Fint *ierror", *texts])
    kinds = ", ".join(["cco_f"] * len(names) + ["MPI_Fint *"] + ["size_t"] * len(texts))
    lines = [f"#define CCO_F_{function.name}(symbol, CCO_F_COUNT)"]
    lines += wrap(f"CCO_EXPORT void symbol({declared});", " " * 8, 94, "    ").split("\n")
    lines += wrap(f"CCO_EXPORT void symbol({declared})", " " * 8, 94, "    ").split("\n")
    lines += ["    {"]
    for line in [f"CCO_CALLS_F_NEXT(symbol, ({kinds}));", *_f_statements(function)]:
        lines += wrap(line, " " * 12, 94, " " * 8).split("\n")
    lines += ["    }"]
    return " \\\n".join(lines) + "\n"


def _f_symbols(function: Function) -> str:
    low, up = function.name.lower(), function.name.upper()
    names = [n.rstrip("$") for n in function.fortran]
    texts = ["size_t"] * sum(n.endswith("$") for n in function.fortran)
    kinds = ", ".join(["cco_f"] * len(names) + ["MPI_Fint *"] + texts)
    text = f"CCO_F_{function.name}(mpi_{low}_, CCO_F_INT)\n"
    text += wrap(f"CCO_F_SPELLINGS({low}, {up}, ({kinds}))", " " * 4) + "\n"
    text += f"CCO_F_{function.name}(mpi_{low}_f08_, CCO_F_INT)\n"
    if function.name in C_POINTERS:
        text += f"CCO_F_{function.name}(mpi_{low}_cptr_, CCO_F_INT)\n"
        text += wrap(f"CCO_F_SPELLINGS({low}_cptr, {up}_CPTR, ({kinds}))", " " * 4) + "\n"
    text += "#if !defined(OPEN_MPI)\n"
    text += f"CCO_F_{function.name}(mpi_{low}_f08ts_, CCO_F_INT)\n"
    if function.large != "-":
        text += f"CCO_F_{function.name}(mpi_{low}_f08_large_, CCO_F_LARGE)\n"
        text += f"CCO_F_{function.name}(mpi_{low}_f08ts_large_, CCO_F_LARGE)\n"
    return text + "#endif\n"


def fortran(_) -> str:
    text = (
        "/* Every function that a profile counts, by its names in Fortran. An argument is an\n"
        " * address in all of the bindings, also where that is one of a descriptor. */\n"
        '#include "calls/wrap.h"\n#include "calls/job.h"\n#include <calls_declared.h>\n\n'
    )
    for function in read():
        if function.fortran is None:
            continue
        text += f"#if defined(CCO_DECLARED_{function.name})\n"
        text += _f_body(function) + _f_symbols(function) + "#endif\n\n"
    return text.rstrip("\n") + "\n"


# What a program that is linked to crestacoll calls besides: counted as the call of the MPI that
# does the same.
WAITS_OF_OURS = {
    "Coll_end": ("Waitall", "int count, MPI_Request requests[]", "count", "requests"),
    "Coll_test": ("Testall", "int count, MPI_Request requests[], int *flag", "count", "requests"),
    "Coll_some": ("Waitsome", "MPI_Request request, int maxblocks, int blocks[], int *n", "", ""),
    "Coll_testsome": (
        "Testsome",
        "MPI_Request request, int maxblocks, int blocks[], int *n",
        "",
        "",
    ),
}


def _linked_wrapper(coll: Collective, form: Form) -> str:
    begins = form.mode in ("nonblocking", "split")
    stands_for = Form("nonblocking" if begins else form.mode, False).name(coll.name)
    parameters, given = ", ".join(c_parameters(coll, form)), ", ".join(c_names(coll, form))
    name = f"CRESTA_{form.name(coll.name)}"
    lines = [f"CCO_CALLS_NEXT_OF({name}, &{name});", f"CCO_CALLS_ENTER({stands_for});"]
    lines += [f"const int rc = next({given});"]
    lines += [f"CCO_CALLS_LEAVE({stands_for}, CCO_CALLS_OF_MESSAGES, CCO_CALLS_NO_PEER, 0);"]
    if form.mode != "blocking":
        lines += ["CCO_CALLS_BEGUN(*request, COLLECTIVES);"]
    body = "".join(wrap(line, " " * 8, first="    ") + "\n" for line in [*lines, "return rc;"])
    return guarded(form.guard, f"{wrap(f'CCO_EXPORT int {name}({parameters})')}\n{{\n{body}}}\n")


def _wait_of_ours(name: str) -> str:
    stands_for, parameters, count, requests = WAITS_OF_OURS[name]
    given = ", ".join(n for _, n in _parameters(parameters))
    look = f"CCO_CALLS_LOOK({count}, {requests});" if count else ""
    lines = [f"CCO_CALLS_NEXT_OF(CRESTA_{name}, &CRESTA_{name});", look]
    lines += [f"CCO_CALLS_ENTER({stands_for});"]
    of = "waited.of" if count else "CCO_CALLS_OF_COLLECTIVES"
    lines += [f"const int rc = next({given});"]
    lines += [f"CCO_CALLS_LEAVE({stands_for}, {of}, CCO_CALLS_NO_PEER, 0);"]
    lines += [f"CCO_CALLS_ENDED({requests});"] if count else []
    body = "".join(wrap(li, " " * 8, first="    ") + "\n" for li in [*lines, "return rc;"] if li)
    return f"{wrap(f'CCO_EXPORT int CRESTA_{name}({parameters})')}\n{{\n{body}}}\n"


def _linked_fortran(coll: Collective, form: Form) -> str:
    names = [*c_names(coll, form), "ierror"]
    begins = form.mode in ("nonblocking", "split")
    stands_for = Form("nonblocking" if begins else form.mode, False).name(coll.name)
    declared = ", ".join(f"cco_f {n}" for n in names[:-1]) + ", MPI_Fint *ierror"
    kinds = ", ".join(["cco_f"] * (len(names) - 1)) + ", MPI_Fint *"
    text = ""
    for end in ("int", "f08"):
        symbol = f"cresta_{form.name(coll.name).lower()}_{end}"
        lines = [f"CCO_CALLS_F_NEXT({symbol}, ({kinds}));"]
        lines += [f"CCO_CALLS_ENTER({stands_for});"]
        lines += [f"next({', '.join(names)});", "const MPI_Fint rc = *ierror;"]
        lines += [f"CCO_CALLS_LEAVE({stands_for}, CCO_CALLS_OF_MESSAGES, CCO_CALLS_NO_PEER, 0);"]
        if form.mode != "blocking":
            made = "PMPI_Request_f2c(CCO_F_INT(request))"
            lines += [f"CCO_CALLS_BEGUN({made}, COLLECTIVES);"]
        body = "".join(wrap(line, " " * 8, first="    ") + "\n" for line in lines)
        head = wrap(f"CCO_EXPORT void {symbol}({declared})")
        text += f"{head};\n{head}\n{{\n{body}}}\n"
    return guarded(form.guard, text)


def linked(table: list[Collective]) -> str:
    """CRESTA_x, in C and in Fortran."""
    text = (
        "/* The collectives that a program calls by crestacoll's own names, where it is linked to\n"
        " * libcrestacoll.so. */\n"
        '#include "calls/wrap.h"\n#include "cresta_sp_coll.h"\n\n'
    )
    theirs = [coll for coll in table if not coll.ours]
    parts = [
        emit(coll, form)
        for emit in (_linked_wrapper, _linked_fortran)
        for form in (*FORMS, *SPLIT_FORMS)
        for coll in theirs
        if form.exists(coll) and not (form.large and emit is _linked_fortran)
    ]
    return text + "\n".join([*parts, *(_wait_of_ours(name) for name in WAITS_OF_OURS)])
