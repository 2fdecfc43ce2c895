# SPDX-License-Identifier: BSD-3-Clause
"""Reads api/collectives.def; knows the forms of a collective and the C type of every argument."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("collectives.def")
BUFFERS = ("in", "out", "inout")
BLOCKS = ("none", "one", "each", "near")
RANKS = ("all", "root", "later")


@dataclass(frozen=True)
class Arg:
    kind: str
    name: str
    side: str  # "send", "recv" or "both": which half of the call it describes

    @property
    def fields(self) -> list[str]:
        """The members of struct cco_call that hold this argument."""
        member = {"n": "count", "ns": "counts", "dt": "type", "dts": "types"}
        member |= dict.fromkeys(("ds", "bs"), "displs")
        if self.kind in ("op", "root", "comm"):
            return [self.kind]
        if self.kind in BUFFERS:
            return ["sendbuf", "recvbuf"] if self.kind == "inout" else [self.name]
        sides = ("send", "recv") if self.side == "both" else (self.side,)
        return [side + member[self.kind] for side in sides]


@dataclass(frozen=True)
class Shape:
    """The blocks of a buffer, and the ranks that have it."""

    blocks: str
    ranks: str


@dataclass(frozen=True)
class Collective:
    name: str
    args: tuple[Arg, ...]
    properties: frozenset[str]
    gives: Shape
    gets: Shape

    @property
    def enum(self) -> str:
        return "CCO_" + self.name.upper()

    @property
    def reduces(self) -> bool:
        return "reduction" in self.properties

    @property
    def near(self) -> bool:
        """It needs the topology of the communicator."""
        return "near" in (self.gives.blocks, self.gets.blocks) or "neighbors" in self.properties

    @property
    def ours(self) -> bool:
        """No MPI has it."""
        return "ours" in self.properties

    @property
    def derived(self) -> frozenset[str]:
        """Properties that follow from arguments and shape (src/call/collectives.h)."""
        sides = (self.gives.blocks, self.gets.blocks)
        follow = {
            "counts": any(a.kind == "ns" for a in self.args),
            "gathers": sides == ("one", "each") and not self.reduces,
            "scatters": sides == ("each", "one") and not self.reduces,
            "neighbors": self.near,
        }
        return frozenset(name for name, holds in follow.items() if holds)

    def has_counts(self) -> bool:
        return any(a.kind in ("n", "ns") for a in self.args)

    def has_arrays(self) -> bool:
        return any(a.kind in ("ns", "ds", "bs", "dts") for a in self.args)


@dataclass(frozen=True)
class Form:
    """One way to call: blocking, nonblocking, persistent or split-phase, with int or MPI_Count. A
    recording is the persistent form of what no MPI has."""

    mode: str
    large: bool

    @property
    def extra(self) -> list[tuple[str, str]]:
        """(C type, name) of what follows the collective's own arguments."""
        return {
            "blocking": [],
            "nonblocking": [("MPI_Request *", "request")],
            "split": [("MPI_Request *", "request")],
            "persistent": [("MPI_Info ", "info"), ("MPI_Request *", "request")],
            "recorded": [("CRESTA_Recording *", "recording")],
        }[self.mode]

    def name(self, collective: str) -> str:
        """The name after the prefix: Allreduce, Iallreduce, Allreduce_init, Allreduce_begin; with
        _c if large."""
        stem = collective.capitalize()
        stem = {
            "blocking": stem,
            "nonblocking": "I" + collective,
            "persistent": stem + "_init",
            "recorded": stem + "_init",
            "split": stem + "_begin",
        }[self.mode]
        return stem + ("_c" if self.large else "")

    @property
    def guard(self) -> str:
        """The preprocessor condition for MPIs that have the form; empty when all have it."""
        needs = []
        if self.mode == "persistent":
            needs.append("defined(CRESTA_HAVE_PERSISTENT)")
        if self.large:
            needs.append("defined(CRESTA_HAVE_LARGE_COUNT)")
        return " && ".join(needs)

    def exists(self, coll: Collective) -> bool:
        wide = coll.has_counts() or not self.large
        own = self.mode in ("blocking", "split", "recorded")
        return wide and (own if coll.ours else self.mode != "recorded")


