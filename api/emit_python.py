# SPDX-License-Identifier: BSD-3-Clause
"""The generated parts of the Python interface: what mpi4py's calls are routed to, and types."""

from __future__ import annotations

import textwrap

from table import Collective, Form, c_names, c_parameters, wrap

# The form of MPI's call that mpi4py makes, and ours that may take its place.
PAIRS = tuple(
    (Form(mode, large), Form(to, large))
    for mode, to in (("blocking", "blocking"), ("nonblocking", "split"))
    for large in (False, True)
)
HANDLES = ("MPI_Datatype", "MPI_Op", "MPI_Comm", "MPI_Request")


def _way(coll: Collective, mode: str) -> str:
    return Form(mode, False).name(coll.name)


def _entry(coll: Collective, theirs: Form, ours: Form) -> str:
    parameters = ", ".join(c_parameters(coll, theirs))
    for handle in HANDLES:
        parameters = parameters.replace(f"const {handle} ", "HANDLE const ")
        parameters = parameters.replace(handle, "HANDLE")
    names = ", ".join(c_names(coll, theirs))
    way = _way(coll, ours.mode)
    text = f"CRESTA_ENTRY({theirs.name(coll.name)}, {way}, {ours.name(coll.name)}, "
    return wrap(f"{text}({parameters}), ({names}))", " " * 13) + "\n"


def entries(table: list[Collective]) -> str:
    rows = [
        _entry(coll, theirs, ours)
        for theirs, ours in PAIRS
        for coll in table
        if theirs.exists(coll)
    ]
    return (
        "/* CRESTA_ENTRY(MPI's name without prefix, way, name of ours without prefix, parameters,\n"
        " * arguments); HANDLE is the type of the MPI's handles */\n" + "".join(rows)
    )


def _buffers(coll: Collective) -> list[tuple[str, str]]:
    """(name, type) of the buffers, as mpi4py has them (mpi4py.typing)."""
    vector = "BufSpecW" if "dts" in {a.kind for a in coll.args} else "BufSpecV"
    found = []
    for arg in coll.args:
        if arg.kind == "inout":
            found.append(("buf", "BufSpec"))
        elif arg.kind in ("in", "out"):
            shape = coll.gives if arg.kind == "in" else coll.gets
            counts = any(a.kind == "ns" and a.side == arg.name[:4] for a in coll.args)
            each = vector if counts and not coll.reduces else "BufSpecB"
            several = shape.blocks in ("each", "near") and coll.name != "reduce_scatter"
            kind = each if several else "BufSpec"
            if arg.kind == "out" and coll.name == "reduce_scatter_block":
                kind = "BufSpec | BufSpecB"
            if shape.ranks == "root":
                kind += " | None"
            found.append((arg.name, kind + _in_place(coll, arg.kind)))
    return found


def _in_place(coll: Collective, kind: str) -> str:
    if coll.near:
        return ""
    return " | InPlace" if kind == ("out" if "scatters" in coll.derived else "in") else ""


def _python_arguments(coll: Collective) -> list[tuple[str, str, str]]:
    """(name, type, default) behind the communicator, in mpi4py's order."""
    found = [(name, kind, "") for name, kind in _buffers(coll)]
    if coll.name == "reduce_scatter":
        found.append(("recvcounts", "Sequence[int] | None", "None"))
    if coll.reduces:
        found.append(("op", "Op", "SUM"))
    if "rooted" in coll.properties:
        found.append(("root", "int", "0"))
    return found


def _doc(coll: Collective, mode: str) -> list[str]:
    way = _way(coll, mode)
    given = [name + (f"={d}" if d else "") for name, _, d in _python_arguments(coll)]
    line = f"{way}({', '.join(['comm', *given])})"
    of = "Topocomm" if coll.near else "Comm"
    if mode == "blocking":
        return [line, f"mpi4py's {of}.{way}, by the implementation that comm has for it."]
    theirs = Form("nonblocking", False).name(coll.name)
    return [line, f"Begins what mpi4py's {of}.{theirs} begins; returns a Request."]


