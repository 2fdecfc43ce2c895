# SPDX-License-Identifier: BSD-3-Clause
"""Shared memory: without it p2p runs, and a job leaves nothing behind, however it ends."""

import contextlib
import os
import random
import re
import signal
import subprocess
import time
import uuid
from pathlib import Path

import pytest
from library_runs import AS_ROOT, cached, each_build, family_of, messages, run

pytestmark = each_build

RANKS = 3
SKIPPED = 77
# The MPIs themselves look into each other's processes, and find too late that they must not.
LOOK_NOWHERE = {
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "UCX_TLS": "posix,self",
    "UCX_POSIX_USE_PROC_LINK": "n",
}


@pytest.mark.parametrize(
    "what, when, policy",
    [
        ("memfd", "before", "warn"),
        ("memfd", "0", "silent"),
        ("size", "0", "warn"),
        ("pages", "0", "warn"),
        ("pages", "1", "warn"),
        ("pages", "1", "error"),
        ("files", "after", "warn"),
        ("files", "after", "error"),
    ],
)
def test_no_memory_for_one_is_none_for_all(build, what, when, policy):
    env = {"CRESTA_FALLBACK": policy, **(LOOK_NOWHERE if what == "files" else {})}
    done = run(build, "limits", "refused", what, when, ranks=RANKS, env=env)
    if done.returncode == SKIPPED:
        pytest.skip(f"this kernel does not refuse {what}")
    assert (done.returncode != 0) == (policy == "error"), done.stderr
    assert len(messages(done)) == (policy != "silent"), done.stderr
    assert policy == "silent" or "the ranks share no memory" in done.stderr
    assert policy != "warn" or "p2p runs instead" in done.stderr


@pytest.mark.parametrize("when", ["after", "1"])
def test_no_window_where_one_rank_has_no_descriptor_left(build, when):
    done = run(build, "limits", "refused", "descriptors", when, ranks=RANKS)
    assert done.returncode == 0, done.stderr
    assert len(messages(done)) == 1, done.stderr
    assert "too few file descriptors" in done.stderr and "p2p runs instead" in done.stderr


def test_a_profile_beyond_the_limit_of_files_ends_no_rank(build, tmp_path):
    env = {"CRESTA_PROFILE": str(tmp_path / "profile.json")}
    done = run(build, "limits", "refused", "size", "0", ranks=RANKS, env=env)
    assert done.returncode == 0, done.stderr
    assert "p2p runs instead" in done.stderr, done.stderr
    assert "cannot write the profile" in done.stderr, done.stderr


@pytest.mark.parametrize("most", ["0", "1000000"])
def test_communicators_without_memory_are_mentioned_once(build, most):
    done = run(build, "limits", "many", "20", most)
    assert done.returncode == 0, done.stderr
    assert len(messages(done)) == 1 and "p2p runs instead" in done.stderr, done.stderr


@pytest.mark.parametrize("most", ["1T", "-1", "16MB", "M", "99999999999G"])
def test_an_amount_of_memory_that_is_none(build, most):
    done = run(build, "script", "allreduce=8", env={"CRESTA_SHM_MEMORY": most})
    assert done.returncode != 0
    assert len(messages(done)) == 1 and f"CRESTA_SHM_MEMORY={most}" in done.stderr, done.stderr


