# SPDX-License-Identifier: BSD-3-Clause
"""One run of the program: started, watched, and ended together with all that it started."""

import contextlib
import ctypes
import functools
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from crestacoll_tools.base.ui import NOT_FOUND, Problem
from crestacoll_tools.builds.installed import MISFIT
from crestacoll_tools.explore import given, hang
from crestacoll_tools.explore.leftovers import Leftovers
from crestacoll_tools.launch import lastwords
from crestacoll_tools.race import printed

OURS = ("CRESTA_IMPL", "CRESTA_TUNING", "CRESTA_PROFILE", "CRESTA_RACE", "CRESTA_LOADED")
PATIENCE = 10.0  # seconds that a launcher has to end its ranks
POLL = 0.1
MOST = 100  # runs of one kind
ABORT = re.compile(rb"MPI_ABORT was invoked|application called MPI_Abort|\bMPI_Abort\(")
SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl
LIBC = ctypes.CDLL(None)


class Interrupted(BaseException):
    """A signal asks us to end: what has been found is kept."""

    def __init__(self, number):
        super().__init__(f"signal {number}")
        self.number = number


@contextlib.contextmanager
def interruptible():
    """The first signal raises Interrupted; later ones do not disturb what it sets going."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(number, frame):
        for n in numbers:
            signal.signal(n, signal.SIG_IGN)
        raise Interrupted(number)

    old = {n: signal.signal(n, interrupt) for n in numbers}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


@dataclass(frozen=True)
class Ended:
    """How a run ended. `why`: "ended" by itself, "limit" of time, "hangs", or what the watch said.
    `hang`: of one that hangs, what its ranks were in.
    """

    code: int
    seconds: float
    why: str
    folder: Path
    hang: str = ""

    @property
    def failed(self):
        return self.why == "ended" and self.code != 0

    @property
    def loaded(self):
        try:
            said = (self.folder / "loaded").read_text(encoding="utf-8")
        except OSError:
            return False
        return said.strip() != MISFIT

    @property
    def aborted(self):
        return bool(ABORT.search(end_of(self.folder / "stderr")))

    def text(self, name):
        """The end of its standard output or error."""
        return end_of(self.folder / name).decode("utf-8", "backslashreplace")

    def said(self):
        """The program's own last lines, for a message, and where the others are."""
        return lastwords.of_run(self)

    def how(self):
        if self.code >= 128 and self.code - 128 in {int(s) for s in signal.Signals}:
            return f"was ended by {signal.Signals(self.code - 128).name}"
        return f"ended with exit code {self.code}"


def end_of(path, size=20000):
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - size))
            return file.read()
    except OSError:
        return b""


def environment():
    """What the user's shell has, without what explore itself decides."""
    return {k: v for k, v in os.environ.items() if k not in OURS}


def begins_follow_rules():
    """Whether the rules hold for calls that only begin a collective, too."""
    return os.environ.get("CRESTA_ASYNC") == "thread"


def settings_of(variables, folder):
    """The CRESTA_ variables of the ranks. Fallbacks are expected here, and not reported."""
    users = {k: v for k, v in environment().items() if k.startswith("CRESTA_")}
    return {"CRESTA_FALLBACK": "silent"} | users | variables | {
        "CRESTA_LOADED": str(folder / "loaded")
    }


def prepare_child():
    """In the child: no signal is held back, and it ends with us, even if we are killed."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    LIBC.prctl(SET_DEATH_SIGNAL, signal.SIGTERM)


def plain_run(job, variables, folder, limit, watch=lambda seconds: None, stdin=None):
    """As `run`; a run that may not end within the limit is asked before whether it hangs."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    with hang.listening(Path(folder), job.addresses()) as listener:
        more = listener.settings if listener is not None else {}
        return run(job, variables | more, folder, limit, watch, stdin, listener)


def run(job, variables, folder, limit, watch=lambda seconds: None, stdin=None, listener=None):
    """Runs the program; its output goes to files in `folder`. `watch` gets the seconds since the
    start, again and again; if it returns a word, the program is ended for that reason. `stdin`:
    the Input of all runs.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    settings = settings_of(variables, folder)
    words, more = job.with_settings(settings)
    stdin = stdin or given.Input(folder)
    begin = time.monotonic()
    with (
        stdin.for_run() as source,
        open(folder / "stdout", "wb") as out,
        open(folder / "stderr", "wb") as err,
    ):
        child = start(words, environment() | more, source, out, err)
        left = Leftovers(child.pid, f"CRESTA_LOADED={settings['CRESTA_LOADED']}")
        why, over, hung = "limit", False, None
        asks_at = limit / (1 + hang.SHARE)
        if listener is not None:
            listener.started(child)
        try:
            while not over and time.monotonic() - begin < limit:
                over = wait(child, POLL)
                left.look_sometimes(time.monotonic() - begin)
                said = watch(time.monotonic() - begin) or ("input" if stdin.too_large else None)
                if said and not over:
                    why = said
                    break
                if listener and hung is None and not over and time.monotonic() - begin > asks_at:
                    hung = hang.find(listener, asks_at, functools.partial(wait, child))
                    over = child.poll() is not None
                    if hung and not over:
                        break
        finally:
            if not over:
                left.look()
                end(child)
            if not over or child.returncode != 0:
                left.remove()
    stdin.need_room()
    code = child.returncode if child.returncode >= 0 else 128 - child.returncode
    why = "ended" if over else "hangs" if hung else why
    return Ended(code, time.monotonic() - begin, why, folder, hung or "")


def start(words, variables, source, out, err):
    try:
        return subprocess.Popen(
            words,
            env=variables,
            stdin=source,
            stdout=out,
            stderr=err,
            start_new_session=True,  # Ctrl-C is ours alone: we end the program in its own time
            preexec_fn=prepare_child,
        )
    except OSError as e:
        raise Problem(f"{words[0]}: {e.strerror}", NOT_FOUND) from e


def wait(child, seconds):
    """True if the child has ended."""
    try:
        child.wait(timeout=seconds)
        return True
    except subprocess.TimeoutExpired:
        return False


def end(child):
    """As a user would: the launcher is told to end, and ends its ranks. Then by force."""
    child.terminate()
    if not wait(child, PATIENCE):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def says(compare, first, second):
    """Whether two outputs are the same, as the user's command says."""
    try:
        done = subprocess.run([*compare, str(first), str(second)], stdout=2, check=False)
    except OSError as e:
        raise Problem(f"--compare: {compare[0]}: {e.strerror}", NOT_FOUND) from e
    return done.returncode == 0


def text_of(path):
    return Path(path).read_text(encoding="utf-8", errors="backslashreplace")


def answers(plains, tuned, compare=None):
    """What is said of a whole run under rules: whether it printed what plain runs did; all names of
    files.
    """
    found = {"plain": str(plains[0]), "tuned": str(tuned), "by": compare, "plain_runs": len(plains)}
    found["prints"] = plains[0].stat().st_size > 0
    if compare is not None:
        same = says(compare, plains[0], tuned)
        return found | {"same": same, "ok": same}
    if plains[0].read_bytes() == Path(tuned).read_bytes():
        return found | {"same": True, "bytes": True, "ok": True}
    told = printed.compare([text_of(p) for p in plains], text_of(tuned))
    found |= {"words": told.words, "left_out": told.left_out, "difference": told.difference}
    return found | {"same": not told.difference, "bytes": False, "ok": True}