def ways(table: list[Collective]) -> str:
    rows = []
    for mode, theirs in (("blocking", "blocking"), ("split", "nonblocking")):
        for coll in table:
            line, rest = _doc(coll, mode)
            head = f"CRESTA_WAY({_way(coll, mode)}, {Form(theirs, False).name(coll.name)},"
            rows.append(f'{head}\n           "{line}\\n\\n"\n           "{rest}")\n')
    return (
        "/* CRESTA_WAY(name in crestacoll, name of mpi4py's method, documentation); blocking ones\n"
        " * come first */\n" + "".join(rows)
    )


def _stub(coll: Collective, mode: str, method: bool) -> str:
    kind = "Intracomm" if coll.name in ("scan", "exscan") else "Comm"  # no intercommunicators
    first = "self" if method else f"comm: {'Topocomm' if coll.near else kind}"
    given = [f"{n}: {t}" + (" = ..." if d else "") for n, t, d in _python_arguments(coll)]
    result = "None" if mode == "blocking" else "Request"
    text = f"def {_way(coll, mode)}({', '.join([first, *given])}) -> {result}: ..."
    indent = "    " if method else ""
    if len(indent + text) <= 100:
        return indent + text + "\n"
    body = textwrap.indent("".join(f"{part},\n" for part in [first, *given]), indent + "    ")
    return f"{indent}def {_way(coll, mode)}(\n{body}{indent}) -> {result}: ...\n"


STUB_HEAD = """\
from collections.abc import Sequence
from types import TracebackType

from mpi4py.MPI import Comm, InPlaceType, Intracomm, Op, Topocomm
from mpi4py.typing import BufSpec, BufSpecB, BufSpecV, BufSpecW

"""


def stubs(table: list[Collective]) -> str:
    """The types of crestacoll._native."""
    modes = ("blocking", "split")
    functions = "".join(_stub(coll, mode, False) for mode in modes for coll in table)
    anywhere = [coll for coll in table if not coll.near]
    methods = "".join(_stub(coll, mode, True) for mode in modes for coll in anywhere)
    ways = [_way(coll, mode) for mode in modes for coll in table]
    public = "".join(f'    "{name}",\n' for name in ["Request", *ways])
    head = STUB_HEAD + f"__all__ = [\n{public}]\n\nInPlace = InPlaceType | None\n\n"
    added = 'class Collectives(Intracomm):\n    """The methods that add_methods adds."""\n\n'
    return f"{head}{REQUEST}{functions}{SERVICES}\n{added}{methods}"


REQUEST = """\
class Request:
    def end(self) -> None: ...
    def test(self) -> bool: ...
    def some(self) -> list[int]: ...
    def testsome(self) -> list[int] | None: ...
    def __enter__(self) -> Request: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

"""

SERVICES = """
def attach(
    library: str | None,
    extension: str,
    handles_are_ints: bool,
    comm_base: type,
    comm_type: type,
    topo_type: type,
    exception: type[BaseException],
    request_offset: int,
) -> None: ...
def open_global(library: str, extension: str) -> None: ...
def is_preloaded() -> bool: ...
def add_methods(comm_type: type) -> None: ...
def set_impl(comm: int, spec: str) -> None: ...
def prepare(comm: int) -> None: ...
def repair(comm: int) -> int: ...
def alloc_mem(comm: int, bytes: int) -> memoryview: ...
def repro_sum(x: int, n: int, datatype: int, result: int, comm: int) -> None: ...
def free_mem(base: int) -> None: ...
def progress() -> None: ...
def profile_start() -> None: ...
def profile_stop() -> str: ...
def end_all() -> None: ...
def address_of(name: str) -> int: ...
def request_for(theirs: object, kept: object, name: str) -> Request: ...
def keep_in(kept: list[object] | None) -> list[object] | None: ...
def keep_this(kept: object) -> None: ...
"""
