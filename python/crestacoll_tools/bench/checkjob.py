# SPDX-License-Identifier: BSD-3-Clause
"""Runs crestacoll-check and crestacoll-check-fortran and reads what they say (check/tell.h).

What hangs or crashes takes its job with it: it counts as an error, and another job goes on with
what comes after it.
"""

import os
import re
import subprocess
import tempfile
import threading
from dataclasses import asdict, dataclass, field

from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import DECODED, TEXT, Problem
from crestacoll_tools.bench.benchjob import launch_words
from crestacoll_tools.bench.refusals import refusals
from crestacoll_tools.builds.builds import AGAIN, clean_environment

PROGRAMS = {"C": "crestacoll-check", "Fortran": "crestacoll-check-fortran"}
FINE, NOT_HERE, WRONG = "fine", "not here", "wrong"
GRACE = 15  # seconds that a program has to end itself after its own time limit


@dataclass
class Verdict:
    """What a collective with an implementation came to, in one language on so many ranks."""

    language: str
    ranks: int
    collective: str
    implementation: str
    status: str
    calls: int = 0
    refused: int = 0  # calls: with this root, operation or communicator it cannot run
    why: str = ""
    instead: str = ""  # what would run
    errors: list = field(default_factory=list)

    as_dict = asdict


@dataclass
class Job:
    """What all jobs of one build, language and number of ranks have in common."""

    build: object
    language: str
    ranks: int
    seconds: float = 0.5
    timeout: int = 60

    def words(self, cells):
        program = self.build.words(PROGRAMS[self.language])
        launch = [*launch_words(self.build, self.ranks), *program, "--progress", "--stop"]
        if self.language == "C":
            limits = ["--seconds", str(self.seconds), "--timeout", str(self.timeout)]
            return [*launch, *limits, "--impl", ",".join(cells)]
        return [*launch, f"--seconds={self.seconds}", f"--timeout={self.timeout}", *cells]


@dataclass
class Outcome:
    verdicts: list = field(default_factory=list)
    left_out: list = field(default_factory=list)  # known faults of the MPI that were not tried

    def add(self, other):
        self.verdicts += other.verdicts
        self.left_out += [n for n in other.left_out if n not in self.left_out]


def languages(build):
    """Those that this build can check."""
    return [language for language, name in PROGRAMS.items() if build.program(name).exists()]


def list_cells(build, collectives, implementations, everything):
    """(COLLECTIVE=IMPLEMENTATION words to run, {word of what this build lacks: why})."""
    program = build.program(PROGRAMS["C"])
    if not program.exists():
        raise Problem(f"{program} is not there; {AGAIN}")
    words = [*build.words(PROGRAMS["C"]), "--list", "--collectives", ",".join(collectives)]
    words += ["--impl", ",".join(implementations)] if implementations else []
    words += ["--all"] if everything else []
    done = subprocess.run(
        words, capture_output=True, **TEXT, check=False, env=clean_environment()
    )
    if done.returncode:
        raise Problem(done.stderr.strip().removeprefix("crestacoll-check: "), exit_code=2)
    lacking = re.findall(r"^not here: (\S+=\S+): (.*)$", done.stdout, re.MULTILINE)
    return re.findall(r"^trying: (\S+)$", done.stdout, re.MULTILINE), dict(lacking)


def run(job, cells, on_progress=lambda: None):
    """Every cell, in as many jobs as it takes."""
    outcome, left = Outcome(), list(cells)
    while left:
        listener = Listener(job, on_progress)
        code, said = launch(job, left, listener)
        outcome.left_out += [n for n in listener.left_out if n not in outcome.left_out]
        if listener.trying is None and not listener.verdicts:
            raise Problem(
                f"{' '.join(job.words(left[:1]))} did not start (exit code {code}):"
                f"\n{said.strip() or '(no message)'}"
            )
        if listener.trying is not None:
            listener.broke_off(code)
        explain(listener.verdicts, said)
        outcome.verdicts += listener.verdicts
        told = {f"{v.collective}={v.implementation}" for v in listener.verdicts}
        if not told & set(left):
            raise Problem(
                f"{' '.join(job.words(left))} did not check any of these:\n{said.strip()}"
            )
        left = [cell for cell in left if cell not in told]
    return outcome


