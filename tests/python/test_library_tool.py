# SPDX-License-Identifier: BSD-3-Clause
"""What a profiling tool that wraps everything sees of a program (tests/mpi/watcher.c, watched.c):
the same as without crestacoll, but for the collectives that crestacoll runs itself."""

import functools
import re

import pytest
from library_runs import COLLECTIVES, each_build, good, profiled, run

pytestmark = each_build
BLOCKING = {name.capitalize() + end for name in COLLECTIVES for end in ("", "_c")}
OURS = ["*=p2p", "*=shm", "*=os", "*=nonblock", "*=persist"]
# Idle, and with a rule that has every communicator set up.
MPIS = ["", "barrier@nowhere=p2p,*=mpi"]
# Program, what is preloaded.
BEHIND = {
    "preloaded": ("watched_plain", "ours:tool"),
    "linked": ("watched", "tool"),
    "linked-tool": ("watched_behind", ""),
    "both": ("watched", "ours:tool"),
}


def tool(build, name="watcher"):
    return str(build / "lib" / f"lib{name}.so")


def seen(build, program, *modes, preload="", **env):
    """{function: calls} on rank 0."""
    ours = str(next((build / "lib").glob("libcrestacoll-preload.so")))
    known = {"ours": ours, "tool": tool(build), "chain": tool(build, "watcher_chain")}
    paths = [known[name] for name in preload.split(":") if name]
    env = {"LD_PRELOAD": ":".join(paths), "CRESTA_FALLBACK": "silent", **env}
    done = good(run(build, program, *(modes or ["all"]), env=env))
    return {name: int(calls) for name, calls in re.findall(r"watched: (\w+) (\d+)", done.stdout)}


@functools.cache
def alone(build, *modes, **env):
    """One launch for all that compare with it, which leave it as it is."""
    return seen(build, "watched_plain", *modes, preload="tool", **env)


def without(counts, names):
    return {name: calls for name, calls in counts.items() if name not in names}


def test_alone(build):
    counts = alone(build)
    assert {name.capitalize() for name in COLLECTIVES} <= set(counts)
    assert {"I" + name for name in COLLECTIVES} <= set(counts)


@pytest.mark.parametrize("spec", MPIS)
@pytest.mark.parametrize("way", BEHIND)
def test_what_the_mpi_runs(build, way, spec):
    program, preload = BEHIND[way]
    assert seen(build, program, preload=preload, CRESTA_IMPL=spec) == alone(build)


@pytest.mark.parametrize("spec", OURS)
@pytest.mark.parametrize("way", BEHIND)
def test_what_crestacoll_runs(build, way, spec):
    """None of the blocking collectives, and nothing of what they are made of."""
    program, preload = BEHIND[way]
    counts = seen(build, program, preload=preload, CRESTA_IMPL=spec, CRESTA_PROFILE="/dev/null")
    expected = alone(build)
    if "p2p" in spec:
        assert counts == without(expected, BLOCKING)
    left = set(counts) & BLOCKING  # where the ladder ends at the MPI's
    assert without(counts, BLOCKING) == without(expected, BLOCKING)
    assert all(counts[name] == expected[name] for name in left)


@pytest.mark.parametrize("spec", ["", "*=p2p"])
def test_before(build, spec):
    """A tool in front calls PMPI_x: it sees all, and nothing comes to the preload library."""
    expected = alone(build)
    counts = seen(build, "watched_plain", preload="tool:ours", CRESTA_IMPL=spec)
    assert counts == expected
    counts = seen(build, "watched", preload="tool:ours", CRESTA_IMPL=spec)
    assert counts == (without(expected, BLOCKING) if spec else expected)


@pytest.mark.parametrize("spec", [*MPIS, "*=p2p"])
@pytest.mark.parametrize("program", ["watched_plain", "watched"])
def test_before_and_going_on(build, program, spec):
    """A tool in front that calls the next MPI_x: it sees all once, and rules hold behind it."""
    expected = alone(build)
    counts = seen(build, program, preload="chain:ours", CRESTA_IMPL=spec)
    by_our_name = program == "watched" and "*=p2p" in spec
    assert counts == (without(expected, BLOCKING) if by_our_name else expected)