FORMS = tuple(
    Form(mode, large)
    for large in (False, True)
    for mode in ("blocking", "nonblocking", "persistent")
)
# CRESTA_x_begin, to which no call of the MPI corresponds by name.
SPLIT_FORMS = (Form("split", False), Form("split", True))
# CRESTA_x_init of what no MPI has.
RECORDED_FORMS = (Form("recorded", False), Form("recorded", True))


def _sides(kind_names: list[tuple[str, str]]) -> list[Arg]:
    """send.., s.. and recv.., r.. say their side; `displs` has that of the counts before it."""
    args: list[Arg] = []
    for kind, name in kind_names:
        if name == "displs":
            side = args[-1].side
        elif name.startswith(("send", "sd")):
            side = "send"
        elif name.startswith(("recv", "rd")):
            side = "recv"
        else:
            side = "both"
        args.append(Arg(kind, name, side))
    return args


def _shape(text: str) -> Shape:
    blocks, _, ranks = text.strip().partition("@")
    shape = Shape(blocks, ranks or "all")
    if shape.blocks not in BLOCKS or shape.ranks not in RANKS:
        raise ValueError(f"the shape '{text.strip()}' is not known")
    return shape


def _row(line: str) -> Collective:
    name, args, properties, shape = (part.strip() for part in line.split(":"))
    pairs = [tuple(arg.split("=")) for arg in args.split()]
    gives, gets = (_shape(side) for side in shape.split(">"))
    return Collective(name, tuple(_sides(pairs)), frozenset(properties.split()), gives, gets)


def read_table(path: Path = TABLE) -> list[Collective]:
    rows = []
    text = re.sub(r"\n +", " ", path.read_text())  # continuation lines
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        try:
            rows.append(_row(line))
        except ValueError as error:
            raise SystemExit(
                f"{path.name}: '{line}': expected "
                f"'name : kind=name ... : properties : in > out' ({error})"
            )
    return rows


def of_the_mpi(table: list[Collective]) -> list[Collective]:
    """Those that the MPI has by that name."""
    return [coll for coll in table if not coll.ours]


def c_parameter(arg: Arg, large: bool) -> str:
    count, displ = ("MPI_Count", "MPI_Aint") if large else ("int", "int")
    return {
        "in": f"const void *{arg.name}",
        "out": f"void *{arg.name}",
        "inout": f"void *{arg.name}",
        "n": f"{count} {arg.name}",
        "ns": f"const {count} {arg.name}[]",
        "ds": f"const {displ} {arg.name}[]",
        "bs": f"const MPI_Aint {arg.name}[]",
        "dt": f"MPI_Datatype {arg.name}",
        "dts": f"const MPI_Datatype {arg.name}[]",
        "op": f"MPI_Op {arg.name}",
        "root": f"int {arg.name}",
        "comm": f"MPI_Comm {arg.name}",
    }[arg.kind]


def c_parameters(coll: Collective, form: Form) -> list[str]:
    return [c_parameter(a, form.large) for a in coll.args] + [
        kind + name for kind, name in form.extra
    ]


def c_names(coll: Collective, form: Form) -> list[str]:
    return [a.name for a in coll.args] + [name for _, name in form.extra]


def wrap(text: str, indent: str = "    ", width: int = 100, first: str = "") -> str:
    """Folds a C line after commas and closing parentheses only; what follows is indented."""
    kept = (
        text.replace(" ", "\xa0")
        .replace(",\xa0", ", ")
        .replace(")\xa0_", ") _")
        .replace("=\xa0PMPI", "= PMPI")
    )
    lines = textwrap.wrap(
        kept,
        width,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace("\xa0", " ")


def guarded(guard: str, body: str) -> str:
    return f"#if {guard}\n{body}#endif\n" if guard else body
