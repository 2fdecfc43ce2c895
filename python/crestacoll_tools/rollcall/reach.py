# SPDX-License-Identifier: BSD-3-Clause
"""At which addresses of this host the ranks of other hosts reach `crestacoll run`: at none if all
ranks are on this host; at those from which the named hosts are reached; at all but the loopback
where the hosts of the job are not known.
"""

import contextlib
import fcntl
import os
import re
import shutil
import socket
import struct
from pathlib import Path

from crestacoll_tools.base.ui import Problem
from crestacoll_tools.launch import hosts, launcher

LISTS = ("H", "host", "hosts", "hostlist")  # options of launchers: names
FILES = ("f", "hostfile", "machinefile", "default-hostfile")  # files of names
# Other options, and variables, by which a launcher may learn of hosts.
OPTIONS = re.compile(
    r"-+(app|configfile|rf|dvm|am|tune|rmk)(=.*)?|.*(hostfile|rank_?file).*", re.IGNORECASE
)
VARIABLES = re.compile(
    r"(SLURM|PBS|LSB|COBALT|FLUX|OAR|LOADL)_.*|PE_HOSTFILE|.*(HOST_?FILE|RANK_?FILE|HYDRA_RMK).*",
    re.IGNORECASE,
)
MOST = 64  # names that are looked up; the other hosts of a larger job are in the same networks


class Unknown(Exception):
    """It is not known which hosts the job has."""


def interfaces():
    """IPv4 addresses of the interfaces of this host that are up, without the loopback's."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):
                request = struct.pack("256s", name.encode()[:15])
                found.append(socket.inet_ntoa(fcntl.ioctl(s, 0x8915, request)[20:24]))
    return [address for address in found if not address.startswith("127.")]


def route(name):
    """The address of this host from which another is reached; None for this host itself."""
    try:
        to = socket.getaddrinfo(name, None, socket.AF_INET, socket.SOCK_DGRAM)[0][4][0]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect((to, 9))  # nothing is sent
            own = s.getsockname()[0]
    except OSError as e:
        raise Unknown from e
    return None if own == to or to.startswith("127.") else own


def configured(program, home):
    """Files by which all jobs of Open MPI's launcher may have hosts."""
    path = shutil.which(program)
    prefix = Path(path).resolve().parents[1] if path else Path("/usr")
    folders = [prefix / "etc", prefix / "etc/openmpi", Path("/etc/openmpi")]
    folders += [Path(home) / each for each in (".openmpi", ".prte")]
    return [p for f in folders if f.is_dir() for p in sorted(f.iterdir()) if p.is_file()]


def names_hosts(path):
    """Whether such a file does so: a default host file that has lines, or a setting of one."""
    try:
        lines = [line.partition("#")[0].strip() for line in path.read_text().splitlines()]
    except (OSError, UnicodeDecodeError):
        return False
    whole = "default-hostfile" in path.name
    return any(line and (whole or OPTIONS.fullmatch(line)) for line in lines)


def named(command, kind, environment):
    """Names of hosts that a launch names; [] if it names none: this host is the only one."""
    if kind not in ("openmpi", "hydra") or any(map(VARIABLES.fullmatch, environment)):
        raise Unknown
    found, own = [], (*LISTS, *FILES)
    for section in command.sections:
        end = launcher.program_index(section, kind)
        for words, given in launcher.assignments(section[:end], own):
            name = launcher.option_name(words[0])
            if name not in own:
                if OPTIONS.fullmatch(words[0]):
                    raise Unknown
            elif given is None or (name in FILES and not os.path.isfile(given)):
                raise Unknown  # a pipe, perhaps, which only the launcher may read
            elif name in FILES:
                found += [host.name for host in hosts.of_file(given)]
            else:
                found += [part.partition(":")[0] for part in given.split(",")]
    if not found and kind == "openmpi":
        files = configured(command.launcher, environment.get("HOME", "/"))
        if any(map(names_hosts, files)):
            raise Unknown
    return list(dict.fromkeys(found))


def addresses(command, kind, environment=os.environ):
    """Those at which to listen for a launcher.Command of a kind."""
    try:
        routes = [route(name) for name in named(command, kind, environment)[:MOST]]
    except (Unknown, Problem):
        return interfaces()
    return sorted(set(filter(None, routes)))
