# SPDX-License-Identifier: BSD-3-Clause
"""Hosts made of name spaces: their network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from crestacoll_tools.base import ui
from crestacoll_tools.builds import builds
from crestacoll_tools.launch import nethosts, segments

BYTES = 4 << 20
TAKE = """
import socket, time
with socket.create_server(("", 9999)) as s:
    print("here", flush=True)
    c = s.accept()[0]
    start, n = time.monotonic(), 0
    while more := c.recv(1 << 20):
        n += len(more)
    print(n, time.monotonic() - start)
"""
GIVE = f"""
import socket
with socket.create_connection(("{nethosts.SUBNET}.2", 9999)) as s:
    s.sendall(bytes({BYTES}))
"""


def start(hosts, number, program):
    words = ["ip", "netns", "exec", f"{hosts.prefix}{number}", sys.executable, "-c", program]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    "rate, expected",
    [(None, 500000), ("1gbit", 16250), ("1.5Gbit", 24375), ("100mbit", 4096), ("3kbps", 500000)],
)
def test_slow_interfaces_let_less_through_at_once(rate, expected):
    assert nethosts.at_once(rate, 4096, 500000) == expected


@pytest.mark.alone
def test_the_rate_holds_from_the_first_byte_on():
    if nethosts.why_not():
        pytest.skip(f"no hosts here: {nethosts.why_not()}")
    try:
        with nethosts.hosts(2, "100mbit") as hosts, start(hosts, 1, TAKE) as taker:
            assert taker.stdout.readline() == "here\n"
            with start(hosts, 0, GIVE) as giver:
                count, seconds = taker.communicate(timeout=300)[0].split()
            assert giver.returncode == 0
    except ui.Problem as problem:
        pytest.skip(str(problem))
    assert int(count) == BYTES
    # The first segments of a connection are small, the last may wait in a buffer of the receiver.
    assert float(seconds) > 0.7 * BYTES * 8 / 100e6


def run_with_open_input(words, **more):
    """Hydra's mpiexec dies of SIGPIPE where its input ends just after rank 0 has ended."""
    reader, writer = os.pipe()
    try:
        return subprocess.run(words, stdin=reader, capture_output=True, text=True, **more)
    finally:
        os.close(reader)
        os.close(writer)


@pytest.mark.alone
def test_hosts_share_no_memory(build):
    """By the boot_id model shm tells hosts apart, and Open MPI and UCX do too."""
    if nethosts.why_not():
        pytest.skip(f"no hosts here: {nethosts.why_not()}")
    read = "/proc/sys/kernel/random/boot_id"
    try:
        with nethosts.hosts(2) as hosts:
            words = [*hosts.launch_words(build, 2), "cat", read]
            said = run_with_open_input(words, env=builds.clean_environment(), timeout=300)
    except ui.Problem as problem:
        pytest.skip(str(problem))
    assert len({*said.stdout.split(), Path(read).read_text().strip()}) == 3, said


def test_a_device_that_is_not_there():
    with pytest.raises(OSError, match="no interface|No such device"):
        segments.lengthen("crestacoll-none", 1 << 18)


def test_where_no_name_spaces_can_be_made(monkeypatch, tmp_path):
    """Root in a container has the programs, but not the privilege."""
    for name in nethosts.NEEDED:
        program = tmp_path / name
        program.write_text("#!/bin/sh\necho 'unshare failed: not permitted' >&2\nexit 1\n")
        program.chmod(0o755)
    monkeypatch.setattr(nethosts.os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    assert nethosts.why_not() == "no name spaces can be made here: unshare failed: not permitted"
