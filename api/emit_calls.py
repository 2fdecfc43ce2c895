# SPDX-License-Identifier: BSD-3-Clause
"""Calls of every collective as check/, bench/ and tests/ make them, from data of theirs."""

from __future__ import annotations

import textwrap

from table import (
    FORMS,
    SPLIT_FORMS,
    Arg,
    Collective,
    c_names,
    c_parameters,
    of_the_mpi,
    wrap,
)

BLOCKING, NONBLOCKING, PERSISTENT = FORMS[:3]
SPLIT = SPLIT_FORMS[0]


# ---- check/collectives.h


def _check_shape(coll: Collective) -> str:
    """The members of struct coll_shape that are true. Only of these shapes check/ knows the result
    by itself."""
    known = coll.gets.blocks in ("one", "each") and not coll.near
    members = {
        "moves": known and not coll.reduces,
        "reduces": known and coll.reduces,
        "rooted": "rooted" in coll.properties,
        "uneven": "counts" in coll.derived,
        "sends_all": coll.gives.blocks in ("each", "near"),
        "receives_all": coll.gets.blocks in ("each", "near"),
        "in_place": known and coll.gives.blocks != "none",
        "near": coll.near,
        "ours": coll.ours,
    }
    shape = ", ".join(f".{name} = true" for name, holds in members.items() if holds)
    return shape or ".moves = false"  # C wants one


def _define(text: str) -> str:
    return wrap(f"#define {text}", width=98).replace("\n", " \\\n") + "\n"


def _check_argument(arg: Arg) -> str:
    return f"q->{arg.side}bytes" if arg.kind == "bs" else "q->" + arg.fields[-1]


def check_list(table: list[Collective]) -> str:
    """The collectives that move data come first, as `crestacoll check` goes through them;
    neighbourhood collectives last, so that others can be counted."""
    ordered = sorted(table, key=lambda coll: (coll.near, coll.reduces))

    def names(of: list[Collective]) -> str:
        return " \\\n".join(f"    X({c.name.capitalize()}, {c.name})" for c in of)

    ours = [coll for coll in ordered if coll.ours]
    rows = ""
    for coll in ordered:
        name = coll.name.capitalize()
        arguments = ", ".join(map(_check_argument, coll.args))
        rows += _define(f"ARGS_{name} {arguments}") + _define(f"SHAPE_{name} {_check_shape(coll)}")
    return (
        "/* The collectives, the arguments of each as the call `q` has them (check/call.h), and\n"
        " * the members of its struct coll_shape that are true. */\n"
        "#ifndef CHECK_COLLECTIVES_H\n#define CHECK_COLLECTIVES_H\n\n"
        f"#define MPI_COLLECTIVES(X) \\\n{names(of_the_mpi(ordered))}\n\n"
        "/* Those that no MPI has. */\n"
        f"#define OUR_COLLECTIVES(X) \\\n{names(ours)}\n\n"
        "#define COLLECTIVES(X) MPI_COLLECTIVES(X) OUR_COLLECTIVES(X)\n\n"
        f"{rows}\n#endif\n"
    )


# ---- bench/collectives.inc


def _bench_part(coll: Collective, blocks: str) -> str:
    """How much of a buffer a rank uses. In a reduction with counts, a vector of a block's size is
    cut into shares."""
    uneven = "counts" in coll.derived
    if coll.near:  # blocks of neighbours are alike, also where they need not be
        return {"one": "BENCH_BLOCK", "near": "BENCH_NEIGHBORS"}[blocks]
    if uneven and coll.reduces:
        return {"each": "BENCH_BLOCK", "one": "BENCH_SHARE"}[blocks]
    even_names = {"none": "BENCH_NOTHING", "one": "BENCH_BLOCK", "each": "BENCH_BLOCKS"}
    uneven_names = {"one": "BENCH_MINE", "each": "BENCH_EVERYONES"}
    return (uneven_names if uneven else even_names)[blocks]


def _bench_argument(coll: Collective, arg: Arg) -> str:
    if arg.kind == "n" and "counts" in coll.derived and not coll.near:
        return "q->counts[q->rank]"
    if arg.kind == "ns" and coll.reduces:
        return "q->totals"
    return {
        "in": "bench_send(q,\xa0slot)",  # wrap() does not part them
        "out": "bench_recv(q,\xa0slot)",
        "inout": "bench_recv(q,\xa0slot)",
        "n": "q->count",
        "ns": "q->counts",
        "ds": "q->displs",
        "bs": "q->places",
        "dt": "q->type",
        "dts": "q->types",
        "op": "MPI_SUM",
        "root": "root",
        "comm": "comm",
    }[arg.kind]


