# SPDX-License-Identifier: BSD-3-Clause
"""Whether a run that has used up its time hangs: its ranks are asked which calls they are in, and
asked again, until one has gone on or some time has passed.
"""

import contextlib
import resource
import threading
import time

from crestacoll_tools.base.ui import Problem
from crestacoll_tools.rollcall import listen, summary, verdict

LEAST = 2.0  # seconds without any progress
SHARE = 0.5  # of the time that the run had
PAUSE = 0.5  # between two roll-calls


class Listener(listen.Watch):
    """Asks the ranks of one run, when told to, and prints nothing."""

    def __init__(self, folder, addresses=()):
        super().__init__(0, False, None, folder, addresses)
        self.summed_up, self.answers = threading.Event(), []
        self.files = resource.getrlimit(resource.RLIMIT_NOFILE)

    @property
    def settings(self):
        return {"CRESTA_WATCHDOG": "ask", "CRESTA_WATCHDOG_AT": str(self.file)}

    def close(self):
        """The next run has the limits that this one had."""
        super().close()
        resource.setrlimit(resource.RLIMIT_NOFILE, self.files)

    def report(self, processes):
        self.answers = processes
        self.summed_up.set()

    def ask_all(self):
        """What all processes are in; [] if none answered."""
        self.summed_up.clear()
        self.wake.send(b"s")
        self.summed_up.wait(2 * listen.ANSWER_S)
        return summary.with_missing(self.answers) if self.summed_up.is_set() else []


@contextlib.contextmanager
def listening(folder, addresses=()):
    """A Listener for a run whose files are in `folder`; None where nothing can listen."""
    try:
        made = Listener(folder, addresses)
    except (OSError, Problem):
        yield None
        return
    try:
        yield made
    finally:
        made.close()
        made.file.unlink(missing_ok=True)  # it has a token, which is of no use any more


def places(processes):
    """Where each process is in its calls: as long as all are there, none goes on."""
    return [
        (p.rank, p.pid, p.state, [(t.version, t.round) for t in p.threads]) for p in processes
    ]


def looks_hung(processes):
    """Whether a process is in a call for which it may wait."""
    return any(verdict.where(p) is not None for p in processes)


def said(processes, seconds):
    """The verdict of a roll-call in which nobody went on for so long."""
    found = verdict.verdict(processes)
    computes = any(p.state == "there" and verdict.where(p) is None for p in processes)
    longer = "if it only needs longer, give it a larger --budget" if computes else ""
    told = f"no rank began or ended a call in its last {seconds:.0f} s"
    more = (text[:1].upper() + text[1:] for text in (found.sentence, found.hint, longer) if text)
    return ". ".join((told, *more))


def find(listener, had, has_ended):
    """What is to be said of a run that hangs after `had` seconds; "" if it goes on, or has ended.
    It is asked for some time; a run that goes on is known at once.
    """
    first, begin = listener.ask_all(), time.monotonic()
    if not first or not looks_hung(first):
        return ""
    patience = max(LEAST, SHARE * had)
    while not has_ended(PAUSE):
        now = listener.ask_all()
        if places(now) != places(first):
            return ""
        if time.monotonic() - begin >= patience:
            return said(now, time.monotonic() - begin)
    return ""
