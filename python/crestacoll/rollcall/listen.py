# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll run` listens to the ranks of its job, and asks all of them when one is in a call for
too long, at a signal, or when `crestacoll hang` asks. A thread does it, which waits at a selector
and never calls the MPI.
"""

import contextlib
import errno
import fcntl
import os
import re
import resource
import secrets
import selectors
import signal
import socket
import struct
import sys
import threading
import time

import click

from crestacoll.rollcall import records, sockets, summary
from crestacoll.ui import Problem

ANSWER_S = 5  # for all ranks to answer one question
AGAIN_S = 2  # within which the same signal, that a launcher hands to all ranks, counts once
KILL_S = 10  # from the end that was asked for to the one that was not
ENDED = 123  # exit code of `crestacoll run` if CRESTA_WATCHDOG=...:end ended the job
LONGEST = 1 << 20  # bytes of a line that nobody ended
TOKEN_S = 10  # for one that has connected to say the job's token,
TOKEN_LONGEST = 4096  # in so many bytes
FULL_S = 1  # until the next try where no file descriptor was left
VALUE = re.compile(r"off|ask|([1-9][0-9]*)(:end)?")
SIGNALS = ("USR1", "USR2", "HUP", "QUIT", "WINCH", "PROF")


def settings(values):
    """(seconds, ends, number of the signal) of CRESTA_ variables; None if they ask for nothing. The
    ranks say what is wrong with a value.
    """
    watchdog = values.get("CRESTA_WATCHDOG") or "off"
    name = values.get("CRESTA_WATCHDOG_SIGNAL", "").removeprefix("SIG")
    found = VALUE.fullmatch(watchdog)
    number = getattr(signal, f"SIG{name}") if name in SIGNALS else None
    if found is None or (watchdog == "off" and number is None):
        return None
    return int(found[1] or 0), found[2] is not None, number


def addresses():
    """IPv4 addresses of the interfaces of this host that are up, those of the loopback last."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):
                request = struct.pack("256s", name.encode()[:15])
                found.append(socket.inet_ntoa(fcntl.ioctl(s, 0x8915, request)[20:24]))
    return sorted(found, key=lambda a: a.startswith("127."))


class Rank:
    """A connection: a rank of the job, or one that has not said yet who it is."""

    def __init__(self, connection):
        self.connection, self.text, self.known = connection, b"", False
        self.process = self.answer = None  # who it is; the lines of an answer under way
        self.said_bye = False
        self.since = time.monotonic()

    def send(self, line):
        with contextlib.suppress(OSError):
            self.connection.send(line)


