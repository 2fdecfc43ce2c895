# SPDX-License-Identifier: BSD-3-Clause
"""Hosts that are none: network name spaces on this machine, joined by a bridge, each with a host
name, a boot_id, a /dev/shm and a network interface of its own, whose rate may be limited, and, as
far as there are enough, with cores of its own, which also do what its interface takes of the
kernel's time. What MPI programs do between hosts can be tried there. Needs root, and Linux with ip
and tc (iproute2).
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

from crestacoll import segments
from crestacoll.ui import TEXT, Problem

NEEDED = ["ip", "tc", "unshare", "mount", "hostname", "taskset"]
SUBNET = "10.213.77"  # of nobody else: it exists in the name spaces only
DEVICE = "eth0"
SEGMENT = 512 * 1024 - 8  # bytes, the most that veth takes
BURST = "16kb"  # beyond the rate

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
        self._at(space, sys.executable, segments.__file__, str(SEGMENT), device)

    def _limit(self, name):
        """By htb: tbf would cut the segments to its burst, or let that much through at once."""
        root = f"tc qdisc add dev {DEVICE} root handle 1: htb default 1"
        rate = f"rate {self.rate} burst {BURST} cburst {BURST} quantum 60000"
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
                --mca plm_rsh_agent {self.agent} --mca pml ob1 --mca btl tcp,self,vader
                --mca osc ^ucx
                --mca btl_tcp_if_include {net} --mca oob_tcp_if_include {net}
                --bind-to none --oversubscribe --host {places}"""
            if each > min(map(len, self.cores)):  # by itself it takes each for a core
                options += " --mca mpi_yield_when_idle 1"
        elif build.family == "mpich":
            options = f"""
                -launcher ssh -launcher-exec {self.agent} -iface {DEVICE} -hosts {places}
                -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES {DEVICE}"""
        else:
            raise Problem(f"hosts are not known for {build.family}")
        return options.split()
