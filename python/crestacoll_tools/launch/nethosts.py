# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that are none: network name spaces on this machine, joined by a bridge, each with a host
name, a boot_id, a /dev/shm and a network interface of its own, whose rate may be limited, and, as
far as there are enough, with cores of its own, which also do what its interface takes of the
kernel's time. What MPI programs do between hosts can be tried there. Needs root, and Linux with ip
and tc (iproute2).
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

from crestacoll_tools.base.ui import TEXT, Problem
from crestacoll_tools.launch import segments

NEEDED = ["ip", "tc", "unshare", "mount", "hostname", "taskset"]
SUBNET = "10.213.77"  # of nobody else: it exists in the name spaces only
DEVICE = "eth0"
SEGMENTS = 4096, 512 * 1024 - 8  # bytes, least and most: the most that veth takes
BURSTS = 2048, 16 * 1024  # bytes beyond the rate: more than a frame
AT_ONCE = 130e-6  # seconds
UNITS = {"bit": 1, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}

# What a launcher takes for a remote shell: options, host, command. The host is an address.
AGENT = """#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
number=$((${{1##*.}} - 1))
shift
case $number in
{cores}
esac
exec taskset -c "$cores" ip netns exec {prefix}$number unshare --uts --ipc --mount \\
    sh -c '{enter} exec sh -c "$1"' host$number "$*"
"""
# By the boot_id libraries know whether two processes can share memory; here they could.
ENTER = """hostname "$0" && mount -t tmpfs tmpfs /dev/shm &&
    mount --bind {folder}/boot_id-"$0" /proc/sys/kernel/random/boot_id &&"""


def why_not():
    """Why there can be no hosts here; None if nothing is known against them."""
    if os.geteuid() != 0:
        return "it takes root"
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        return f"there is no {', '.join(missing)} here"
    # A container without the privilege, or a chroot, has them and cannot use them.
    words = ["unshare", "--net", "--mount", "true"]
    done = subprocess.run(words, capture_output=True, **TEXT, check=False)
    return f"no name spaces can be made here: {done.stderr.strip()}" if done.returncode else None


def share_cores(count):
    """Cores for each host: of its own while there are enough of them."""
    cores = sorted(os.sched_getaffinity(0))
    each = len(cores) // count
    return [cores[i * each : (i + 1) * each] or cores for i in range(count)]


def at_once(rate, least, most):
    """Bytes that an interface lets through at once.

    A token bucket lets a segment pass as soon as nothing before it is owed, and delays the next
    one. With short segments a message takes the time of its bytes, as on a real interface, but for
    its first AT_ONCE; with long ones the kernel's work for each segment matters less.
    """
    found = re.fullmatch(r"([0-9.]+)([kmg]?bit)", rate or "", re.IGNORECASE)
    if not found:
        return most
    bytes_per_second = float(found[1]) * UNITS[found[2].lower()] / 8
    return round(min(max(bytes_per_second * AT_ONCE, least), most))


def words_of(cores):
    return ",".join(map(str, cores))


def command(*words):
    done = subprocess.run(words, capture_output=True, **TEXT, check=False)
    if done.returncode:
        raise Problem(f"no hosts here: {' '.join(words)}: {done.stderr.strip()}")


@contextlib.contextmanager
def hosts(count, rate=None):
    """`count` hosts as long as the context lasts; `rate` as tc has it, such as 1gbit."""
    why = why_not()
    if why:
        raise Problem(f"no hosts here: {why}")
    with (
        ended_in_order(),
        tempfile.TemporaryDirectory(prefix="crestacoll-hosts-") as folder,
        contextlib.ExitStack() as s,
    ):
        yield Hosts(count, rate, Path(folder), s)


