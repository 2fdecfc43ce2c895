# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tests of the command line: the package on the path, and what is built."""

import functools
import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
# As in cmake/CrestaMpi.cmake: ranks of Open MPI give their cores away by themselves only where they
# are more than the cores, but other tests run beside.
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
# Black boxes of jobs that tests let die stay nowhere.
STATE = tempfile.TemporaryDirectory(prefix="crestacoll-state-")
os.environ["XDG_STATE_HOME"] = STATE.name

from crestacoll_tools.builds import builds  # noqa: E402


def pytest_addoption(parser):
    parser.addoption(
        "--no-launch",
        action="store_true",
        help="skip each test when it starts a process: what is left takes seconds (make quick)",
    )
    parser.addoption(
        "--in-full",
        action="store_true",
        help="the README's commands with the time that they have there (make nightly)",
    )


def pytest_runtest_setup(item):
    """Not earlier: pytest-xdist starts its own processes before."""

    def skip(*_args, **_options):
        pytest.skip("starts a process; make check runs it")

    if item.config.getoption("--no-launch", default=False):
        subprocess.Popen.__init__ = skip


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the marks
def pytest_collection_modifyitems(items):
    """What takes longest begins first: it would have a core for itself at the end."""
    leave_to_the_night(items)
    items.sort(key=lambda item: not item.path.name.startswith(("test_wheel", "test_tune.")))


def leave_to_the_night(items):
    """Tests `by_turns` are marked `nightly` for all builds but the one whose turn it is."""
    built, alike = {found.name for found in builds.all_builds()}, {}
    for item in items:
        if item.get_closest_marker("by_turns") and hasattr(item, "callspec"):
            names = {Path(str(value)).name for value in item.callspec.params.values()} & built
            for name in names:
                alike.setdefault(item.nodeid.replace(name, "", 1), []).append(item)
    for what, several in alike.items():
        turn = zlib.crc32(what.encode()) % len(several)
        for item in several[:turn] + several[turn + 1 :]:
            item.add_marker("nightly")


def pytest_report_header():
    return f"crestacoll builds: {', '.join(b.name for b in builds.all_builds()) or 'none'}"


@pytest.fixture(params=["openmpi", "mpich"])
def build(request):
    """A build, one after the other; tests are skipped where it does not exist."""
    for found in builds.all_builds():
        if found.name == request.param:
            return found
    return pytest.skip(f"build/{request.param} is not built")


def giving_way():
    """For commands that start ranks: they give their cores away while they wait, as those of ctest
    (tests/mpi/gives_way.c). A process that does not wait is not changed.
    """
    found = [lib for b in builds.all_builds() for lib in b.folder.glob("lib/libgives_way.so")]
    return {"LD_PRELOAD": str(found[0])} if found else {}


def command(*words, cwd, timeout=600, preload=True, **variables):
    """Runs bin/crestacoll."""
    if not os.access(ROOT / ".venv" / "bin" / "python", os.X_OK):
        pytest.skip("no .venv: run 'make setup'")
    env = builds.clean_environment(**(giving_way() if preload else {}) | variables)
    return subprocess.run(
        [str(ROOT / "bin" / "crestacoll"), *map(str, words)],
        cwd=cwd,
        env=env,
        timeout=timeout,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.fixture
def crestacoll(tmp_path):
    """Runs bin/crestacoll in a folder of its own."""
    return functools.partial(command, cwd=tmp_path)


@pytest.fixture
def in_process(tmp_path, monkeypatch):
    """As `crestacoll`, without a process: an interpreter takes longer to load the packages than
    most commands take. For those that read files and print; that each command starts from a shell
    is shown elsewhere, such as in test_readme_commands.py.
    """
    from click.testing import CliRunner
    from crestacoll_tools import cli
    from crestacoll_tools.base import ui

    def run(*words, **variables):
        for console in (ui.out, ui.err):  # which may be as wide as an earlier test said
            vars(console).pop("console", None)
        monkeypatch.chdir(tmp_path)
        for name in [n for n in os.environ if n.startswith("CRESTA_")]:
            monkeypatch.delenv(name)
        words = list(map(str, words))
        runner = CliRunner(env=builds.clean_environment(**giving_way() | variables))
        done = runner.invoke(cli.main, words, prog_name="crestacoll", catch_exceptions=False)
        told = [done.stdout_bytes, done.stderr_bytes]
        told = [text.decode("utf-8", "surrogateescape") for text in told]
        return subprocess.CompletedProcess(words, done.exit_code, *told)

    return run


@pytest.fixture
def turbulence(build):
    """The example program of a build and arguments that make it short."""
    program = build.program("turbulence")
    if not program.exists():
        pytest.skip(f"{program} is not built")
    return [str(program), "--grid", "16", "--steps", "2"]


PROFILE = {
    "schema": "crestacoll-profile-5",
    "crestacoll": "0.1.0",
    "mpi": "Open MPI v4.1.4, package: Debian OpenMPI",
    "ranks": 2,
    "wall_s": 2.0,
    "wait_sampling": 1,
    "clocks": [{"rank": 0, "ahead_us": 0.0, "drift_ppm": 0.0, "error_us": 0.0}],
    "communicators": [],
    "timeline": None,
    "records": [
        {
            "collective": "alltoall",
            "mode": "blocking",
            "communicator": "row",
            "processes": 2,
            "bytes_min": 4096,
            "bytes_max": 8191,
            "implementation": "nonblock",
            "ranks": 2,
            "calls": 120,
            "calls_total": 240,
            "bytes_total": 983040,
            "time_us": {"min": 9e5, "mean": 1e6, "max": 1.1e6},
            "wait_us": {
                "samples": 40,
                "mean": 2e5,
                "low": 1.5e5,
                "high": 2.4e5,
                "max": 3e5,
                "clock_error": 0.0,
            },
            "nodes": None,
            "between_nodes": None,
        },
        {
            "collective": "allreduce",
            "mode": "nonblocking",
            "communicator": "",
            "processes": 2,
            "bytes_min": 8,
            "bytes_max": None,
            "implementation": "mpi",
            "ranks": 2,
            "calls": 10,
            "calls_total": 20,
            "bytes_total": 160,
            "time_us": {"min": 10.0, "mean": 20.0, "max": 30.0},
            "wait_us": None,
            "nodes": None,
            "between_nodes": None,
        },
    ],
}


@pytest.fixture
def profile_data():
    import copy

    return copy.deepcopy(PROFILE)
