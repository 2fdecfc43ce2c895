# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll run` listens to the ranks of its job, and asks all of them when one is in a call for
too long, at a signal, or when `crestacoll hang` asks. A thread does it, which waits at a selector
and never calls the MPI.
"""

import contextlib
import errno
import os
import re
import resource
import selectors
import signal
import socket
import sys
import threading
import time

import click

from crestacoll_tools.base.ui import Problem
from crestacoll_tools.rollcall import proof, records, sockets, summary

ANSWER_S = 5  # for all ranks to answer one question
AGAIN_S = 2  # within which the same signal, that a launcher hands to all ranks, counts once
KILL_S = 10  # from the end that was asked for to the one that was not
ENDED = 123  # exit code of `crestacoll run` if CRESTA_WATCHDOG=...:end ended the job
LONGEST = 1 << 20  # bytes of a line that nobody ended
PROOF_S = 10  # for a peer on TCP to prove that it knows the job's token,
PROOF_LONGEST = 4096  # in so many bytes
STRANGERS = 128  # that have not proved it, at most; where there are so many,
CROWDED_S = 1  # each has only so long
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


class Rank:
    """A connection to a rank of the job, or, as long as there is a challenge, to a stranger on TCP,
    who has not proved that it knows the token.
    """

    def __init__(self, connection, challenge=None):
        self.connection, self.text, self.challenge = connection, b"", challenge
        self.process = self.answer = None  # who it is; the lines of an answer under way
        self.said_bye = False
        self.since = time.monotonic()

    def send(self, line):
        with contextlib.suppress(OSError):
            self.connection.send(line)


class Watch:
    """What `crestacoll run` does about its job."""

    def __init__(self, seconds, ends, number, folder, addresses=()):
        """addresses: of this host, at which ranks of other hosts come."""
        self.seconds, self.ends, self.number = seconds, ends, number
        self.ended = False  # the job, by CRESTA_WATCHDOG
        self.token, self.child, self.thread = os.urandom(16).hex(), None, None
        self.selector = selectors.DefaultSelector()
        self.ranks, self.strangers, self.gone, self.seen = [], [], [], set()
        self.question, self.waiting, self.deadline, self.why = 0, set(), None, ""
        self.pending = []
        self.callers, self.last, self.kill_at, self.by_watchdog = [], 0.0, None, False
        self.full, self.listeners = None, []
        self.wakes, self.wake = socket.socketpair()
        self.wakes.setblocking(False)
        self.file = folder / "hang"
        self.open(addresses)

    def open(self, addresses):
        name = f"crestacoll-{os.urandom(8).hex()}"
        self.listeners = [
            (self.listener(socket.AF_UNIX, "\0" + name), self.take),
            (self.listener(socket.AF_UNIX, sockets.name_of_run()), self.take_caller),
        ]
        lines = ["crestacoll-rollcall 1", f"token {self.token}", f"unix {name}"]
        for address in addresses:
            tcp = self.listener(socket.AF_INET, (address, 0))
            self.listeners.append((tcp, self.take_stranger))
            lines.append(f"tcp {address} {tcp.getsockname()[1]}")
        self.listen()
        self.selector.register(self.wakes, selectors.EVENT_READ, self.woken)
        with open(os.open(self.file, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "w") as file:
            file.write("\n".join(lines) + "\n")

    def listen(self):
        """Takes connections, but where no descriptor is left nobody, and where there are many
        strangers no more of them: a listener that is not heard would be ready all the time.
        """
        heard = self.selector.get_map()
        for listener, take in self.listeners:
            crowded = take == self.take_stranger and len(self.strangers) >= STRANGERS
            wanted = self.full is None and not crowded
            if wanted and listener not in heard:
                self.selector.register(listener, selectors.EVENT_READ, take)
            elif not wanted and listener in heard:
                self.selector.unregister(listener)

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
            times += [self.leaves_at(rank) for rank in self.strangers[:1]]
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

    def leaves_at(self, stranger):
        return stranger.since + (CROWDED_S if len(self.strangers) >= STRANGERS else PROOF_S)

    def drop_strangers(self):
        """The oldest, where they prove nothing in time; then there may be room for others."""
        now = time.monotonic()
        while self.strangers and now >= self.leaves_at(self.strangers[0]):
            self.drop(self.strangers[0])
        if self.full is not None and now >= self.full:
            self.full = None
        self.listen()

    def accepted(self, listener):
        """The next connection; None if there is none, or no descriptor for it."""
        try:
            return listener.accept()[0]
        except OSError as e:
            if e.errno in (errno.EMFILE, errno.ENFILE):
                self.full = time.monotonic() + FULL_S
            return None

    def woken(self, connection):
        for byte in connection.recv(64):
            if byte == ord("e"):
                self.running = False
            elif self.deadline is None:
                self.ask("a signal asked for it")

    def own(self, listener):
        """The next connection to a Unix socket, if it is of this user."""
        connection = self.accepted(listener)
        if connection is not None and not sockets.is_ours(connection):
            connection.close()
            return None
        return connection

    def take(self, listener):
        connection = self.own(listener)
        if connection is not None:
            self.ranks.append(self.heard(Rank(connection)))

    def take_stranger(self, listener):
        connection = self.accepted(listener)
        if connection is not None:
            rank = self.heard(Rank(connection, proof.nonce()))
            self.strangers.append(rank)
            rank.send(f"challenge\t{rank.challenge}\n".encode())

    def heard(self, rank):
        rank.connection.setblocking(False)
        self.selector.register(rank.connection, selectors.EVENT_READ, lambda _: self.hear(rank))
        return rank

    def take_caller(self, listener):
        connection = self.own(listener)
        if connection is not None:
            self.callers.append(connection)
            if self.deadline is None:
                self.ask("")

    def drop(self, rank):
        self.selector.unregister(rank.connection)
        rank.connection.close()
        (self.ranks if rank.challenge is None else self.strangers).remove(rank)
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
        longest = LONGEST if rank.challenge is None else PROOF_LONGEST
        if not part or not good or len(rank.text) > longest:
            self.drop(rank)

    def line(self, rank, line):
        """One line of a rank; False if it is none of this job."""
        head = line.split("\t", 1)[0]
        if rank.challenge is not None:
            return head == "proof" and self.knows_token(rank, records.fields(line))
        if rank.answer is not None:
            rank.answer.append(line)
            if head == "end":
                self.take_answer(rank)
        elif head == "process":
            rank.process = records.process(line)
            if self.deadline is not None:  # it has come after the question
                self.put_question(rank)
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

    def knows_token(self, rank, values):
        """Whether a stranger does; then it is a rank, to which we prove the same."""
        nonces = rank.challenge, values.get("nonce", "")
        if not proof.is_proof(values.get("proof", ""), self.token, "rank", *nonces):
            return False
        self.strangers.remove(rank)
        self.ranks.append(rank)
        rank.challenge = None
        rank.send(f"proof\t{proof.proof(self.token, 'run', *nonces)}\n".encode())
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
        self.waiting = set()
        for rank in self.ranks:
            if rank.process is not None:
                self.put_question(rank)

    def put_question(self, rank):
        self.waiting.add(rank)
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
        help="Signal to crestacoll run, or to a rank, that asks for this report at once: USR1, ...",
    )
    limit_option = click.option(
        "--watchdog",
        metavar="SECONDS[:end]",
        help=(
            "When a rank has been in one call for so long, report the call of each rank, and which"
            " rank is the odd one out; with :end, then end the job. ask: report only when asked,"
            " by `crestacoll hang` or --watchdog-signal."
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
def watching(values, folder, addresses=list):
    """Adds to CRESTA_ variables where to tell; the Watch, or None if nobody asks for it.
    `addresses` says at which addresses ranks of other hosts come.
    """
    found = settings(values)
    if found is None:
        yield None
        return
    watch = Watch(*found, folder, addresses())
    values["CRESTA_WATCHDOG_AT"] = str(watch.file)
    try:
        yield watch
    finally:
        watch.close()
