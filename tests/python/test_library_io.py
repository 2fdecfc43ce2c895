# SPDX-License-Identifier: BSD-3-Clause
"""CRESTA_IO: each call of MPI-IO is counted once, as what it is, with the bytes that it moves, from
C and from each Fortran binding; what HDF5 and PnetCDF call; what the system is asked to move.

HDF5 and PnetCDF: `apt-get install libhdf5-openmpi-dev libhdf5-mpich-dev libpnetcdf-dev`."""

import functools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from crestacoll_tools.profile import iorecords
from library_runs import (
    AS_ROOT,
    ROOT,
    TIMEOUT,
    cached,
    each_build,
    family_of,
    good,
    kept_folder,
    run,
)

pytestmark = each_build
RANKS = 2

# (calls, bytes) of one rank; one direction of io_calls.c.
ONE_WAY = {
    "independent": (3, 1 + 2 + 3),
    "collective": (3, 4 + 8 + 7),
    "split": (3, 256 + 512 + 9),
    "nonblocking": (3, 16 + 32 + 5),
    "nonblocking_collective": (2, 64 + 128),
}


def record_of(build, tmp_path, program, *arguments, env=None, **more):
    path = tmp_path / "io.json"
    env = {"CRESTA_IO": str(path), **(env or {})}
    done = good(run(build, program, *arguments, ranks=RANKS, env=env, **more))
    return iorecords.load(path), done


def amounts(parts):
    return {(p["kind"], p["direction"]): (p["calls"], p["bytes"]) for p in parts}


def operations(parts):
    return {p["operation"]: (p["ranks"], p["calls"]) for p in parts}


def add_up(data):
    """Bins and files have what the sums have."""
    for part in [*data["data"], *data["other_calls"]]:
        assert sum(part["calls_of_bins"]) == part["calls"]
        assert max(part["ranks_of_bins"]) <= part["ranks"] <= data["ranks"]
        if "bytes" in part:
            assert sum(part["bytes_of_bins"]) == pytest.approx(part["bytes"], rel=1e-4)
        assert sum(part["us_of_bins"]) == pytest.approx(part["time_us"]["mean"], rel=1e-2, abs=0.1)
    files = [*data["files"], data["other_files"]]
    for kind, whole in amounts(data["data"]).items():
        of_files = [amounts(f["data"]).get(kind, (0, 0)) for f in files]
        assert tuple(map(sum, zip(*of_files))) == whole, kind


def has_large_counts(build):
    exports = (ROOT / "api/exports/libcrestacoll.txt").read_text().splitlines()
    line = next(line.split() for line in exports if line.startswith("MPI_File_write_c "))
    return cached(build, "CRESTA_MPI_NAME") in line[2:] or not line[2:]


@pytest.mark.parametrize(
    "size, way",
    [("int", "preloaded"), ("int", "linked"), ("int", "both"), ("large", "preloaded")],
)
def test_each_call_counts_once(build, tmp_path, way, size):
    if size == "large" and not has_large_counts(build):
        pytest.skip("this MPI has no calls with large counts")
    program = "io_calls" if way == "preloaded" else "io_calls_linked"
    words = [str(tmp_path / "file"), *(["large"] if size == "large" else [])]
    data, done = record_of(build, tmp_path, program, *words, preload=way != "linked")
    assert done.stdout == ""
    expected = {
        (kind, direction): (RANKS * calls, RANKS * moved)
        for kind, (calls, moved) in ONE_WAY.items()
        for direction in ("read", "write")
    }
    calls, moved = expected["independent", "write"]
    expected["independent", "write"] = calls + RANKS, moved + RANKS * 8  # a type with gaps
    calls, moved = expected["independent", "read"]
    expected["independent", "read"] = calls + 1, moved + 10  # of 100 that it asks for
    assert amounts(data["data"]) == expected
    every = {"open", "close", "sync", "set_view"}
    assert operations(data["other_calls"]) == dict.fromkeys(every, (RANKS, RANKS))
    assert [(f["name"], f["processes"]) for f in data["files"]] == [(words[0], RANKS)]
    add_up(data)


@pytest.mark.parametrize("way", ["preloaded", "linked"])
@pytest.mark.parametrize("binding", ["mpif", "usempi", "f08"])
def test_fortran(build, tmp_path, binding, way):
    program = f"fortran_{binding}_io" + ("_linked" if way == "linked" else "")
    if not (build / "tests" / "bin" / program).exists():
        pytest.skip("built without Fortran")
    name = str(tmp_path / "file")
    data, done = record_of(build, tmp_path, program, name, preload=way != "linked")
    assert done.stdout == ""
    assert amounts(data["data"]) == {
        ("independent", "write"): (RANKS, RANKS * 4),
        ("collective", "write"): (RANKS, RANKS * 256),
        ("nonblocking", "write"): (RANKS, RANKS * 12),
        ("split", "write"): (RANKS, RANKS * 20),
        ("independent", "read"): (RANKS, RANKS * 28),
        ("collective", "read"): (RANKS, RANKS * 36),
    }
    every = {"open", "close", "sync", "set_view"}
    assert operations(data["other_calls"]) == dict.fromkeys(every, (RANKS, RANKS))
    assert [(f["name"], f["processes"]) for f in data["files"]] == [(name, RANKS)]
    add_up(data)


