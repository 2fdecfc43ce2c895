# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll run` looks now and then at the black boxes of its job, and says once where the ranks
are if none comes out of a call any more.
"""

import contextlib
import sys
import threading
import time
from pathlib import Path

from crestacoll_tools.autopsy import box, jobs

LIMIT_S = 600  # in which no process of this host has come out of a call
LOOKS = 20  # in that time


class Still:
    """A watch for supervise.run, of a job whose black boxes are in `folder`."""

    number, ended = None, False

    def __init__(self, folder):
        self.folder, self.over = folder, threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def started(self, child):
        self.thread.start()

    def signal(self, number):
        return False

    def close(self):
        self.over.set()
        if self.thread.is_alive():
            self.thread.join()

    def work(self):
        step = LIMIT_S / LOOKS
        seen, since = None, time.monotonic()
        last = since
        while not self.over.wait(step):
            now, found = time.monotonic(), progress(self.folder)
            waits = any(is_inside for _, is_inside in found.values())
            stopped = now - last > 3 * step  # this process was; so was the job, perhaps
            if found != seen or not waits or stopped:
                seen, since = found, now
            elif now - since >= LIMIT_S:
                self.say(now - since)
                return
            last = now

    def say(self, span):
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
def watching(watch, settings):
    """The watch of a job: that of a roll-call if there is one, or else, where its processes have
    black boxes, a Still.
    """
    if watch is not None or "CRESTA_BLACKBOX" not in settings:
        yield watch
        return
    made = Still(Path(settings["CRESTA_BLACKBOX"]))
    try:
        yield made
    finally:
        made.close()
