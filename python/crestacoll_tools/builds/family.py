# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a program uses, and which one a launcher belongs to."""

import functools
import mmap
import os
import re
import shutil
import subprocess

from crestacoll_tools.base.ui import TEXT

OPENMPI, MPICH, INTEL = "openmpi", "mpich", "intelmpi"

# Sonames: Open MPI; MPICH as Debian names it; the ABI that MPICH, Intel MPI, MVAPICH and Cray MPICH
# agreed on.
SONAMES = [
    (re.compile(r"libmpi\.so\.(40|80|20|12\.openmpi)$"), OPENMPI),
    (re.compile(r"libmpich\.so\.\d+$"), MPICH),
    (re.compile(r"libmpi\.so\.12$"), "abi"),
    (re.compile(r"libmpi_\w+\.so\.12$"), MPICH),  # Cray: of each compiler
    (re.compile(r"libmpi_abi\.so\.\d+$"), "standard"),  # of the standard (MPI-5.0, chapter 20)
]


def is_elf(path):
    try:
        with open(path, "rb") as f:
            return f.read(4) == b"\x7fELF"
    except OSError:
        return False


def needed_libraries(program):
    """{soname: path} of all shared libraries that the program loads at start, or None if it is
    not dynamic.
    """
    done = subprocess.run(["ldd", program], capture_output=True, **TEXT, timeout=30, check=False)
    if (
        "not a dynamic executable" in done.stdout + done.stderr
        or "statically linked" in done.stdout
    ):
        return None
    return dict(re.findall(r"^\s*(\S+) => (.+?)(?: \(0x[0-9a-f]+\))?$", done.stdout, re.MULTILINE))


def contains(path, text):
    try:
        with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:
            return m.find(text) >= 0
    except (OSError, ValueError):
        return False


def is_intel(path):
    """Whether a library with MPICH's binary interface is Intel MPI."""
    return contains(path, b"Intel(R) MPI Library")


def mpi_library(program):
    """The path of the MPI library that a program or library is linked to; None if to none, or if
    the loader does not find it here (login nodes may have no MPI).
    """
    for soname, path in (needed_libraries(program) or {}).items():
        if any(pattern.match(soname) for pattern, _ in SONAMES):
            return path if os.path.exists(path) else None
    return None


def family_of_abi(path):
    """The family of a library with the standard's binary interface; None if it is not here."""
    if not os.path.exists(path):
        return None
    if is_intel(path):
        return INTEL
    return OPENMPI if contains(path, b"ompi_") else MPICH


def family_of_libraries(libraries):
    for soname, path in libraries.items():
        for pattern, family in SONAMES:
            if pattern.match(soname):
                if family == "abi":
                    return INTEL if is_intel(path) else MPICH
                return family_of_abi(path) if family == "standard" else family
    return None


@functools.cache
def family_of_program(program):
    """The family; None when this is no MPI program by itself (a script, an interpreter, a
    wrapper).
    """
    if not is_elf(program):
        return None
    libraries = needed_libraries(program)
    return None if libraries is None else family_of_libraries(libraries)


def is_static(program):
    return is_elf(program) and needed_libraries(program) is None


@functools.cache
def is_linked(program):
    """Whether crestacoll is in the program already: as a shared library, or within it."""
    if not is_elf(program):
        return False
    shared = any(name.startswith("libcrestacoll.so") for name in needed_libraries(program) or {})
    return shared or contains(program, b"CRESTA_LOADED")


def family_of_version(text):
    if re.search(r"Open MPI|OpenRTE|open-mpi|prterun|PRRTE", text, re.IGNORECASE):
        return OPENMPI
    if "Intel(R) MPI" in text:
        return INTEL
    if re.search(r"hydra|mpich", text, re.IGNORECASE):
        return MPICH
    return None


@functools.cache
def family_of_launcher(launcher):
    path = shutil.which(launcher) or launcher
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, **TEXT, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return family_of_version(done.stdout + done.stderr)
