# SPDX-License-Identifier: BSD-3-Clause
"""How the processes of a job ended, as far as this host's system tells: by which signal or exit
code.
"""

import contextlib
import fcntl
import os
import re
import signal
import socket
import struct
from dataclasses import asdict, dataclass, field
from pathlib import Path

# PIDFD_GET_INFO of linux/pidfd.h, from Linux 6.13 on: mask, id of the control group, 11 numbers of
# the process and its owner, and from 6.15 on the status as wait(2) has it, when it has been waited
# for.
GET_INFO, INFO, EXIT = 0xC040FF0B, struct.Struct("=QQ11Ii"), 1 << 3
# What a process comes to by itself; the others are sent.
OWN = ("ABRT", "BUS", "FPE", "ILL", "PIPE", "SEGV", "SYS", "TRAP", "XCPU", "XFSZ")
STOPPED = (124, 129, 130, 143)  # exit codes of launchers, and of timeout, that were told to stop


@dataclass
class End:
    """How a process ended. `order` is the same for those of which the system told at once."""

    order: int
    status: int | None  # as of wait(2); None: the system does not tell

    @property
    def signal(self):
        """'SIGSEGV'; None if it was none, or is not known."""
        if self.status is None or not os.WIFSIGNALED(self.status):
            return None
        number = os.WTERMSIG(self.status)
        with contextlib.suppress(ValueError):
            return signal.Signals(number).name
        return f"signal {number}"

    @property
    def exit_code(self):
        """None if a signal ended it, or if that is not known."""
        exited = self.status is not None and os.WIFEXITED(self.status)
        return os.WEXITSTATUS(self.status) if exited else None

    @property
    def is_own(self):
        """Whether it is known that the process ended by itself."""
        return self.exit_code is not None or self.signal in [f"SIG{name}" for name in OWN]

    @property
    def how(self):
        """'killed by SIGSEGV', 'exit code 3'; '' if it is not known."""
        if self.signal:
            return f"killed by {self.signal}"
        return "" if self.exit_code is None else f"exit code {self.exit_code}"


@dataclass
class Ends:
    """What was seen: {pid: End}; how many processes of this host the system ended meanwhile for
    lack of memory; whether the job was told to stop.
    """

    found: dict = field(default_factory=dict)
    for_memory: int = 0
    stopped: bool = False
    host: str = field(default_factory=socket.gethostname)

    def as_dict(self):
        return {
            "found": {str(pid): asdict(end) for pid, end in self.found.items()},
            "for_memory": self.for_memory,
            "stopped": self.stopped,
            "host": self.host,
        }

    @classmethod
    def of_dict(cls, told):
        found = {int(pid): End(**end) for pid, end in told["found"].items()}
        return cls(found, told["for_memory"], told["stopped"], told["host"])


def status(descriptor):
    """That of a process that has been waited for; None if the system does not tell."""
    info = bytearray(INFO.pack(EXIT, *[0] * 13))
    with contextlib.suppress(OSError):
        fcntl.ioctl(descriptor, GET_INFO, info)
        mask, *_, found = INFO.unpack(info)
        return found if mask & EXIT else None
    return None


def killed_for_memory():
    """How many processes of this host the kernel has ended for lack of memory since it started;
    None if it does not tell.
    """
    with contextlib.suppress(OSError):
        told = re.search(r"^oom_kill (\d+)$", Path("/proc/vmstat").read_text(), re.MULTILINE)
        return int(told[1]) if told else None
    return None
