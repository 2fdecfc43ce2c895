# SPDX-License-Identifier: BSD-3-Clause
"""What a run may leave on this host when it is ended: processes that outlive their launcher, and
files of shared memory, which an MPI removes only if its ranks end by themselves.
"""

import contextlib
import os
import re
import signal
import time

SHARED = re.compile(rb"(/dev/shm/[^\n]*)$", re.MULTILINE)
GONE = b" (deleted)"


class Leftovers:
    """Processes that a run leaves behind: those of its launcher's session, and those that have
    `marker` in their environment, which names the folder of the run.
    """

    def __init__(self, session, marker):
        self.session, self.marker = session, os.fsencode(marker)
        self.files, self.next_look = set(), 0.5

    def look_sometimes(self, seconds):
        """For a program that crashes; less and less often."""
        if seconds > self.next_look:
            self.next_look *= 2
            self.look()

    def look(self):
        """Notes the files of shared memory of all processes of the run."""
        for pid in processes():
            if self.has(pid):
                self.files |= shared_files(pid)

    def has(self, pid):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                state, _, _, session = file.read().rpartition(b")")[2].split()[:4]
            if state == b"Z":
                return False
            if int(session) == self.session:
                return True
            with open(f"/proc/{pid}/environ", "rb") as file:
                return self.marker in file.read().split(b"\0")
        except (OSError, ValueError):
            return False

    def remove(self):
        """Ends the processes and removes the files that nobody else uses."""
        for _ in range(20):
            alive = [pid for pid in processes() if self.has(pid)]
            for pid in alive:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if not alive:
                break
            time.sleep(0.05)
        there = {name for name in self.files if os.path.exists(name)}
        for pid in processes() if there else ():
            there -= shared_files(pid)
        for name in there:
            with contextlib.suppress(OSError):
                os.unlink(name)


def processes():
    """All but this one."""
    found = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in found if pid != os.getpid()]


def shared_files(pid):
    """Files in /dev/shm that a process has mapped."""
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            names = SHARED.findall(file.read())
    except OSError:
        return set()
    return {name for name in names if not name.endswith(GONE)}
