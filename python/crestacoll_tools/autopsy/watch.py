# SPDX-License-Identifier: BSD-3-Clause
"""What `crestacoll run` sees of a job whose processes have black boxes on this host: by what they
end; and, while the job goes on, that none comes out of a call any more.
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
PATIENCE_S = 1  # with the thread, at the end of the job


class Watch:
    """A thread beside the job. `says_still`: whether it tells that no process goes on; `seen`, at
    the end: an Ends.
    """

    def __init__(self, folder, says_still):
        self.folder, self.says_still = folder, says_still
        self.begin = time.monotonic()
        self.known, self.open, self.ended = set(), {}, []
        self.newest = self.begin  # when a process was found
        self.progress, self.last_look = None, self.begin
        self.since = self.begin  # the last time that a call ended, or that it did not look
        self.poller, (self.wakes, self.wake) = select.poll(), os.pipe()
        self.poller.register(self.wakes, select.POLLIN)
        self.killed_for_memory = ends.killed_for_memory()
        self.seen = ends.Ends()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def started(self):
        """The job has. Where no thread can be, nothing is seen."""
        with contextlib.suppress(RuntimeError):
            self.thread.start()

    def stopped(self):
        """Somebody has sent the job a signal."""
        self.seen.stopped = True

    def close(self):
        """After the job."""
        os.write(self.wake, b".")
        if self.thread.ident is not None:
            self.thread.join(PATIENCE_S)
        if self.thread.is_alive():  # it still says where the ranks were
            return
        before, after = self.killed_for_memory, ends.killed_for_memory()
        self.seen.for_memory = after - before if None not in (before, after) else 0
        for order, pids in enumerate(self.ended):
            for pid in pids:
                self.seen.found[pid] = ends.End(order, ends.status(self.open[pid]))
        for descriptor in (self.wakes, self.wake, *self.open.values()):
            os.close(descriptor)

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
        pids = [pid for pid, descriptor in self.open.items() if descriptor in ready]
        self.ended.append(pids)
        for pid in pids:
            self.poller.unregister(self.open[pid])

    def look_whether_still(self, now):
        found = self.progress_now()
        waits = any(is_inside for _, is_inside in found.values())
        was_stopped = now - self.last_look > 3 * LIMIT_S / LOOKS  # the job, too, perhaps
        self.last_look = now
        if found != self.progress or not waits or was_stopped:
            self.progress, self.since = found, now
        elif now - self.since >= LIMIT_S:
            self.says_still = False
            self.say_still(now - self.since)

    def lives(self, pid):
        gone = any(pid in pids for pids in self.ended)
        return not gone and Path(f"/proc/{pid}").exists()

    def progress_now(self):
        """{process: (calls that have ended, whether a thread is in one)}"""
        found = {}
        for path in jobs.files(self.folder):
            pid = jobs.process_of(path.name)
            if pid and self.lives(pid):
                with contextlib.suppress(OSError, ValueError):  # it ends, or has just begun
                    found[pid] = box.progress(path)
        return found

    def say_still(self, span):
        """Where the processes of this host are, if all of their calls are seen."""
        from crestacoll_tools.autopsy import text  # takes long to load

        try:
            job = jobs.read(self.folder)
            here = [b for b in job.boxes if b.host == self.seen.host and self.lives(b.pid)]
            if all(b.thread and not b.ahead for b in here):
                job.boxes = here
                print("\n".join(text.still(job, span)), file=sys.stderr, flush=True)
        except Exception as e:  # noqa: BLE001 - the job goes on, whatever it is
            print(f"crestacoll: cannot say where the ranks are: {e}", file=sys.stderr)


@contextlib.contextmanager
def of(settings, says_still):
    """The Watch of a job that runs with these settings; None if `run` has named no folder for its
    black boxes.
    """
    folder, made = Path(settings.get("CRESTA_BLACKBOX", "")), None
    if folder.parent == jobs.root():
        with contextlib.suppress(OSError):  # no descriptor is left
            made = Watch(folder, says_still)
    try:
        yield made
    finally:
        if made is not None:
            made.close()