def launch(job, cells, listener):
    """One job; (exit code, what it wrote to standard error). Ended when it says nothing."""
    env = clean_environment(**{k: v for k, v in os.environ.items() if k == "CRESTA_DEBUG"})
    with tempfile.TemporaryFile("w+", **DECODED) as errors:
        with subprocess.Popen(
            job.words(cells),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            **TEXT,
            env=env,
        ) as process:
            try:
                listen(process, job.timeout + GRACE, listener)
            except BaseException:
                process.terminate()
                raise
        errors.seek(0)
        return process.returncode, errors.read()


def listen(process, limit, listener):
    """Hands on lines; a launcher that is silent for too long is told to end, then killed."""
    watches = []

    def watch():
        while watches:
            watches.pop().cancel()
        for seconds, end in (limit, process.terminate), (limit + GRACE, process.kill):
            timer = threading.Timer(seconds, end)
            timer.daemon = True
            timer.start()
            watches.append(timer)

    watch()
    try:
        for line in process.stdout:
            if listener.hear(line.rstrip("\n")):
                watch()
        process.wait()
    finally:
        while watches:
            watches.pop().cancel()


class Listener:
    """Makes verdicts of lines."""

    VERDICT = re.compile(r"(fine|not here|wrong): ([a-z_]+)=(\S+): (.*)")
    CALLS = re.compile(r"(\d+) calls, (\d+) refused")
    INSTEAD = re.compile(r"(.*) \((\S+) runs instead\)")

    def __init__(self, job, on_progress):
        self.job, self.on_progress = job, on_progress
        self.verdicts, self.left_out, self.errors, self.trying = [], [], [], None

    def hear(self, line):
        """True if this was one of the lines that are expected."""
        found = self.VERDICT.fullmatch(line)
        if found:
            self.verdict(*found.groups())
        elif line.startswith("trying: "):
            self.trying, self.errors = line.removeprefix("trying: "), []
        elif line.startswith("Error in CRESTA_"):
            self.errors.append(line)
        elif line.startswith("left out: "):
            self.left_out.append(line.removeprefix("left out: "))
        else:
            return line.startswith("end: ")
        return True

    def verdict(self, status, collective, implementation, rest):
        verdict = Verdict(self.job.language, self.job.ranks, collective, implementation, status)
        calls, instead = self.CALLS.fullmatch(rest), self.INSTEAD.fullmatch(rest)
        if calls:
            verdict.calls, verdict.refused = int(calls[1]), int(calls[2])
        elif status == NOT_HERE:
            verdict.why, verdict.instead = instead.groups() if instead else (rest, "")
        else:
            verdict.why, verdict.errors = rest, self.errors
        self.verdicts.append(verdict)
        self.trying, self.errors = None, []
        self.on_progress()

    def broke_off(self, code):
        """The job ended in the middle of a cell. Ranks may have said why."""
        collective, _, implementation = self.trying.partition("=")
        if not any("no end" in e or "stopped by" in e for e in self.errors):
            language = ", Fortran" if self.job.language == "Fortran" else ""
            self.errors.append(
                f"Error in CRESTA_{collective.capitalize()}: {implementation}{language}, "
                f"{counted(self.job.ranks, 'rank')}: no end within {self.job.timeout} s, or the job"
                f" broke off (exit code {code})"
            )
        self.verdict(WRONG, collective, implementation, "no end")


def explain(verdicts, said):
    """Reasons of what was refused while it ran."""
    reasons = {}
    for refusal in refusals(said):
        whole = "=" in refusal.asked or not refusal.collective
        reasons[refusal.asked if whole else f"{refusal.collective}={refusal.asked}"] = refusal.why
    for v in verdicts:
        model = re.split("[:?]", v.implementation)[0]
        keys = f"{v.collective}={v.implementation}", f"{v.collective}={model}", model
        reason = next((reasons[k] for k in keys if k in reasons), "")
        if (
            reason
            and (v.status == NOT_HERE or v.refused)
            and v.why in ("", "every call was refused")
        ):
            v.why = reason
