#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dflags.py - the flags of the original library (D4.5.3, section 4.1) as a spec of this one.

    $ tools/dflags.py -- "-D_NONBLOCK_ALLTOALL -D_ALL_NONBLOCK"
    alltoall=nonblock,*=nonblock
    $ tools/dflags.py --definitions -- "-D_OS_BCAST -D_STATIC_OS_WIN -DTMP_OS_WIN_SIZE=1000"
    CCO_DEFAULT_OS_WINDOW=static:16000

A flag that this build cannot honour is an error that lists those it can. With --mpicc, so is a
model which that MPI lacks.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Not about an implementation: cmake/CrestaDflags.cmake looks for it.
PROTECTED = "-D_PROTECTED_BUFFER"
MODELS_OF_THE_DOCUMENT = {"caf": "Fortran coarrays", "os": "MPI one-sided operations"}

# Memory that is taken once: (model, flag, flag with its size, definition for src/config/config.c).
# There were three areas of N elements: INTEGER, REAL and DOUBLE PRECISION.
STORES = [
    ("caf", "-D_STATIC_COARRAYS", "-DTMP_COARRAY_SIZE", "CCO_DEFAULT_CAF_BUFFER"),
    ("os", "-D_STATIC_OS_WIN", "-DTMP_OS_WIN_SIZE", "CCO_DEFAULT_OS_WINDOW"),
]
BYTES_OF_THREE = 4 + 4 + 8
LARGEST = 2**40  # elements: more bytes than there are addresses in a process are a slip

# What a model needs of the MPI: a macro of crestacoll.h.
NEEDS = {"persist": "CRESTA_HAVE_PERSISTENT"}


class Unknown(Exception):
    pass


def models():
    """The names in src/model/registry.def."""
    text = (ROOT / "src/model/registry.def").read_text()
    return re.findall(r"^\s*CCO_MODEL\(\s*(\w+)\s*[,)]", text, re.M)


def collectives():
    """The first word of every row of api/collectives.def."""
    rows = (ROOT / "api/collectives.def").read_text().splitlines()
    return [row.split()[0].rstrip(":") for row in rows if row.strip() and row[0] not in "# "]


def macros_of(mpicc):
    """The macros that crestacoll.h defines under this MPI."""
    command = [mpicc, "-I", str(ROOT / "include"), "-E", "-dM", "-x", "c", "-"]
    done = subprocess.run(command, input="#include <crestacoll.h>\n", text=True,
                          capture_output=True)
    if done.returncode:
        raise Unknown(f"{mpicc} cannot read include/crestacoll.h:\n{done.stderr}")
    return set(re.findall(r"^#define (\w+)", done.stdout, re.M))


def models_of(mpicc):
    """The models that work with this MPI (all, if none is given)."""
    if mpicc is None:
        return models()
    macros = macros_of(mpicc)
    return [model for model in models() if NEEDS.get(model, "__STDC__") in macros]


def store_of(flag, known_models):
    """(definition, elements or None) of a flag about static memory; None for any other flag."""
    name, equals, value = flag.partition("=")
    for model, static, size, definition in STORES:
        if name not in (static, size):
            continue
        if model not in known_models:
            raise Unknown(f"{flag}: this build has no {MODELS_OF_THE_DOCUMENT[model]}")
        if name == static and equals:
            raise Unknown(f"{flag}: takes no value; the size is {size}=N")
        if name == size and not (value.isascii() and value.isdigit() and 0 < int(value) <= LARGEST):
            raise Unknown(f"{flag}: expected a number of elements, such as {size}=100000")
        return definition, int(value) if value else None
    return None


def definitions(text, known_models):
    """Flags -> {definition: value}: where models keep their memory when no variable says it."""
    stores = {}
    for flag in text.split():
        found = store_of(flag, known_models)
        if not found:
            continue
        elements = found[1] or stores.get(found[0])
        if stores.get(found[0]) not in (None, elements):
            raise Unknown(f"{flag} contradicts the one before it, {stores[found[0]]}")
        stores[found[0]] = elements
    return {name: f"static:{BYTES_OF_THREE * n}" if n else "static" for name, n in stores.items()}


def split(flag, known_models, known_collectives):
    """-D_NONBLOCK_ALLTOALL -> ("nonblock", "alltoall")."""
    found = re.fullmatch(r"-D_([A-Z0-9]+)_(\w+)", flag)
    if not found:
        raise Unknown(f"{flag}: unknown flag")
    model, collective = found[1].lower(), found[2].lower()
    if model not in known_models:
        if model in MODELS_OF_THE_DOCUMENT:
            raise Unknown(f"{flag}: this build has no {MODELS_OF_THE_DOCUMENT[model]}")
        if model in models():
            raise Unknown(f"{flag}: this MPI lacks what {found[1]} needs")
        raise Unknown(f"{flag}: unknown flag, there is no implementation {found[1]}")
    if collective not in known_collectives:
        raise Unknown(f"{flag}: unknown flag, there is no collective {found[2]}")
    return model, collective


def translate(text, known_models, known_collectives):
    """Flags -> spec. What is said of one collective goes before -D_ALL_NONBLOCK."""
    chosen, everything = {}, []
    for flag in text.split():
        if flag == PROTECTED:
            continue
        if flag == "-D_ALL_NONBLOCK" and "nonblock" in known_models:
            everything = ["*=nonblock"]
            continue
        if store_of(flag, known_models):
            continue
        model, collective = split(flag, known_models, known_collectives)
        if chosen.setdefault(collective, model) != model:
            raise Unknown(f"{flag} contradicts the one before it, {chosen[collective]}")
    return ",".join([f"{name}={model}" for name, model in chosen.items()] + everything)


def listing(known_models, known_collectives):
    return "\n".join([
        f"known flags: -D_ALL_NONBLOCK, {PROTECTED}, and -D_<IMPLEMENTATION>_<COLLECTIVE> with",
        "  IMPLEMENTATION  " + " ".join(model.upper() for model in known_models),
        "  COLLECTIVE      " + " ".join(name.upper() for name in known_collectives),
        *(f"and {static}, {size}=N (N elements, {BYTES_OF_THREE} N bytes)"
          for model, static, size, _ in STORES if model in known_models)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpicc", help="C compiler of the MPI: what it lacks is unknown")
    parser.add_argument("--mpi", help="name of the MPI, for messages")
    parser.add_argument("--definitions", action="store_true",
                        help="print what the flags define besides the spec, one a line")
    parser.add_argument("flags", nargs="*")
    args = parser.parse_args()
    known_models, known_collectives = models(), collectives()
    try:
        known_models = models_of(args.mpicc)
        spec = translate(" ".join(args.flags), known_models, known_collectives)
        defined = definitions(" ".join(args.flags), known_models)
        print("\n".join(f"{name}={value}" for name, value in defined.items())
              if args.definitions else spec)
    except Unknown as why:
        where = f" ({args.mpi})" if args.mpi else ""
        print(f"DFLAGS_LIB{where}: {why}", file=sys.stderr)
        print(listing(known_models, known_collectives), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