def test_nothing_is_written_without_it(build, tmp_path):
    good(run(build, "io_calls", str(tmp_path / "file"), ranks=RANKS, preload=True))
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_file_that_cannot_be_written(build, tmp_path):
    env = {"CRESTA_IO": str(tmp_path / "no" / "io.json")}
    done = run(build, "io_calls", str(tmp_path / "file"), ranks=RANKS, env=env, preload=True)
    assert done.returncode != 0
    assert done.stderr.count("io.json: cannot write this file: No such file") == 1


# Libraries on top of MPI-IO.


def pkg_config(package):
    if shutil.which("pkg-config") is None:
        return None
    words = ["pkg-config", "--cflags", "--libs", package]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else None


@functools.cache
def program_of(build, library):
    """The program, compiled; why there is none."""
    family = family_of(build)
    if library == "pnetcdf" and family != "openmpi":
        return None, "PnetCDF of Debian is for Open MPI"
    package = f"hdf5-{family}" if library == "hdf5" else library
    found = pkg_config(package)
    if found is None:
        return None, f"{package} is not installed"
    compiler = cached(build, "MPI_C_COMPILER")
    program = kept_folder("io") / library
    words = [compiler, ROOT / f"tests/io/{library}.c", "-o", program, *found]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (program, "") if done.returncode == 0 else (None, done.stderr)


STEPS = 30
MOVED = RANKS * STEPS * 16 * 512 * 8  # bytes of the field


@pytest.mark.parametrize("library", ["hdf5", "pnetcdf"])
def test_independent_and_collective_are_told_apart(build, tmp_path, library):
    program, why = program_of(build, library)
    if program is None:
        pytest.skip(why)
    apart, together = {}, {}
    for way, found in (("independent", apart), ("collective", together)):
        words = [str(tmp_path / f"file-{way}"), way, str(STEPS)]
        data, _ = record_of(build, tmp_path, program, *words, preload=True)
        add_up(data)
        found |= {"data": data, "amounts": amounts(data["data"])}
    field = (RANKS * STEPS, MOVED)
    assert together["amounts"]["collective", "write"] == field
    assert together["amounts"]["collective", "read"] == field
    assert not iorecords.could_be_collective(together["data"])
    assert apart["amounts"]["independent", "read"] == field
    assert apart["amounts"]["independent", "write"][1] >= MOVED
    assert not [kind for kind, _ in apart["amounts"] if kind == "collective"]
    # What all ranks do in one window depends on when they run: of the reads, or of the writes.
    found = [(f["name"], ranks) for f, _, ranks, *_ in iorecords.could_be_collective(apart["data"])]
    assert set(found) <= {(str(tmp_path / "file-independent"), RANKS)}


# What the system is asked for.

NO_BUFFERS = {  # of ROMIO: no collective buffering, no data sieving
    "romio_cb_write": "disable",
    "romio_cb_read": "disable",
    "romio_ds_write": "disable",
    "romio_ds_read": "disable",
}
MOVES = re.compile(r"(pwrite64|pread64|pwritev2?|preadv2?|write|read)\((\d+)<([^>]*)>.* = (\d+)$")


def moved_by_system(folder, name):
    """{direction: bytes} of what strace saw of a file."""
    found = {"read": 0, "write": 0}
    for path in folder.glob("strace.*"):
        for line in path.read_text(errors="replace").splitlines():
            call = MOVES.search(line)
            if call and Path(call[3]).name == name:
                found["write" if "write" in call[1] else "read"] += int(call[4])
    return found


@pytest.mark.parametrize("component", ["ompio", "romio321"])  # of Open MPI 4; MPICH has ROMIO
def test_bytes_are_those_of_the_system(build, tmp_path, component):
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    if component == "ompio" and family_of(build) != "openmpi":
        pytest.skip("this MPI has ROMIO only")
    hints = tmp_path / "hints"
    hints.write_text("".join(f"{name} {value}\n" for name, value in NO_BUFFERS.items()))
    io_file, record = tmp_path / "traced-file", tmp_path / "io.json"
    openmpi = family_of(build) == "openmpi"
    launcher = cached(build, "MPIEXEC_EXECUTABLE")
    env = {
        "CRESTA_IO": str(record),
        "ROMIO_HINTS": str(hints),
        "OMPI_MCA_io": component,
        "OMPI_MCA_fcoll": "individual",
    }
    words = [launcher, *(["--oversubscribe"] if openmpi else []), "-n", str(RANKS)]
    for name, value in env.items():
        words += ["-x", f"{name}={value}"] if openmpi else ["-genv", name, value]
    library = build / "lib" / "libcrestacoll-preload.so"
    words += [strace, "-ff", "-y", "-E", f"LD_PRELOAD={library}", "-o", tmp_path / "strace"]
    words += ["-e", "trace=pwrite64,pread64,pwritev,preadv,pwritev2,preadv2,write,read"]
    words += [build / "tests" / "bin" / "io_system", io_file]
    done = subprocess.run(
        words,
        env=os.environ | AS_ROOT,
        capture_output=True,
        text=True,
        timeout=2 * TIMEOUT,
        check=False,
    )
    if "ptrace" in done.stderr and done.returncode != 0:
        pytest.skip("strace may not trace here")
    assert done.returncode == 0, done.stderr
    data = json.loads(record.read_text())
    counted = {d: iorecords.total(data["data"], "bytes", d) for d in ("read", "write")}
    assert counted["write"] > 100000 and counted["read"] > 100000
    assert moved_by_system(tmp_path, io_file.name) == counted
