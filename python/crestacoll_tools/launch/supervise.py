# SPDX-License-Identifier: BSD-3-Clause
"""Runs the user's command as if crestacoll were not there: same terminal, signals handed on, exit
code kept.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from crestacoll_tools.base.ui import NOT_FOUND, Problem

HANDED_ON = {
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
}
# si_code SI_KERNEL: the terminal sent it, to the whole process group, so the command has it.
FROM_KERNEL = 128


@contextlib.contextmanager
def scratch_folder():
    """A folder that the ranks see, also on other hosts: here if possible, because here is where
    the program runs.
    """
    for parent in (os.getcwd(), tempfile.gettempdir()):
        try:
            folder = tempfile.mkdtemp(prefix=".crestacoll-", dir=parent)
            break
        except OSError:
            continue
    else:
        raise Problem("cannot write to this folder nor to " + tempfile.gettempdir())
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def start(words, environment):
    try:
        return subprocess.Popen(
            words,
            env=environment,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, []),
        )
    except OSError as e:
        raise Problem(f"{words[0]}: {e.strerror}", NOT_FOUND) from e


def run(words, environment, watch=None, beside=None):
    """Exit code of the command; 128+n if a signal ended it. A watch (rollcall/listen.py) hears of
    its start, and may take signals; what is `beside` (autopsy/watch.py) hears of the start, and of
    signals to the command.
    """
    waited_for = HANDED_ON | {signal.SIGCHLD}
    if watch is not None and watch.number is not None:
        waited_for |= {watch.number}
    old = signal.pthread_sigmask(signal.SIG_BLOCK, waited_for)
    try:
        child = start(words, environment)
        if watch is not None:
            watch.started(child)
        if beside is not None:
            beside.started()
        while child.poll() is None:
            info = signal.sigwaitinfo(waited_for)
            if info.si_signo == signal.SIGCHLD or child.poll() is not None:
                continue
            has_it = info.si_code == FROM_KERNEL
            if not has_it and watch is not None and watch.signal(info.si_signo):
                continue
            if beside is not None:
                beside.stopped()
            if not has_it:
                child.send_signal(info.si_signo)
        if beside is not None and child.returncode < 0:
            beside.stopped()
        return child.returncode if child.returncode >= 0 else 128 - child.returncode
    finally:
        while signal.sigtimedwait(waited_for, 0):  # a second Ctrl-C that came too late
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