class Job:
    """`limits forever` on some ranks, whose processes bear a mark. They may give way while they
    wait (tests/mpi/gives_way.c): then the library does not come to sleep by itself.
    """

    def __init__(self, build, ranks=RANKS, impl="shm", give_way=False):
        openmpi = family_of(build) == "openmpi"
        self.rank_variable = b"OMPI_COMM_WORLD_RANK" if openmpi else b"PMI_RANK"
        self.mark = uuid.uuid4().hex
        self.mapped = set()
        command = [cached(build, "MPIEXEC_EXECUTABLE"), *(["--oversubscribe"] if openmpi else [])]
        if give_way:
            library = build / "lib" / "libgives_way.so"
            command += ["-x", f"LD_PRELOAD={library}"] if openmpi else [
                "-genv", "LD_PRELOAD", str(library)]
        self.launcher = subprocess.Popen(
            [*command, "-n", str(ranks), build / "tests" / "bin" / "limits", "forever"],
            env={**os.environ, **AS_ROOT, "JOB": self.mark, "CRESTA_IMPL": f"*={impl}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def processes(self):
        """{process: its rank, None for those of the launcher}; without those that have ended."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            variables = dict(word.split(b"=", 1) for word in words if b"=" in word)
            if variables.get(b"JOB") == self.mark.encode():
                found[int(folder.name)] = variables.get(self.rank_variable)
        return found

    def process_of(self, rank):
        """The process of a rank; waits until it exists."""
        while self.launcher.poll() is None:
            for process, its_rank in self.processes().items():
                if its_rank == str(rank).encode():
                    return process
            time.sleep(0.01)
        return pytest.fail(f"rank {rank} did not start")

    def kill(self, process):
        """The MPIs themselves leave files in memory then: which these are is known only before."""
        for one in self.processes():
            with contextlib.suppress(OSError):
                maps = Path(f"/proc/{one}/maps").read_text()
                self.mapped.update(re.findall(r"/dev/shm/\S+", maps))
        os.kill(process, signal.SIGKILL)

    def left_after(self, seconds=300, but=None):
        """Processes that do not end; it is the machine's affair how soon they do. One may stay."""
        end = time.monotonic() + seconds
        while set(self.processes()) - {but} and time.monotonic() < end:
            self.launcher.poll()
            time.sleep(0.05)
        return self.processes()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.launcher.communicate()
        for path in self.mapped:
            if "cresta" not in path.lower():
                Path(path).unlink(missing_ok=True)


def files():
    """What is in memory and among temporary files under our name."""
    return {
        path
        for folder in ("/dev/shm", "/tmp")
        for path in Path(folder).iterdir()
        if "cresta" in path.name.lower() and not path.is_dir()  # the folder of another command
    }


@pytest.mark.alone
@pytest.mark.parametrize(
    "victim, moment",
    [
        (0, "set-up"),
        (2, "set-up"),
        (0, "at work"),
        (2, "at work"),
        ("launcher", "at work"),
        ("launcher", "waiting"),
    ],
)
def test_a_job_that_is_killed_leaves_nothing(build, victim, moment):
    before = files()
    with Job(build) as job:
        if moment != "set-up":
            assert job.launcher.stdout.readline() == "going\n"
        process = job.launcher.pid if victim == "launcher" else job.process_of(victim)
        delay = random.uniform(0, 0.4)
        late = job.process_of(1)
        if moment == "waiting":  # the others for this one, long enough to sleep
            os.kill(late, signal.SIGSTOP)
            delay += 0.3
        time.sleep(delay)
        job.kill(process)
        if moment == "waiting":
            time.sleep(0.3)
            os.kill(late, signal.SIGCONT)
        # Open MPI's launcher may miss the end of a rank that it has just started
        # (docs/mpi-defects.md): then it never ends.
        early = moment == "set-up" and family_of(build) == "openmpi"
        if early:
            job.left_after(but=job.launcher.pid)
        left = job.left_after(30 if early else 300)
        if early and left.pop(job.launcher.pid, "") is None:
            job.launcher.kill()
        assert not left, f"killed after {delay:.3f} s; processes and their ranks: {left}"
        assert job.launcher.wait(300) != 0
    assert files() <= before


@pytest.mark.alone
@pytest.mark.parametrize("impl", ["os", "caf", "shm?copy=single"])
@pytest.mark.parametrize("victim", [1, "launcher"])
def test_nor_does_one_with_windows_or_coarrays_or_single_copy(build, victim, impl):
    if impl == "caf" and not (build / "lib" / "libcrestacoll-caf.so").exists():
        pytest.skip("no coarrays are built")
    before = files()
    with Job(build, ranks=2, impl=impl, give_way=True) as job:
        assert job.launcher.stdout.readline() == "going\n"
        process = job.launcher.pid if victim == "launcher" else job.process_of(victim)
        delay = random.uniform(0, 0.2)
        time.sleep(delay)
        job.kill(process)
        left = job.left_after()
        assert not left, f"killed after {delay:.3f} s; processes and their ranks: {left}"
    assert files() <= before
