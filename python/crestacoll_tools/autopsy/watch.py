# SPDX-License-Identifier: BSD-3-Clause
"""What `crestacoll run` sees of a job whose processes have black boxes on this host: in which order
they end, and by what; and, while the job goes on, that none comes out of a call any more.
"""

import contextlib
import os
import select
import sys
import threading
import time
from pathlib import Path

from crestacoll_tools.autopsy import box, ends, jobs

LIMIT_S = 600  # in which no process of this host has come out of a call
LOOKS = 20  # in that time
SOON_S, SOON_STEP_S, STEP_S = 10, 0.02, 1  # how often it looks for processes, at first and later


class Watch:
    """A thread beside the job, which `thread.start` starts when the job has started. `says_still`:
    whether it tells that no process goes on.
    """

    def __init__(self, folder, says_still):
        self.folder, self.says_still = folder, says_still
        self.begin = time.monotonic()
        self.known, self.open, self.ended = set(), {}, []
        self.seen = None
        self.newest = self.begin  # when a process was found
        self.progress, self.last_look = None, self.begin
        self.since = self.begin  # the last time that a call ended, or that it did not look
        self.poller, (self.wakes, self.wake) = select.poll(), os.pipe()
        self.poller.register(self.wakes, select.POLLIN)
        self.killed_for_memory = ends.killed_for_memory()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def close(self):
        """After the job: `seen` is an ends.Ends."""
        os.write(self.wake, b".")
        if self.thread.ident is not None:
            self.thread.join()
        before, after = self.killed_for_memory, ends.killed_for_memory()
        found = {
            pid: ends.End(order, at, ends.status(self.open[pid]))
            for order, at, pids in self.ended
            for pid in pids
        }
        for descriptor in (self.wakes, self.wake, *self.open.values()):
            os.close(descriptor)
        self.seen = ends.Ends(found, after - before if before is not None else 0)

    def work(self):
        look = still = self.begin
        while True:
            now = time.monotonic()
            if now >= look:
                self.look_for_processes()
                look = now + (SOON_STEP_S if now < self.newest + SOON_S else STEP_S)
            if self.says_still and now >= still:
                self.look_whether_still(now)
                still = now + LIMIT_S / LOOKS
            left = min(look, still if self.says_still else look) - time.monotonic()
            ready = {descriptor for descriptor, _ in self.poller.poll(1000 * max(left, 0))}
            if ready - {self.wakes}:
                self.note_ends(ready)
            if self.wakes in ready:
                return

    def look_for_processes(self):
        for name in jobs.names(self.folder):
            pid = jobs.process_of(name)
            if pid and pid not in self.known:
                self.known.add(pid)
                self.newest = time.monotonic()
                with contextlib.suppress(OSError, AttributeError):  # it has gone; an old system
                    self.open[pid] = os.pidfd_open(pid)
                    self.poller.register(self.open[pid], select.POLLIN)

    def note_ends(self, ready):
        """Those that the system tells of at once have no order."""
        pids = [pid for pid, descriptor in self.open.items() if descriptor in ready]
        self.ended.append((len(self.ended), time.monotonic(), pids))
        for pid in pids:
            self.poller.unregister(self.open[pid])

    def look_whether_still(self, now):
        found = progress(self.folder)
        waits = any(is_inside for _, is_inside in found.values())
        was_stopped = now - self.last_look > 3 * LIMIT_S / LOOKS  # the job, too, perhaps
        self.last_look = now
        if found != self.progress or not waits or was_stopped:
            self.progress, self.since = found, now
        elif now - self.since >= LIMIT_S:
            self.says_still = False
            self.say_still(now - self.since)

    def say_still(self, span):
        from crestacoll_tools.autopsy import text  # takes long to load

        try:
            job = jobs.read(self.folder)
            if job is not None and not any(b.ahead for b in job.boxes):  # all calls are seen
                print("\n".join(text.still(job, span)), file=sys.stderr, flush=True)
        except Exception as e:  # noqa: BLE001 - the job goes on, whatever it is
            print(f"crestacoll: cannot say where the ranks are: {e}", file=sys.stderr)


def progress(folder):
    """{name of a file: (calls that have ended, whether a thread is in one)} of this host."""
    found = {}
    for path in jobs.files(folder):
        if jobs.process_of(path.name):
            with contextlib.suppress(OSError, ValueError):  # it ends, or has just begun
                found[path.name] = box.progress(path)
    return found


@contextlib.contextmanager
def of(settings, says_still):
    """The Watch of a job with these settings; None if it has no black boxes. Its `seen` is there at
    the end.
    """
    if "CRESTA_BLACKBOX" not in settings:
        yield None
        return
    made = Watch(Path(settings["CRESTA_BLACKBOX"]), says_still)
    try:
        yield made
    finally:
        made.close()
