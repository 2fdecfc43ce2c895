# SPDX-License-Identifier: BSD-3-Clause
"""What a profile says of every call of the MPI (src/calls): which functions it covers, and whether
counts, times and places are true, by a profiling tool of another hand (tests/mpi/calls_shim.c).
"""

import collections
import os
import re
import shutil
import subprocess
from pathlib import Path

import api_runs
import pytest
from conftest import ROOT
from crestacoll_tools import schemas
from crestacoll_tools.autopsy import jobs, text
from crestacoll_tools.profile import efficiency, mpitime, profiles, sites
from crestacoll_tools.rollcall import listen
from library_runs import AS_ROOT, cached, each_build, good, run

TABLE = ROOT / "api" / "mpi_calls.def"
# In an mpi.h, and not in the standard any more.
REMOVED = (
    "Address Errhandler_create Errhandler_get Errhandler_set Type_extent Type_hindexed"
    " Type_hvector Type_lb Type_struct Type_ub"
).split()
TYPES = ["Aint"]


def rows():
    """{function: its part, or why it is left out}"""
    lines = [row for row in TABLE.read_text().splitlines() if row and not row.startswith("#")]
    return {row.split(" | ")[0]: row.split(" | ")[1] for row in lines}


def declared(build):
    """What the mpi.h of a build declares, or has as a macro with arguments."""
    words = [cached(build, "MPI_C_COMPILER"), "-x", "c", "-E", "-P", "-"]
    text = subprocess.run(
        words, input="#include <mpi.h>\n", capture_output=True, text=True, check=True
    ).stdout
    words[4:5] = ["-dM"]
    macros = subprocess.run(
        words, input="#include <mpi.h>\n", capture_output=True, text=True, check=True
    ).stdout
    names = set(re.findall(r"\bMPI_(\w+)\s*\(", text)) - set(TYPES)
    return names, set(re.findall(r"#define MPI_(\w+)\(", macros))