def test_begins(build):
    """What the MPI runs of split-phase calls, and every wait and test while copies are kept."""
    assert seen(build, "watched", "split", preload="tool") == alone(build, "nonblocking")


@pytest.mark.parametrize("spec", ["*=p2p", "*=shm"])
def test_begins_of_ours(build, spec):
    """Waits for what crestacoll moves, but for those of which one request may be enough."""
    env = {"CRESTA_IMPL": spec, "CRESTA_ASYNC": "thread"}
    some = {"Waitany", "Waitsome"}
    counts = seen(build, "watched_behind", "blocking", "split", **env)
    counts = {name: calls for name, calls in counts.items() if name not in some and name[0] != "I"}
    expected = alone(build, "blocking", "nonblocking")
    expected = {name: calls for name, calls in expected.items() if name in counts}
    assert {"Wait", "Waitall", "Test", "Testall", "Testany", "Testsome"} <= set(counts)
    assert counts == expected


@pytest.mark.parametrize("spec", [*MPIS, "*=p2p"])
@pytest.mark.parametrize("way", BEHIND)
def test_a_tool_that_calls_mpi(build, way, spec):
    """By public names, from its MPI_Init, before ours has ended."""
    program, preload = BEHIND[way]
    env = {"CRESTA_IMPL": spec, "WATCHER_CALLS": "1"}
    expected = alone(build, **env)
    counts = seen(build, program, preload=preload, **env)
    assert without(counts, BLOCKING) == without(expected, BLOCKING)
    if not spec:
        assert counts == expected


@pytest.mark.parametrize("way", BEHIND)
def test_polite_waits(build, way):
    """It sees blocking calls and waits once, and nothing that the library makes of them."""
    program, preload = BEHIND[way]
    assert seen(build, program, preload=preload, CRESTA_WAIT="polite") == alone(build)


@pytest.mark.parametrize("binding", ["mpif", "usempi", "f08"])
def test_fortran(build, tmp_path, binding):
    program = f"fortran_{binding}"
    if not (build / "tests" / "bin" / program).exists():
        pytest.skip("this MPI has no Fortran here")
    made = {}
    form = {"blocking": "{0}", "nonblocking": "I{1}", "persistent": "{0}_init"}
    for record in profiled(build, tmp_path, program, preload=True):
        name = record["collective"]
        key = form[record["mode"]].format(name.capitalize(), name)
        made[key] = made.get(key, 0) + record["calls"]
    counts = seen(build, program, preload="ours:tool")
    assert {name: counts.get(name) for name in made} == made


OWN = {"CRESTA_IMPL": "*=p2p", "CRESTA_VALIDATE": "1"}


def test_a_program_that_has_mpi_init(build, tmp_path):
    """Ours is not called: PMPI_Init is, so that the library begins as ever."""
    files = {"CRESTA_VALIDATE_SUMMARY": str(tmp_path / "v.json"), "CRESTA_IMPL": "*=p2p"}
    records = profiled(
        build, tmp_path, "own_init", "parts", "world", env=OWN | files, ranks=3, preload=True
    )
    assert {(r["processes"], r["implementation"].split(":")[0]) for r in records} == {
        (2, "p2p"),
        (3, "p2p"),
    }
    assert (tmp_path / "v.json").exists()


def test_a_linked_program_that_has_mpi_init(build, tmp_path):
    """It begins in the first collective, on some ranks only; a profile needs them all."""
    loaded = tmp_path / "loaded"
    env = OWN | {"CRESTA_LOADED": str(loaded)}
    records = profiled(build, tmp_path, "own_init_linked", "parts", "world", env=env, ranks=3)
    assert {r["processes"] for r in records} == {2, 3} and loaded.exists()
    env |= {"CRESTA_PROFILE": str(tmp_path / "none.json")}
    done = good(run(build, "own_init_linked", "parts", env=env, ranks=3))
    assert "right" in done.stdout and not (tmp_path / "none.json").exists()