@contextlib.contextmanager
def ended_in_order():
    """SIGTERM becomes an exception, so that nothing stays behind."""

    def leave(number, _frame):
        signal.signal(number, signal.SIG_IGN)  # nor does a second one disturb the end
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Hosts:
    """Made by hosts(). Everything that is made says to the stack how it ends."""

    def __init__(self, count, rate, folder, stack):
        self.count, self.rate = count, rate
        self.segment = at_once(rate, *SEGMENTS)
        self.prefix = f"crestacoll-{os.getpid()}-"
        self.agent = folder / "agent"
        self.cores = share_cores(count)
        cases = "\n".join(f"{i}) cores={words_of(c)};;" for i, c in enumerate(self.cores))
        self.enter = ENTER.format(folder=folder)
        text = AGENT.format(prefix=self.prefix, enter=self.enter, cores=cases)
        self.agent.write_text(text, encoding="utf-8")
        self.agent.chmod(0o755)
        self.switch = self.prefix + "switch"
        self._space(stack, self.switch)
        self._at(self.switch, "ip", "link", "add", "bridge", "type", "bridge")
        self._at(self.switch, "ip", "link", "set", "bridge", "up")
        self._lengthen_segments(self.switch, "bridge")
        for i in range(count):
            self._host(stack, i)

    def _space(self, stack, name):
        command("ip", "netns", "add", name)
        stack.callback(self._end_space, name)
        self._at(name, "ip", "link", "set", "lo", "up")

    @staticmethod
    def _end_space(name):
        """Whatever still runs there ends: launchers that were killed leave daemons behind."""
        found = subprocess.run(
            ["ip", "netns", "pids", name], capture_output=True, **TEXT, check=False
        )
        for pid in found.stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), 9)
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    @staticmethod
    def _at(name, *words):
        command("ip", "netns", "exec", name, *words)

    def _host(self, stack, i):
        boot_id = self.agent.with_name(f"boot_id-host{i}")
        boot_id.write_text(f"{uuid.uuid4()}\n", encoding="utf-8")
        name, port = f"{self.prefix}{i}", f"port{i}"
        self._space(stack, name)
        pair = f"ip link add {port} type veth peer name {DEVICE} netns {name}"
        self._at(self.switch, *pair.split())
        self._at(self.switch, "ip", "link", "set", port, "master", "bridge", "up")
        self._at(name, "ip", "address", "add", f"{SUBNET}.{i + 1}/24", "dev", DEVICE)
        self._at(name, "ip", "link", "set", DEVICE, "up")
        mask = sum(1 << core for core in self.cores[i])
        receive = f"/sys/class/net/{DEVICE}/queues/rx-0/rps_cpus"
        self._at(name, "sh", "-c", f"echo {mask:x} >{receive}")
        self._lengthen_segments(self.switch, port)
        self._lengthen_segments(name, DEVICE)
        if self.rate:
            self._limit(name)

    def _lengthen_segments(self, space, device):
        self._at(space, sys.executable, segments.__file__, str(self.segment), device)

    def _limit(self, name):
        """By htb: tbf would cut the segments to its burst, or let that much through at once."""
        root = f"tc qdisc add dev {DEVICE} root handle 1: htb default 1"
        burst = f"{at_once(self.rate, *BURSTS)}b"  # of tc: bytes
        rate = f"rate {self.rate} burst {burst} cburst {burst} quantum 60000"
        self._at(name, *root.split())
        limit = f"tc class add dev {DEVICE} parent 1: classid 1:1 htb {rate}"
        self._at(name, *limit.split())

    def launch_words(self, build, ranks):
        """mpiexec with its options, started on the first host; ranks fill the hosts one by one."""
        each = -(-ranks // self.count)
        places = ",".join(f"{SUBNET}.{i + 1}:{each}" for i in range(self.count))
        inside = f"ip netns exec {self.prefix}0 unshare --uts --ipc --mount"
        return [
            *("taskset", "-c", words_of(self.cores[0]), *inside.split()),
            *("sh", "-c", f'{self.enter} exec "$@"', "host0"),
            *(build.launcher, *self._options(build, places, each), "-n", str(ranks)),
        ]

    def _options(self, build, places, each):
        net = f"{SUBNET}.0/24"
        if build.family == "openmpi":
            # Debian's settings leave out pt2pt, which alone has windows over TCP.
            options = f"""
                --mca pml ob1 --mca osc ^ucx --mca btl_tcp_if_include {net}
                --bind-to none --host {places}"""
            options += launch_options(build, self.agent, net)
            if self.count * each > len(os.sched_getaffinity(0)):  # by itself it does not know
                options += " --mca mpi_yield_when_idle 1"
        elif build.family == "mpich":
            options = f"""
                -launcher ssh -launcher-exec {self.agent} -iface {DEVICE} -hosts {places}
                -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES {DEVICE}"""
        else:
            raise Problem(f"hosts are not known for {build.family}")
        return options.split()


def launch_options(build, agent, net):
    """Open MPI 5 has another run time, and another name for its transport by shared memory."""
    if re.match(r"Open MPI v[1-4]\.", build.description["mpi"]["library"]):
        return f"""
            --mca btl tcp,self,vader --oversubscribe
            --mca plm_rsh_agent {agent} --mca oob_tcp_if_include {net}"""
    return f"""
        --mca btl tcp,self,sm --map-by :OVERSUBSCRIBE
        --prtemca plm_ssh_agent {agent} --prtemca prte_if_include {net}"""
