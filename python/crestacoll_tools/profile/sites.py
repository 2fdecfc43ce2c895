# SPDX-License-Identifier: BSD-3-Clause
"""Places in a program: from a module and an offset in it to file, line and function, by what the
debugging information of the module says. llvm-symbolizer or addr2line reads it.
"""

import functools
import json
import re
import shutil
import struct
import subprocess
from pathlib import Path

from crestacoll_tools.base.ui import TEXT

NOTE, BUILD_ID = 4, 3  # PT_NOTE, NT_GNU_BUILD_ID


def notes(file):
    """The notes of an ELF file: (name, type, content)."""
    with open(file, "rb") as f:
        ident = f.read(16)
        if ident[:4] != b"\x7fELF" or ident[4] != 2:
            return
        order = "<" if ident[5] == 1 else ">"
        head = struct.unpack(order + "HHIQQQIHHHHHH", f.read(48))
        offset, size, count = head[4], head[8], head[9]
        f.seek(offset)
        headers = [struct.unpack(order + "IIQQQQQQ", f.read(size)[:56]) for _ in range(count)]
        for kind, _, at, _, _, length, _, _ in headers:
            if kind == NOTE:
                f.seek(at)
                yield from split_notes(order, f.read(length))


def split_notes(order, data):
    while len(data) >= 12:
        name, length, kind = struct.unpack(order + "III", data[:12])
        start = 12 + (name + 3) // 4 * 4
        yield data[12 : 12 + name].rstrip(b"\0"), kind, data[start : start + length]
        data = data[start + (length + 3) // 4 * 4 :]


def build_id(file):
    """In hexadecimal; None if it has none."""
    try:
        found = (c for name, kind, c in notes(file) if (name, kind) == (b"GNU", BUILD_ID))
        return next((content.hex() for content in found), None)
    except (OSError, struct.error):
        return None


@functools.cache
def symbolizer():
    for tool in ("llvm-symbolizer", "addr2line", "eu-addr2line"):
        if shutil.which(tool):
            return tool
    return None


def by_llvm(file, offsets):
    """[(function, file, line)] of the innermost function there, None where it is not known."""
    words = ["llvm-symbolizer", "--output-style=JSON", f"--obj={file}"]
    text = "".join(f"{offset:#x}\n" for offset in offsets)
    done = subprocess.run(words, input=text, capture_output=True, check=False, **TEXT)
    found = []
    for line in done.stdout.splitlines():
        symbols = json.loads(line).get("Symbol") or [{}]
        s = symbols[0]
        found.append((s.get("FunctionName", ""), s.get("FileName", ""), s.get("Line", 0)))
    return found


def by_addr2line(tool, file, offsets):
    """As by_llvm, by binutils or elfutils."""
    words = [tool, "-f", "-C", "-e", str(file)]
    text = "".join(f"{offset:#x}\n" for offset in offsets)
    done = subprocess.run(words, input=text, capture_output=True, check=False, **TEXT)
    lines = done.stdout.splitlines()
    found = []
    for function, place in zip(lines[::2], lines[1::2], strict=False):
        name, _, number = place.split(" (discriminator")[0].partition(":")
        number = number.split(":")[0]
        known = name != "??" and number.isdigit()
        found.append(
            ("" if function == "??" else function, name if known else "", int(number) * known)
            if number.isdigit()
            else ("" if function == "??" else function, "", 0)
        )
    return found


def look_up(file, offsets):
    tool = symbolizer()
    if tool is None:
        return []
    try:
        return by_llvm(file, offsets) if "llvm" in tool else by_addr2line(tool, file, offsets)
    except (OSError, ValueError):
        return []


def by_cython(symbol):
    """'mpi4py.MPI.Comm.Send' of what Cython makes of it; None of other symbols."""
    found = re.match(r"__pyx_p[a-z]_(\d\w*)$", symbol)
    parts, rest = [], found[1] if found else ""
    while found and rest:
        length, rest = re.match(r"(\d+)(.*)", rest).groups()
        whole = len(rest) > int(length) and rest[int(length)] == "_"
        parts.append(rest[: int(length)] if whole else rest)
        rest = rest[int(length) + 1 :] if whole and rest[int(length) + 1 :][:1].isdigit() else ""
    return ".".join(parts) or None


CLONE = re.compile(r"(\.(constprop|isra|part|cold|lto_priv)(\.\d+)*)+$")
MODULE = re.compile(r"(?:__(\w+?)_MOD_(\w+)|(\w+?)_mp_(\w+?)_|_QM(\w+?)P(\w+))$")


def by_fortran(symbol):
    """'collectives::exchange' of what gfortran, Intel's compiler or flang make of a procedure of a
    module; None of other symbols.
    """
    found = MODULE.match(symbol)
    return "::".join(part for part in found.groups() if part) if found else None


class Places:
    """Names of the sites of a profile."""

    def __init__(self, modules, calls=()):
        self.modules, self.known = modules, {}
        offsets = {}
        for call in calls:
            if call["site"]:
                offsets.setdefault(call["site"][0], set()).add(call["site"][1])
        for number, wanted in offsets.items():
            self.find(number, sorted(wanted))

    def find(self, number, offsets):
        """A call returns behind the instruction that made it."""
        module = self.modules[number]
        if not self.is_the_same(module):
            return
        found = look_up(module["path"], [offset - 1 for offset in offsets])
        for offset, place in zip(offsets, found, strict=False):
            self.known[(number, offset)] = place

    @staticmethod
    def is_the_same(module):
        """Whether the file is the one that ran."""
        return not module.get("function") and Path(module["path"]).is_file() and (
            module["build_id"] is None or build_id(module["path"]) == module["build_id"]
        )

    def name(self, site):
        """'transpose.f90:120 transpose', 'libx.so+0x12a0 f', '-'."""
        if site is None:
            return "-"
        number, offset = site
        module = self.modules[number]
        if module.get("function"):
            return f"{Path(module['path']).name}:{offset} {module['function']}"
        function, file, line = self.known.get((number, offset), ("", "", 0))
        function = CLONE.sub("", function) if function != "??" else ""  # of GCC's copies
        if of_python := by_cython(function):
            return of_python
        if file and line:
            place = f"{Path(file).name}:{line}"
        else:
            place = f"{Path(module['path']).name}+{offset:#x}"
        return f"{place} {by_fortran(function) or function}".strip()