class Watch:
    """What `crestacoll run` does about its job."""

    def __init__(self, seconds, ends, number, folder):
        self.seconds, self.ends, self.number = seconds, ends, number
        self.ended = False  # the job, by CRESTA_WATCHDOG
        self.token, self.child, self.thread = secrets.token_hex(16), None, None
        self.selector = selectors.DefaultSelector()
        self.ranks, self.gone, self.seen = [], [], set()
        self.question, self.waiting, self.deadline, self.why = 0, set(), None, ""
        self.pending = []
        self.callers, self.last, self.kill_at, self.by_watchdog = [], 0.0, None, False
        self.full, self.listeners = None, []
        self.wakes, self.wake = socket.socketpair()
        self.wakes.setblocking(False)
        self.file = folder / "hang"
        self.open()

    def open(self):
        name = f"crestacoll-{secrets.token_hex(8)}"
        ours = self.listener(socket.AF_UNIX, "\0" + name)
        lines = ["crestacoll-rollcall 1", f"token {self.token}", f"unix {name}"]
        tcp = self.listener(socket.AF_INET, ("", 0))
        port = tcp.getsockname()[1]
        lines += [f"tcp {address} {port}" for address in addresses()]
        self.listeners = [(ours, self.take), (tcp, self.take)]
        try:
            hang = self.listener(socket.AF_UNIX, sockets.of_run(os.getpid()))
            self.listeners.append((hang, self.take_caller))
        except Problem:  # another user has taken the name
            print("crestacoll: `crestacoll hang` cannot ask this job", file=sys.stderr)
        for listener, take in self.listeners:
            self.selector.register(listener, selectors.EVENT_READ, take)
        self.selector.register(self.wakes, selectors.EVENT_READ, self.woken)
        with open(os.open(self.file, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "w") as file:
            file.write("\n".join(lines) + "\n")

    @staticmethod
    def listener(kind, address):
        made = socket.socket(kind, socket.SOCK_STREAM)
        try:
            made.bind(address)
            made.listen(1024)
        except OSError as e:
            raise Problem(f"cannot listen to the ranks for CRESTA_WATCHDOG: {e.strerror}") from e
        made.setblocking(False)
        return made

    # --- called by the main thread ---------------------------------------------------------
    def started(self, child):
        """The job has: from now on its ranks may come."""
        self.child = child
        with contextlib.suppress(ValueError, OSError):  # each rank has a connection
            _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def signal(self, number):
        """Whether a signal to `crestacoll run` asks for a roll-call; then it is no matter of the
        job.
        """
        if number == self.number:
            self.wake.send(b"s")
        return number == self.number

    def close(self):
        """The job has ended."""
        self.wake.send(b"e")
        if self.thread is not None:
            self.thread.join()
        for listener, _ in self.listeners:
            listener.close()

    # --- the thread ------------------------------------------------------------------------
    def work(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self.running = True
        while self.running:
            times = [t for t in (self.deadline, self.kill_at, self.full) if t is not None]
            times += [rank.since + TOKEN_S for rank in self.ranks if not rank.known]
            pause = max(0, min(times) - time.monotonic()) if times else None
            for key, _ in self.selector.select(pause):
                key.data(key.fileobj)
            if self.deadline is not None and (
                not self.waiting or time.monotonic() >= self.deadline
            ):
                self.sum_up()
            if self.kill_at is not None and time.monotonic() >= self.kill_at:
                self.kill_at = None
                self.child.kill()
            self.drop_strangers()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()

    def drop_strangers(self):
        """Those that do not say the token; then there may be room for others."""
        now = time.monotonic()
        for rank in [r for r in self.ranks if not r.known and now >= r.since + TOKEN_S]:
            self.drop(rank)
        if self.full is not None and now >= self.full:
            self.full = None
            for listener, take in self.listeners:
                self.selector.register(listener, selectors.EVENT_READ, take)

    def accepted(self, listener):
        """The next connection; None if there is none. Where no descriptor is left, nobody is
        taken for a while: the listeners would be ready all the time.
        """
        try:
            return listener.accept()[0]
        except OSError as e:
            if e.errno in (errno.EMFILE, errno.ENFILE) and self.full is None:
                self.full = time.monotonic() + FULL_S
                for each, _ in self.listeners:
                    self.selector.unregister(each)
            return None

    def woken(self, connection):
        for byte in connection.recv(64):
            if byte == ord("e"):
                self.running = False
            elif self.deadline is None:
                self.ask("a signal asked for it")

    def take(self, listener):
        connection = self.accepted(listener)
        if connection is not None:
            connection.setblocking(False)
            rank = Rank(connection)
            self.selector.register(connection, selectors.EVENT_READ, lambda _: self.hear(rank))
            self.ranks.append(rank)

    def take_caller(self, listener):
        connection = self.accepted(listener)
        if connection is not None:
            if not sockets.is_ours(connection):
                connection.close()
                return
            self.callers.append(connection)
            if self.deadline is None:
                self.ask("")

    def drop(self, rank):
        self.selector.unregister(rank.connection)
        rank.connection.close()
        self.ranks.remove(rank)
        self.waiting.discard(rank)
        if rank.process is not None:
            rank.process.state = "finalized" if rank.said_bye else "ended"
            rank.process.threads = []
            self.gone.append(rank.process)

    def hear(self, rank):
        try:
            part = rank.connection.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        rank.text += part
        *lines, rank.text = rank.text.split(b"\n")
        good = all(self.line(rank, line.decode(errors="replace")) for line in lines)
        longest = LONGEST if rank.known else TOKEN_LONGEST
        if not part or not good or len(rank.text) > longest:
            self.drop(rank)

    def line(self, rank, line):
        """One line of a rank; False if it is none of this job."""
        head = line.split("\t", 1)[0]
        if not rank.known:
            rank.known = head == "crestacoll-rollcall" and secrets.compare_digest(
                records.fields(line).get("token", ""), self.token
            )
            return rank.known
        if rank.answer is not None:
            rank.answer.append(line)
            if head == "end":
                self.take_answer(rank)
        elif head == "process":
            rank.process = records.process(line)
        elif head == "told":
            current = records.fields(line).get("question") == str(self.question)
            rank.answer = [] if current and rank in self.waiting else None
        elif head == "bye":
            rank.said_bye = True
        elif head == "asked" and time.monotonic() > self.last + AGAIN_S and not self.deadline:
            self.ask(f"a signal asked rank {rank.process.rank if rank.process else '?'} for it")
        elif head == "hang":
            self.hear_hang(rank, records.fields(line))
        return True

    def hear_hang(self, rank, values):
        """What the last summary has told is not told again; what comes while ranks are asked, for
        somebody else, waits.
        """
        if self.deadline is not None:
            self.pending.append((rank, values))
            return
        version = records.number(values.get("version"))
        if (id(rank), version) not in self.seen and rank in self.ranks and rank.process:
            self.by_watchdog = True
            self.ask(
                f"rank {rank.process.rank} has been in one call for {values.get('seconds')} s"
            )

    def take_answer(self, rank):
        lines, rank.answer = rank.answer, None
        rank.process = records.answer("\n".join(lines)) or rank.process
        if self.why:
            self.seen.update((id(rank), t.version) for t in rank.process.threads)
        self.waiting.discard(rank)

    def ask(self, why):
        self.question += 1
        self.why, self.deadline = why, time.monotonic() + ANSWER_S
        if why:
            self.seen.clear()
        self.waiting = {rank for rank in self.ranks if rank.process is not None}
        for rank in self.waiting:
            rank.answer = None
            rank.send(f"tell {self.question}\n".encode())

    def sum_up(self):
        """All have answered, or will not."""
        processes = [rank.process for rank in self.ranks if rank.process is not None]
        for rank in self.ranks:
            if rank.process is not None:
                rank.process.state = "silent" if rank in self.waiting else "there"
        self.deadline, self.last = None, time.monotonic()
        told = [*processes, *self.gone]
        if self.why:  # otherwise crestacoll hang shows it
            self.report(told)
        self.answer_callers(told)
        if self.ends and self.by_watchdog:
            self.end_job()
        self.by_watchdog = False
        pending, self.pending = self.pending, []
        for rank, values in pending:
            self.hear_hang(rank, values)

    def report(self, processes):
        if processes:
            print(summary.text(processes, self.why), file=sys.stderr, flush=True)
        else:
            print("crestacoll: roll-call: no rank has come to MPI_Init yet", file=sys.stderr)

    def answer_callers(self, processes):
        text = "".join(f"state\t{p.state}\n{records.written(p)}" for p in processes)
        for caller in self.callers:
            caller.settimeout(ANSWER_S)
            with contextlib.suppress(OSError):
                caller.sendall(text.encode())
            caller.close()
        self.callers = []

    def end_job(self):
        print("crestacoll: ends the job, as CRESTA_WATCHDOG says", file=sys.stderr, flush=True)
        self.ended, self.kill_at = True, time.monotonic() + KILL_S
        self.child.terminate()


def options(command):
    """Adds --watchdog and --watchdog-signal to a sub-command."""
    signal_option = click.option(
        "--watchdog-signal",
        metavar="NAME",
        help="A signal to crestacoll run, or to a rank, that asks for it at once: USR1, USR2, ...",
    )
    limit_option = click.option(
        "--watchdog",
        metavar="SECONDS[:end]",
        help=(
            "When a rank has been in one call for so long, tell what each rank is in and who is"
            " the odd one out; with :end, end the job then. ask: only when asked, by"
            " `crestacoll hang` or --watchdog-signal."
        ),
    )
    return limit_option(signal_option(command))


def asked(watchdog, watchdog_signal):
    """The variables of the options --watchdog and --watchdog-signal."""
    if watchdog is not None and VALUE.fullmatch(watchdog) is None:
        raise Problem(
            f"--watchdog {watchdog}: expected a number of seconds, perhaps with :end, ask or off",
            exit_code=2,
        )
    if watchdog_signal is not None and watchdog_signal.removeprefix("SIG") not in SIGNALS:
        raise Problem(
            f"--watchdog-signal {watchdog_signal}: expected one of {', '.join(SIGNALS)}",
            exit_code=2,
        )
    values = {"CRESTA_WATCHDOG": watchdog, "CRESTA_WATCHDOG_SIGNAL": watchdog_signal}
    return {name: value for name, value in values.items() if value is not None}


@contextlib.contextmanager
def watching(values, folder):
    """Adds to CRESTA_ variables where to tell; the Watch, or None if nobody asks for it."""
    found = settings(values)
    if found is None:
        yield None
        return
    watch = Watch(*found, folder)
    values["CRESTA_WATCHDOG_AT"] = str(watch.file)
    try:
        yield watch
    finally:
        watch.close()