def exported(build):
    words = ["nm", "-D", "--defined-only", build / "lib" / "libcrestacoll-calls.so"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return set(re.findall(r" T (\w+)", text))


@each_build
def test_every_function_is_counted_or_left_out_for_a_reason(build):
    """No function of an mpi.h is forgotten; those that are counted are there, in Fortran too."""
    known, ours = rows(), exported(build)
    names, macros = declared(build)
    for name in sorted(names):
        plain = name.removesuffix("_c") if name.removesuffix("_c") in known else name
        if plain in REMOVED:
            continue
        assert plain in known, f"api/mpi_calls.def does not have MPI_{name}"
        counted = not known[plain].startswith("!")
        assert counted == (f"MPI_{name}" in ours), f"MPI_{name}: {known[plain]}"
        if not counted:
            assert len(known[plain]) > 5, f"MPI_{name} is left out without a reason"
    counted = {name for name in known if not known[name].startswith("!")}
    assert not counted & macros, "a wrapper of what is a macro is never called"
    for name in ("send", "waitall", "file_open", "win_allocate", "comm_split", "allreduce"):
        assert {f"mpi_{name}_", f"mpi_{name}_f08_", f"mpi_{name}__"} <= ours


def launch(crestacoll, build, program, *arguments, **variables):
    """A run of two ranks with a profile, which it returns."""
    launcher = cached(build, "MPIEXEC_EXECUTABLE")
    done = crestacoll(
        "run",
        "--profile",
        "p.json",
        "--",
        launcher,
        "-n",
        "2",
        build / "tests" / "bin" / program,
        *arguments,
        **variables,
    )
    assert done.returncode == 0, done.stderr
    return done


def by_function(data):
    """{function: (calls, microseconds)} of all ranks."""
    sums = collections.defaultdict(lambda: [0, 0.0])
    for call in data["calls"]["list"]:
        sums[call["call"]][0] += call["calls"]
        sums[call["call"]][1] += call["ranks"] * call["time_us"]["mean"]
    return sums


def told_by_shim(path):
    sums = collections.defaultdict(lambda: [0, 0.0])
    for rank in range(2):
        for line in path.with_name(f"{path.name}.{rank}").read_text().splitlines():
            name, calls, us = line.split()
            sums[name][0] += int(calls)
            sums[name][1] += float(us)
    return sums


# gfortran says of calls whose arguments are all variables that they are in the line of the program
# statement, or of another call.
NO_LINES = ("Init", "Finalize", "Wait", "Comm_free", "File_close")


def right_places(data, source, without=()):
    """Each call is on a line of the source that names it, but for those where the debugging
    information does not say so.
    """
    text = source.read_text().splitlines()
    places = sites.Places(data["calls"]["modules"], data["calls"]["list"])
    for call in data["calls"]["list"]:
        name = places.name(call["site"])
        found = re.match(rf"{re.escape(source.name)}:(\d+) ", name)
        assert found, f"{call['call']} is at {name}"
        last = first = int(found[1])
        while text[first - 2].endswith("&"):  # gfortran names the last line of a statement
            first -= 1
        line = " ".join(text[first - 1 : last])
        if call["call"].removeprefix("MPI_") in without:
            continue
        assert f"{call['call']}(".lower() in line.lower(), f"{call['call']} is at {name}: {line}"


@each_build
def test_counts_times_and_places(crestacoll, build, tmp_path):
    """Counts equal those of another tool; the time of each function holds that of the other tool,
    which is behind, and is in the run (how much more it is depends on what else the machine does);
    the picture adds up to the run; every call is at its line.
    """
    shim, out = build / "lib" / "libcalls_shim.so", tmp_path / "shim"
    launch(crestacoll, build, "calls_made", "f", LD_PRELOAD=str(shim), CALLS_SHIM=str(out))
    data, theirs = profiles.load(tmp_path / "p.json"), told_by_shim(out)
    ours = by_function(data)
    wall_max = data["calls"]["wall_us"]["max"]
    assert theirs.pop("run")[1] <= 1.001 * 2 * wall_max
    assert set(theirs) >= {"MPI_Put", "MPI_File_write_at", "MPI_Waitall", "MPI_Comm_dup"}
    for name, (calls, us) in theirs.items():
        # How often a test is made depends on when its request ends.
        assert ours[name][0] == calls, name
        assert 0.999 * us <= ours[name][1] <= 2 * wall_max, (name, ours[name][1], us, wall_max)
    assert set(ours) - set(theirs) == {"MPI_Finalize", "MPI_Request_free"}
    assert data["calls"]["ahead"] == {}
    groups = mpitime.picture(data)
    wall = data["calls"]["wall_us"]["mean"]
    assert sum(us for _, us, _ in groups) == pytest.approx(wall, rel=1e-6)
    assert sum(mpitime.shares([us for _, us, _ in groups])) == pytest.approx(100)
    found = {group: lines for group, _, lines in groups}
    assert mpitime.WAITING in found[mpitime.COLLECTIVES]
    assert mpitime.BEGUN in found[mpitime.COLLECTIVES]
    sent = next(c for c in data["calls"]["list"] if c["call"] == "MPI_Send")
    assert (sent["calls"], sent["bytes"], sent["distance"]) == (200, 200 * 8000, "node")
    right_places(data, ROOT / "tests" / "mpi" / "calls_made.c")
    told = crestacoll("report", "p.json").stdout
    assert "receives, probes and waits" in told and "calls_made.c:" in told


@each_build
@pytest.mark.parametrize("binding", ["mpif", "usempi", "f08"])
def test_fortran_between_nodes(crestacoll, build, tmp_path, binding):
    """Counts, bytes, distances and lines of a Fortran program; each rank is a node."""
    if not (build / "tests" / "bin" / f"fortran_{binding}_made").exists():
        pytest.skip("no Fortran")
    launch(crestacoll, build, f"fortran_{binding}_made", "f", CRESTA_NODES="2x1")
    data = profiles.load(tmp_path / "p.json")
    counts = {name: calls for name, (calls, _) in by_function(data).items()}
    both = ("Irecv", "Isend", "Waitall", "Iallreduce", "Wait", "Allreduce", "Iprobe")
    once = ("Init", "Finalize", "Comm_dup", "Comm_free", "File_open", "File_close")
    assert counts == (
        {"MPI_Send": 50, "MPI_Recv": 50}
        | {f"MPI_{name}": 100 for name in both}
        | {f"MPI_{name}": 2 for name in once}
    )
    calls = {call["call"]: call for call in data["calls"]["list"]}
    assert calls["MPI_Send"]["bytes"] == 50 * 8000
    assert calls["MPI_Wait"]["requests"] == "collectives"
    for name in ("MPI_Send", "MPI_Recv", "MPI_Irecv", "MPI_Isend", "MPI_Iprobe"):
        assert calls[name]["distance"] == "between", name
    right_places(data, ROOT / "tests" / "fortran" / "calls_made.F90", NO_LINES)


@each_build
def test_a_tool_ahead_keeps_calls(build, tmp_path):
    """A tool that is preloaded before crestacoll and calls the MPI's own: the profile says so."""
    file = tmp_path / "p.json"
    libraries = [f"lib{n}.so" for n in ("calls_shim", "crestacoll-calls", "crestacoll-preload")]
    loaded = ":".join(str(build / "lib" / name) for name in libraries)
    variables = {"CRESTA_PROFILE": str(file), "CALLS_SHIM": str(tmp_path / "shim")}
    good(run(build, "calls_made", str(tmp_path / "f"), env=variables | {"LD_PRELOAD": loaded}))
    data = profiles.load(file)
    calls = data["calls"]["ahead"]
    assert {Path(path).name for path in calls.values()} == {libraries[0]}
    assert {"MPI_Send", "MPI_Win_fence"} <= set(calls) and "MPI_Request_free" not in calls
    assert "MPI_Send" not in by_function(data) and "MPI_Request_free" in by_function(data)
    (told,) = mpitime.ahead(data)
    assert f"and {len(calls) - 3} more ahead of crestacoll" in told


@each_build
def test_a_linked_program(crestacoll, build, tmp_path):
    """Collectives by crestacoll's own names count as those of the MPI that do the same; waits for
    them are waits for collectives. Whatever runs them, they are counted once.
    """
    launch(crestacoll, build, "calls_linked")
    data = profiles.load(tmp_path / "p.json")
    counts = {name: calls for name, (calls, _) in by_function(data).items()}
    assert counts == {
        "MPI_Init": 2,
        "MPI_Allreduce": 40,
        "MPI_Iallreduce": 40,
        "MPI_Waitall": 40,
        "MPI_Ibarrier": 40,
        "MPI_Wait": 40,
        "MPI_Finalize": 2,
    }
    waits = [c for c in data["calls"]["list"] if c["part"] == "wait"]
    assert {c["requests"] for c in waits} == {"collectives"}
    assert data["calls"]["ahead"] == {}


@each_build
@pytest.mark.by_turns
@pytest.mark.parametrize("impl", ["*=mpi", "*=p2p"])
def test_a_tool_behind_sees_what_it_saw(build, tmp_path, impl):
    """The count is no tool to crestacoll, which hands calls to the one behind it as before."""

    def seen(*ahead):
        libraries = [*ahead, "libcrestacoll-preload.so", "libwatcher.so"]
        loaded = ":".join(str(build / "lib" / name) for name in libraries)
        env = {"CRESTA_IMPL": impl, "CRESTA_FALLBACK": "silent", "LD_PRELOAD": loaded}
        file = tmp_path / "p.json"
        done = good(run(build, "watched_plain", "all", env=env | {"CRESTA_PROFILE": str(file)}))
        return sorted(re.findall(r"watched: \w+ \d+", done.stdout)), profiles.load(file)

    (without, alone), (with_it, counted) = seen(), seen("libcrestacoll-calls.so")
    assert without == with_it and len(without) > 40
    for one, other in zip(alone["records"], counted["records"], strict=True):
        assert one["calls_total"] == other["calls_total"], one


def computed(done):
    """What each rank says that it computed, in microseconds."""
    return [float(us) for us in re.findall(r"computed (\S+)", done.stdout)]


def run_uneven(build, file, ranks=4, **variables):
    libraries = [f"libcrestacoll-{name}.so" for name in ("calls", "preload")]
    loaded = ":".join(str(build / "lib" / name) for name in libraries)
    env = {"CRESTA_PROFILE": str(file), "LD_PRELOAD": loaded} | variables
    done = good(run(build, "calls_uneven", ranks=ranks, env=env))
    return computed(done), profiles.load(file)


@each_build
@pytest.mark.parametrize("nodes", ["", "2x2", "0,1,1,0", "1+3"])
def test_who_computes_most(build, tmp_path, nodes):
    """The useful time of ranks holds what they say that they compute, and none of what is
    suspended; the sums by node are those of all.
    """
    variables = {"CRESTA_NODES": nodes} if nodes else {}
    own, data = run_uneven(build, tmp_path / "p.json", **variables)
    calls = data["calls"]
    useful = calls["useful_us"]
    assert useful["max_rank"] == own.index(max(own)) == 2
    assert useful["max"] >= 0.999 * own[2] and useful["min"] >= 0.999 * min(own)
    assert useful["mean"] >= 0.999 * sum(own) / 4
    outside = {group: us for group, us, _ in mpitime.picture(data)}[mpitime.OUTSIDE]
    assert outside == pytest.approx(useful["mean"], rel=1e-6)
    assert useful["elapsed"] <= calls["wall_us"]["max"] - 0.999 * 50000
    firsts = {"": [0], "2x2": [0, 2], "0,1,1,0": [0, 1], "1+3": [0, 1]}[nodes]
    assert [node["first_rank"] for node in useful["nodes"]] == firsts
    ranks = {"": [4], "1+3": [1, 3]}.get(nodes, [2, 2])
    assert [node["ranks"] for node in useful["nodes"]] == ranks
    sums = sum(node["ranks"] * node["mean"] for node in useful["nodes"])
    assert sums == pytest.approx(4 * useful["mean"], rel=1e-6)
    assert max(node["max"] for node in useful["nodes"]) == useful["max"]
    theirs = {"": own, "2x2": own[2:], "0,1,1,0": own[1:3], "1+3": own[1:]}[nodes]
    assert useful["nodes"][-1]["mean"] >= 0.999 * sum(theirs) / len(theirs)
    found = efficiency.metrics(data)
    assert found[efficiency.PARALLEL] == pytest.approx(
        found[efficiency.BALANCE] * found[efficiency.COMMUNICATION]
    )
    assert all(0 < value <= 1 for value in found.values())
    assert (efficiency.BETWEEN in found) == (len(firsts) > 1)
    assert schemas.problems("profile", data) == []


@each_build
def test_one_rank_computes_alone(build, tmp_path):
    own, data = run_uneven(build, tmp_path / "p.json", ranks=1)
    useful = data["calls"]["useful_us"]
    assert useful["min"] == useful["max"] == useful["mean"] >= 0.999 * own[0]
    assert efficiency.metrics(data)[efficiency.BALANCE] == 1


PYTHON = """\
import threading
from mpi4py import MPI
import numpy as np

comm, numbers = MPI.COMM_WORLD, np.zeros(1000)


def send_or_receive():
    if comm.rank == 0:
        comm.Send(numbers, 1)
    else:
        comm.Recv(numbers, 0)


def look(times):
    for _ in range(times):
        comm.Iprobe(MPI.ANY_SOURCE, 99)


for _ in range(50):
    send_or_receive()
    comm.Allreduce(MPI.IN_PLACE, numbers)
threads = [threading.Thread(target=look, args=(200,)) for _ in range(3)]
for thread in threads:
    thread.start()
look(300)
for thread in threads:
    thread.join()
"""


def test_lines_of_python(build, tmp_path):
    """Calls by mpi4py are at the lines of the program, also in threads."""
    script, file = tmp_path / "program.py", tmp_path / "p.json"
    script.write_text(PYTHON)
    command = [ROOT / "bin" / "crestacoll", "run", "--profile", file, "--"]
    api_runs.good(api_runs.launch(build, tmp_path, script, before=command))
    data = profiles.load(file)
    places = sites.Places(data["calls"]["modules"], data["calls"]["list"])
    found = {
        (c["call"], places.name(c["site"]), c["main_thread"]): c["calls"]
        for c in data["calls"]["list"]
        if c["call"] not in ("MPI_Init_thread", "MPI_Finalize")
    }
    assert found == {
        ("MPI_Send", "program.py:10 send_or_receive", True): 50,
        ("MPI_Recv", "program.py:12 send_or_receive", True): 50,
        ("MPI_Allreduce", "program.py:22 <module>", True): 100,
        ("MPI_Iprobe", "program.py:17 look", True): 600,
        ("MPI_Iprobe", "program.py:17 look", False): 1200,
    }

HANGS = """\
from mpi4py import MPI


def meet():
    MPI.COMM_WORLD.Barrier()


if MPI.COMM_WORLD.rank == 0:
    meet()
MPI.COMM_WORLD.recv(source=0, tag=7)
"""


def test_lines_of_python_that_hang(build, tmp_path):
    script, said = tmp_path / "program.py", ""
    script.write_text(HANGS)
    places = ("program.py:5 meet", "program.py:10 <module>")
    for seconds in (1, 20, 100):  # both ranks have to come there
        command = [ROOT / "bin" / "crestacoll", "run", "--watchdog", f"{seconds}:end", "--"]
        box = tmp_path / f"job{seconds}"
        done = api_runs.launch(build, tmp_path, script, before=command, CRESTA_BLACKBOX=str(box))
        said = done.stderr
        if all(f", at {place}" in said for place in places):
            break
    assert done.returncode == listen.ENDED and all(f", at {p}" in said for p in places), said
    job = jobs.read(box)
    where = [text.where(text.names_of(job), b) for b in job.boxes]
    assert [w.rpartition(", at ")[2] for w in where] == list(places), where



@each_build
@pytest.mark.by_turns
@pytest.mark.parametrize("boxed, most", [(False, 170), (True, 280)])
def test_instructions_of_a_call(build, tmp_path, boxed, most):
    """A counted call of 8 bytes, with its place, takes so many instructions more: 15 ns, beside two
    readings of the time stamp counter; 100 more with a black box, and what it notes once.
    """
    calls, box = 20000, {"CRESTA_BLACKBOX": str(tmp_path / "box")} if boxed else {}
    if shutil.which("valgrind") is None:
        pytest.skip("no valgrind")
    file = tmp_path / "callgrind"
    libraries = [build / "lib" / f"libcrestacoll-{name}.so" for name in ("calls", "preload")]
    words = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}"]
    program = build / "tests" / "bin" / "calls_cost"
    subprocess.run(
        [*words, program, str(calls)],
        env=os.environ | AS_ROOT | box | {"LD_PRELOAD": ":".join(map(str, libraries))},
        capture_output=True,
        check=True,
    )
    words = ["callgrind_annotate", "--threshold=100", "--auto=no", file]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    ours = re.findall(r"^ *([\d,]+) .*\[.*libcrestacoll-calls\.so\]", text, re.MULTILINE)
    spent = sum(int(number.replace(",", "")) for number in ours) / calls
    assert 50 < spent < most, spent
