# SPDX-License-Identifier: BSD-3-Clause
"""Standard input of runs of one program, which all get the same: a file is read from its beginning
each time. What comes by a pipe comes once: the first run gets it as it comes, as if crestacoll were
not there, and the others what that one was given, which is kept in a file.
"""

import contextlib
import os
import select
import stat
import subprocess
import threading

from crestacoll_tools.base.ui import Problem

MOST = 256 << 20  # bytes that are kept
FILE = "input"
PART = 1 << 16


class Input:
    """`folder`: where to keep what comes by a pipe."""

    def __init__(self, folder):
        self.file = folder / FILE
        self.too_large = False

    @contextlib.contextmanager
    def for_run(self):
        """What to start a run with."""
        mode = kind()
        if self.file.exists():
            with open(self.file, "rb") as file:
                yield file
        elif stat.S_ISREG(mode):
            os.lseek(0, 0, os.SEEK_SET)
            yield 0
        elif stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            with self.copied() as reader:
                yield reader
        else:  # a terminal serves one run only
            yield subprocess.DEVNULL

    @contextlib.contextmanager
    def copied(self):
        """A pipe that gets what comes, for as long as the run lasts. A thread reads, since nobody
        knows when more comes, or whether the run takes it.
        """
        reader, writer = os.pipe()
        stop, told = os.pipe()
        os.set_blocking(writer, False)
        part = self.file.with_suffix(".part")
        thread = threading.Thread(target=self.copy, args=(part, writer, stop), daemon=True)
        thread.start()
        try:
            yield reader
        finally:
            os.write(told, b"e")
            thread.join()
            for end in (reader, stop, told):
                os.close(end)
            if part.exists():
                os.replace(part, self.file)

    def copy(self, part, writer, stop):
        size = 0
        try:
            with open(part, "wb") as kept:
                while data := read(stop):
                    size += len(data)
                    self.too_large = size > MOST
                    if self.too_large:
                        return
                    kept.write(data)
                    if not write(writer, data, stop):
                        return
        finally:
            os.close(writer)

    def need_room(self):
        """Later runs would get less than the first."""
        if self.too_large:
            self.file.unlink(missing_ok=True)
            raise Problem(
                f"standard input came by a pipe, and has more than {MOST >> 20} MiB. The program"
                " runs several times, and each run needs all of it: put it into a file (< FILE)"
            )


def kind():
    try:
        return os.fstat(0).st_mode
    except OSError:
        return 0


def read(stop):
    """What comes next; nothing at the end, of the input or of the run."""
    ready, _, _ = select.select([0, stop], [], [])
    try:
        return b"" if stop in ready else os.read(0, PART)
    except OSError:
        return b""


def write(writer, data, stop):
    """False if the run ended before it took all."""
    while data:
        stopped, ready, _ = select.select([stop], [writer], [])
        if stopped:
            return False
        if ready:
            data = data[os.write(writer, data) :]
    return True
