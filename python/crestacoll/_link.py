# SPDX-License-Identifier: BSD-3-Clause
"""Which library of crestacoll fits the MPI of this process, and how the two come together."""

from __future__ import annotations

import atexit
import importlib.util
import mmap
import os
import re
import sys
from glob import glob
from os.path import abspath, dirname, isfile, join, realpath
from typing import Any

from crestacoll import _native, _wheel

LIBRARY = "libcrestacoll-preload.so"
# The names by which an extension asks for its MPI, and the builds that fit such MPIs; Cray has one
# for each compiler, libmpi_gnu_123.so.12.
SONAMES = {
    "openmpi": rb"libmpi\.so\.40",
    "mpich": rb"libmpi\.so\.12|libmpich\.so\.12|libmpi_\w+\.so\.12",
    "mpiabi": rb"libmpi_abi\.so\.[01]",
}
INT_BYTES = 4

_linked = False


def _asked_for(extension: str) -> tuple[str, str]:
    """The name by which mpi4py's extension asks for its MPI, and the builds that fit it."""
    with open(extension, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as m:
        for family, names in SONAMES.items():
            found = re.search(rb"\0(" + names + rb")\0", m)
            if found:
                return found[1].decode(), family
    raise RuntimeError(
        f"crestacoll: {extension} is linked to none of the MPIs that crestacoll knows:"
        " libmpi.so.40, libmpi.so.12 and its other names, libmpi_abi.so"
    )


def _libraries() -> dict[str, str]:
    """{build: path} of the builds of this checkout, or of an installed tree."""
    root = join(dirname(dirname(dirname(realpath(__file__)))), "build")
    paths = glob(join(root, "*", "lib", LIBRARY))
    return {os.path.relpath(path, root).split(os.sep)[0]: path for path in paths}


def find_library(extension: str) -> str:
    """The library for the MPI that mpi4py's extension uses; a wheel tries its libraries in another
    process.

    Raises RuntimeError, with what was found and what is there, if none fits.
    """
    soname, family = _asked_for(extension)
    if _wheel.is_wheel():
        fit = _wheel.fit(_loaded(soname))
        if fit.why:
            raise RuntimeError(f"crestacoll: {fit.why}")
        return join(_wheel.LIB, fit.interface, LIBRARY)
    libraries = _libraries()
    fitting = sorted(name for name in libraries if name.split("-")[0] == family)
    if not fitting:
        raise RuntimeError(
            f"crestacoll: mpi4py uses an MPI of the family {family}, and there is no library for"
            f" it (there are: {', '.join(sorted(libraries)) or 'none'})"
        )
    return libraries[fitting[0]]


def _loaded(soname: str) -> str:
    """Where a library of that name is in this process; if none is, the name."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = (line.split(maxsplit=5)[5].strip() for line in maps if line.count("/"))
        return next((p for p in paths if p.rsplit("/", 1)[-1].startswith(soname)), soname)


def _checked(library: str | os.PathLike[str]) -> str:
    path = os.fspath(library)
    if not isfile(path):
        raise RuntimeError(f"crestacoll: there is no library {path}")
    return abspath(path)


def _end_all() -> None:
    """Ends what is still under way, unless an error ended the program: others may be gone."""
    from mpi4py import MPI

    if not MPI.Is_finalized() and not hasattr(sys, "last_type"):
        _native.end_all()


def link(library: str | os.PathLike[str] | None = None) -> None:
    """Links crestacoll into this process, beside mpi4py.

    library  path of a libcrestacoll-preload.so; by default the one that fits mpi4py's MPI. Has no
             effect in a process into which crestacoll was preloaded

    Everything in this package that needs it does this by itself. It imports mpi4py.MPI, which
    initializes MPI. mpi4py's own methods stay what they are. Not collective.
    Raises RuntimeError if no library fits mpi4py's MPI, or if its calls cannot be routed.
    """
    global _linked
    if _linked:
        return
    from mpi4py import MPI

    # Names of mpi4py that begin with an underscore have been there since its version 2.
    mpi: Any = MPI
    request = MPI.Request()
    path = None
    if not _native.is_preloaded():
        path = _checked(library or find_library(mpi.__file__))
    ints = mpi._sizeof(MPI.COMM_SELF) == INT_BYTES
    offset = mpi._addressof(request) - id(request)
    types = (MPI.Comm, MPI.Intracomm, MPI.Topocomm, MPI.Exception)
    _native.attach(path, mpi.__file__, ints, *types, offset)
    atexit.register(_end_all)
    _linked = True


def preload(library: str | os.PathLike[str] | None = None) -> None:
    """Puts crestacoll before the MPI, as `crestacoll run` does: every collective goes through it.

    library  path of a libcrestacoll-preload.so; by default the one that fits mpi4py's MPI

    Call it on every rank before `from mpi4py import MPI`; later it raises RuntimeError, unless
    crestacoll was preloaded. What was loaded before it (a C library that calls MPI) keeps the
    MPI's own collectives.
    """
    if _native.is_preloaded():
        return
    if "mpi4py.MPI" in sys.modules:
        raise RuntimeError(
            "crestacoll.preload() comes too late: call it before 'from mpi4py import MPI', or start"
            " the program by 'crestacoll run'"
        )
    spec = importlib.util.find_spec("mpi4py.MPI")
    if spec is None or spec.origin is None:
        raise RuntimeError("crestacoll.preload(): there is no mpi4py")
    _native.open_global(_checked(library or find_library(spec.origin)), spec.origin)