def bench_list(table: list[Collective]) -> str:
    where = {"all": "BENCH_ALL", "root": "BENCH_AT_ROOT", "later": "BENCH_NOT_FIRST"}
    rows = ""
    for coll in table:
        parts = [_bench_part(coll, side.blocks) for side in (coll.gives, coll.gets)]
        flags = [str(int(name in coll.properties)) for name in ("rooted", "reduction")]
        given = ", ".join(_bench_argument(coll, arg) for arg in coll.args)
        row = [coll.name, coll.name.capitalize(), *parts, where[coll.gets.ranks], *flags]
        row += [f"({', '.join(c_parameters(coll, BLOCKING))})", f"({given})"]
        rows += wrap(f"BENCH_COLLECTIVE({', '.join(row + c_names(coll, BLOCKING))})") + "\n"
    return (
        "/* BENCH_COLLECTIVE(name, MPI's name without prefix, what a rank sends, what it\n"
        " * receives, which ranks have a result, rooted, reduction, (parameters), (arguments for\n"
        " * a problem), names of the parameters...) */\n" + rows
    )


# ---- check/fortran/calls.inc


def _fortran_argument(coll: Collective, arg: Arg) -> str:
    uneven, scatters = "counts" in coll.derived, "scatters" in coll.derived
    typed = any(a.kind == "dts" for a in coll.args)
    return {
        "in": "send" if scatters or coll.near else "GIVEN",
        "out": "TAKEN" if scatters else "recv",
        "inout": "recv",
        "n": "p%mine" if uneven else "p%n",
        "ns": "p%counts",
        "ds": "p%bytes" if typed else "p%displs",
        "bs": "p%addresses",
        "dt": "t",
        "dts": "p%types",
        "op": "p%op",
        "root": "p%root",
        "comm": "p%group%comm\xa0REQUEST",
    }[arg.kind]


def _fortran_case(coll: Collective) -> str:
    given = ", ".join([_fortran_argument(coll, arg) for arg in coll.args] + ["rc"])
    called = f"CALLED({coll.name.capitalize()})"
    if coll.ours:  # all ranks are neighbours there, in order
        same = "Reduce_scatter_block" if coll.gives.blocks == "near" else "Allreduce"
        called = f"OURS({coll.name.capitalize()},{same})"
    call = textwrap.wrap(
        f"call {called}({given})",
        98,
        initial_indent=" " * 12,
        subsequent_indent=" " * 16,
    )
    return f"        case ('{coll.name}')\n" + " &\n".join(call).replace("\xa0", " ") + "\n"


def fortran_calls(table: list[Collective]) -> str:
    return (
        "! A subroutine NAME that makes one call.  CALLED(x) is what is called, GIVEN and TAKEN\n"
        "! are its buffers where it may be in place, REQUEST what stands in front of ierror.\n"
        "! OURS(x, y): no MPI has x, and y is the same where all ranks are neighbours in order.\n"
        "    subroutine NAME(p, send, recv, rc)\n"
        "        type(problem_type), intent(in) :: p\n"
        "        VALUE_TYPE, asynchronous :: send(*), recv(*)\n"
        "        integer, intent(out) :: rc\n"
        "        integer :: request\n"
        "        request = MPI_REQUEST_NULL\n"
        "        select case (p%coll)\n"
        + "".join(map(_fortran_case, table))
        + "        case default\n"
        "            error stop 'crestacoll-check-fortran: no such collective'\n"
        "        end select\n"
        "        if (request /= MPI_REQUEST_NULL) rc = finished(request)\n"
        "    end subroutine NAME\n"
    )


# ---- tests/fortran/names.inc


def _renamed(table: list[Collective], old, new) -> str:
    names = [coll.name for coll in of_the_mpi(table)]
    return "".join(f"#  define {old(name)} {new(name)}\n" for name in names)


def fortran_names(table: list[Collective]) -> str:
    def mpi(form):
        return lambda name: "MPI_" + form.name(name)

    def cresta(form):
        return lambda name: "CRESTA_" + form.name(name)

    return (
        "! What MPI_x stands for in a program that is LINKED, and where persistent ones are\n"
        "! MPIX_x (binding.inc).  gfortran has a traditional preprocessor: no pasting.\n"
        "#if defined(OPENMPI4)\n"
        + _renamed(table, mpi(PERSISTENT), lambda name: "MPIX_" + PERSISTENT.name(name))
        + "#endif\n#if defined(LINKED)\n"
        + _renamed(table, mpi(BLOCKING), cresta(BLOCKING))
        + "#endif\n#if defined(LINKED) && defined(SPLIT)\n"
        + _renamed(table, mpi(NONBLOCKING), cresta(SPLIT))
        + "#elif defined(LINKED)\n"
        + _renamed(table, mpi(NONBLOCKING), cresta(NONBLOCKING))
        + "#endif\n"
    )
