# SPDX-License-Identifier: BSD-3-Clause
"""Runs crestacoll-bench and reads its JSON lines."""

import contextlib
import datetime
import json
import os
import re
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from crestacoll import __version__
from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import DECODED, TEXT, Problem
from crestacoll_tools.bench.refusals import refusals
from crestacoll_tools.builds import machine
from crestacoll_tools.builds.builds import clean_environment
from crestacoll_tools.launch import nethosts

BUFFERS = {  # and what they say about the data of a call
    "hot": "data not written again",
    "written": "data written again",
    "cold": "other data in every call",
}
# A network interface with a rate lets the first of a batch through at once (nethosts.at_once).
LONG_BATCHES = ["--batch-us", "3000"]


@dataclass
class Plan:
    """What to measure."""

    collectives: list
    implementations: list
    sizes: list
    ranks: int
    timing: str = "back_to_back"
    samples: int = 200
    budget: float = 60.0
    root: str = "rotate"
    buffers: str = "hot"  # a list: each in turn, size by size
    skew: float = 0.0
    options: list = field(default_factory=list)
    calls: str = "blocking"

    @property
    def cells(self):
        each = len(self.sizes) * len(self.buffers.split(","))
        return sum(1 if c == "barrier" else each for c in self.collectives)


def launch_words(build, ranks):
    """mpiexec and its options: each rank on a core of its own while there are enough of them.

    Open MPI binds by itself, refuses more ranks than cores without an option for it, with which
    waiting ranks yield. Where ranks share cores, jobs of Intel MPI do not end that its mpiexec has
    started, and those of its mpirun do.
    """
    enough = ranks <= len(os.sched_getaffinity(0))
    extra = {
        ("openmpi", False): ["--oversubscribe"],
        ("mpich", True): ["-bind-to", "core"],
        ("intelmpi", True): ["-bind-to", "core"],
    }.get((build.family, enough), [])
    launcher = build.launcher
    if build.family == "intelmpi" and not enough:
        launcher = str(Path(launcher).with_name("mpirun"))
    return [launcher, *extra, "-n", str(ranks)]


def words(build, plan, launch=None):
    """The words of a job; `launch`: a launcher and its options in place of the build's."""
    launcher = [*launch, "-n", str(plan.ranks)] if launch else launch_words(build, plan.ranks)
    return [*launcher, *program_words(build, plan)]


def program_words(build, plan):
    return [
        *build.words("crestacoll-bench"),
        "--label",
        build.name,
        "--collectives",
        ",".join(plan.collectives),
        "--impl",
        ",".join(plan.implementations),
        "--sizes",
        ",".join(map(str, plan.sizes)),
        "--timing",
        plan.timing,
        "--samples",
        str(plan.samples),
        "--budget",
        f"{plan.budget:.3f}",
        "--root",
        plan.root,
        "--buffers",
        plan.buffers,
        "--calls",
        plan.calls,
        "--skew",
        f"{plan.skew:g}",
        *plan.options,
    ]


@dataclass
class Result:
    header: dict = field(default_factory=dict)
    records: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    rounds: list = field(default_factory=list)  # with --rounds 1
    end: dict | None = None

    @property
    def wrong(self):
        return [r for r in self.records if not r["verified"]]


def take(result, line, label):
    """Sorts one line of crestacoll-bench into the result; answers its type."""
    try:
        data = json.loads(line)
        kind = data.pop("type")
    except (ValueError, KeyError, AttributeError):
        return None  # some other line: MPIs print things of their own
    if kind == "header":
        result.header = data
    elif kind == "record":
        result.records.append(data)
    elif kind == "rounds":
        result.rounds.append(data)
    elif kind == "note":
        result.notes.append({"mpi": label, **data})
    elif kind == "end":
        result.end = data
    return kind


def run(build, plan, on_progress=lambda: None, limit=None, variables=None):
    """One job, ended after `limit` seconds, with more variables in its environment. Raises Problem
    if it does not come to its end; a wrong result is in the records.
    """
    return run_command(build, words(build, plan), on_progress, limit, variables)


@dataclass(kw_only=True)
class Study:
    """What to measure beside computation, as far as overlap and harness share it."""

    sizes: list
    ranks: int
    work: float = 1.0
    samples: int = 50
    budget: float = 60.0
    hosts: int = 1
    rate: str | None = None
    progress: str = "thread"

    @property
    def cells(self):
        return len(self.sizes)

    def words(self, build, program, collective, implementations):
        """The program and its options."""
        return [
            *build.words(program),
            *("--label", build.name),
            *("--collectives", collective, "--impl", ",".join(implementations)),
            *("--sizes", ",".join(map(str, self.sizes)), "--work", f"{self.work:g}"),
            *("--async", self.progress),
            *("--samples", str(self.samples), "--budget", f"{self.budget:.3f}"),
        ]

    def run(self, build, words, on_progress=lambda: None):
        return run_on(build, words, self.ranks, self.hosts, self.rate, on_progress)


class Overdue(Problem):
    """A job that was ended for its time: it may hang, or the machine has much else to do."""


# Seconds for MPI_Finalize. MPICH 4.0 over TCP sometimes does not come back from it: some ranks are
# in its last barrier, one waits for an answer of theirs (docs/mpi-defects.md).
FINALIZE = 10


def run_command(build, command, on_progress=lambda: None, limit=None, variables=None):
    """As `run`, with the words of the job given. Its program answers like crestacoll-bench;
    `variables` are added to its environment.
    """
    result, begin = Result(), time.monotonic()
    with tempfile.TemporaryFile("w+", **DECODED) as errors:
        with (
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=errors,
                **TEXT,
                env=clean_environment(**(variables or {})),
            ) as job,
            contextlib.ExitStack() as stack,
        ):
            stack.enter_context(ended_after(job, limit))
            for line in job.stdout:
                kind = take(result, line, build.name)
                if kind == "progress":
                    on_progress()
                elif kind == "end":
                    stack.enter_context(ended_after(job, FINALIZE))
        errors.seek(0)
        said = errors.read().strip()
    if result.end is None and limit and time.monotonic() - begin >= limit:
        raise Overdue(f"the benchmark of {build.name} was ended after {limit:.0f} s: {said or '-'}")
    if result.end is None:
        raise broken_off(build, job.returncode, said)
    result.header["command"] = command
    result.header["seconds"] = result.end["seconds"]
    hear(result, said.splitlines(), build.name)
    return result


def run_on(build, words, ranks, hosts=1, rate=None, on_progress=lambda: None):
    """As `run`, with the program and its options given, on this host or on some that are made for
    it (nethosts).
    """
    with contextlib.ExitStack() as stack:
        launch = launch_words(build, ranks)
        if hosts > 1:
            made = stack.enter_context(nethosts.hosts(hosts, rate))
            launch = made.launch_words(build, ranks)
        return run_command(build, [*launch, *words], on_progress)


def document(schema, results):
    """What --json writes of such jobs."""
    return {
        "schema": schema,
        "crestacoll": __version__,
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "verified": not any(r.wrong for r in results),
        "jobs": [r.header for r in results],
        "notes": [n for r in results for n in r.notes],
        "records": [x for r in results for x in r.records],
    }


def panels(records):
    """Lists of those that belong into one table: of a collective, measured in one way."""
    found = {}
    for r in records:
        found.setdefault((r["mpi"], r["collective"], *way(r)), []).append(r)
    return list(found.values())


def way(record):
    """Which calls with which data; results of before split-phase calls were measured have none."""
    return record["ranks"], record["buffers"], record.get("calls", "blocking")


def data_words(record):
    """", begun and ended, data written again"; a barrier has no data."""
    begun = ", begun and ended" if way(record)[-1] == "begun" else ""
    data = "" if record["collective"] == "barrier" else f", {BUFFERS[record['buffers']]}"
    return begun + data


def library(header):
    """The MPI of a job and its version, in few words."""
    return " ".join(header["mpi_library"].split(",")[0].split())


def where(header, rate=None):
    """4 ranks on 2 hosts, 1gbit each"""
    hosts = f"{header['hosts']} host{'s' * (header['hosts'] > 1)}"
    return f"{counted(header['ranks'], 'rank')} on {hosts}" + (f", {rate} each" if rate else "")


def remarks(result):
    """Lines about what is not in the tables, or not as asked."""
    return [*cut_short(result), *folded(result.notes)]


def cut_short(result):
    short = [r for r in result.records if r["samples"] < r["samples_asked"]]
    if not short:
        return []
    missed = " or a rank missed the agreed start" * (short[0].get("timing") == "synchronised")
    lines, have = counted(len(result.records), "line"), "has" if len(short) == 1 else "have"
    return [
        f"# {len(short)} of {lines} {have} fewer samples than the"
        f" {short[0]['samples_asked']} asked for: the time budget ended (--budget){missed}"
    ]


SIZE = re.compile(r"(?P<what>.+) (?P<bytes>\d+) bytes")


def folded(notes):
    """A line for what is said of several sizes of one collective."""
    sizes = {}
    for note in notes:
        found = SIZE.fullmatch(note["about"])
        what, size = (found["what"], int(found["bytes"])) if found else (note["about"], None)
        sizes.setdefault((what, note["text"]), []).append(size)
    for (what, text), known in sizes.items():
        each = dict.fromkeys(format_size(size) for size in known if size is not None)
        of = f" of {', '.join(each)} bytes" if each else ""
        yield f"# {what}{of}: {text}"


@contextlib.contextmanager
def ended_after(job, limit):
    """The launcher ends its ranks when it is told to end."""
    watch = threading.Timer(limit or threading.TIMEOUT_MAX, job.terminate)
    watch.daemon = True
    watch.start()
    try:
        yield
    except BaseException:
        job.terminate()
        raise
    finally:
        watch.cancel()


def broken_off(build, code, said):
    """The library says what is wrong with a rule; the rest of the launcher's words are noise."""
    refused = re.search(r"crestacoll: (CRESTA_Set_impl: .*\n.*\n.*\^ character \d+)", said)
    if refused:
        return Problem(refused[1].replace("CRESTA_Set_impl: ", "--impl: "), exit_code=2)
    return Problem(
        f"the benchmark of {build.name} broke off (exit code {code}):\n{said or '(no message)'}"
    )


def hear(result, lines, label):
    """Messages of the library become notes; the reason of a refusal goes into the note about it."""
    for line in lines:
        refused = next(iter(refusals(line)), None)
        notes = notes_about(result, refused) if refused else []
        for note in notes:
            note["text"] = f"{note['text'].partition(':')[0]}: {refused.why}"
        if not notes and "crestacoll" in line:
            result.notes.append({"mpi": label, "about": "message", "text": line})


def notes_about(result, refused):
    """The notes about what was refused: one collective, or all, on the communicator of an
    implementation."""
    impl = refused.communicator.removeprefix("bench ")
    names = [n["about"].rpartition(" ") for n in result.notes]
    return [
        note
        for note, (who, _, coll) in zip(result.notes, names, strict=True)
        if who == impl and refused.collective in ("", coll)
    ]
