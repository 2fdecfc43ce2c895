# SPDX-License-Identifier: BSD-3-Clause
"""The messages of a collective as SimGrid's SMPI replays them: `crestacoll simulate --smpi DIR`
(docs/lab/simulator.md).

A message of SMPI has as many bytes as the links of the platform carry while it occupies an
interface here, gap included. So all links have one bandwidth, and the latency between nodes is
shorter by the gap, which SMPI's message has behind it.
"""

import shlex
from pathlib import Path

from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import USAGE, Problem, out
from crestacoll_tools.simulate import jobs, show

ENVELOPE = 16  # bytes that SMPI adds to each message
VERSION = "3.32"
SHORT = 1e-12  # seconds for the ENVELOPE bytes, where no level has a time for a byte

FREE = 1e9  # times the bandwidth: an interface that limits nothing

PLATFORM = """\
<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node" suffix="" radical="0-{last}" speed="1Gf"
           {interfaces} sharing_policy="SPLITDUPLEX"
           loopback_bw="{bandwidth!r}Bps" loopback_lat="{latency!r}s"/>
</platform>
"""

README = """\
{what}.
{caption}.
Simulated by crestacoll: {time} from the first rank's begin to the last one's end.

  ./replay.sh

replays the messages with SMPI of SimGrid {version} (Debian package libsimgrid-dev). The last
line "Simulation time" counts. In the traces, times are seconds; {bandwidth!r} bytes of a
message are one second of an interface ({envelope} more are SMPI's own of each message), so that
messages between nodes have the gap in their size. SMPI keeps the file of each rank open: more than
about 1000 ranks need a higher limit (ulimit -n).

What differs from crestacoll's simulation (docs/lab/simulator.md says how much it matters):
{differences}
"""

SHARING = """\
- Messages that pass an interface at the same time share it; here one goes after the other. With
  ./replay.sh --cfg=maxmin/concurrency-limit:1 they do so there, too, but a message needs the
  interfaces of both nodes at the same time, and ways inside a node carry one message at a time.
- A rank takes the messages of a round in the order of its receives; here in that of arrival."""
WAITING = """\
- The sender of a message that waits for its receiver goes on when it has arrived; here when it has
  left. If the receiver is late, the answer on its way costs two latencies more than here."""
WAITING_IN_A_NODE = """\
- Messages inside a node that wait for their receiver have {factor:.3g} latencies instead of 3."""


def bandwidth_of(machine):
    """Bytes a second of all links: 16 for each byte of a message between nodes, so that SMPI's own
    bytes of each message have room in the first one.
    """
    costs = machine["levels"]
    byte = costs["network"].get("byte", 0) or costs["node"].get("byte", 0)
    return ENVELOPE / (byte or SHORT)


def latency_of(machine, queues):
    """Between nodes, seconds, without the gap that is in the size of a message."""
    network = machine["levels"]["network"]
    latency, gap = network.get("latency", 0), network.get("gap", 0) if queues else 0
    if gap > latency:
        raise Problem("for SMPI the gap of the network must not be longer than its latency", USAGE)
    return latency - gap


def waiting_factor(machine, queues):
    """Latencies of a message that waits for its receiver: it asks, is granted, and goes."""
    latency = latency_of(machine, queues)
    more = 2 * machine["levels"]["network"].get("latency", 0)
    return 1 + more / latency if latency > 0 else 3.0


def platform(machine, nodes, queues):
    """The platform file. Nothing limits a way inside a node, and without queues the interfaces of
    nodes do not: then all messages pass one link on which each has the bandwidth for itself.
    """
    bandwidth, latency = bandwidth_of(machine), latency_of(machine, queues)
    interfaces = f'bw="{bandwidth!r}Bps" lat="{latency / 2!r}s"'
    if not queues:
        interfaces = f'bw="{FREE * bandwidth!r}Bps" lat="0s" bb_bw="{bandwidth!r}Bps"'
        interfaces += f' bb_lat="{latency!r}s" bb_sharing_policy="FATPIPE"'
    return PLATFORM.format(
        last=nodes - 1,
        interfaces=interfaces,
        bandwidth=bandwidth,
        latency=float(machine["levels"]["node"].get("latency", 0)),
    )


def options(machine, queues, trace):
    """Options of smpirun: LogGP without SMPI's corrections for TCP, and its limit of what waits.

    CM02 has one latency for all messages; where some wait, SMPI's own model, with all its factors
    set, gives those more.
    """
    waits = trace["waiting"] >= 0
    limit = trace["waiting"] if waits else trace["eager"] + 1
    chosen = {
        "network/model": "SMPI" if waits else "CM02",
        "network/crosstraffic": "no",
        "network/TCP-gamma": "1e30",
        "network/weight-S": "0",
        "surf/precision": "1e-15",
        "maxmin/precision": "1e-9",
        "smpi/async-small-thresh": limit,
        "smpi/send-is-detached-thresh": limit,
    }
    if waits:
        chosen["smpi/bw-factor"] = "0:1"
        factor = waiting_factor(machine, queues)
        chosen["smpi/lat-factor"] = f"0:1;{limit + ENVELOPE - 1}:{factor!r}"
    found = [f"--cfg={key}:{value}" for key, value in chosen.items()]
    logs = ["root.thres:warning", "smpi_replay.thres:info", "smpi_config.thres:warning", "no_loc"]
    return found + [f"--log={log}" for log in [*logs, "root.fmt:%a%e%.15r%e%m%n"]]


def script(ranks, chosen):
    """Replays, wherever it is called; more options may follow."""
    files = "-hostfile hosts.txt -platform platform.xml -replay traces.txt"
    words = [f"smpirun -np {ranks} {files}", *(shlex.quote(option) for option in chosen)]
    command = " \\\n    ".join(words)
    return f'#!/bin/sh\ncd "$(dirname "$0")" || exit\nexec {command} "$@"\n'


def folder_for(path):
    """An empty folder, made if it is missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise Problem(f"{path} is not empty", USAGE)
    except OSError as e:
        raise Problem(f"cannot make the folder {path}: {e}") from e
    return path


def write(build, setting, call, path):
    """Writes the files of one collective on all ranks, and simulates it: its time in seconds."""
    machine, ranks = setting.machine, call.size
    latency_of(machine, setting.queues)
    folder = folder_for(path)
    job = jobs.text(
        machine,
        ranks,
        jobs.nodes_words(ranks, setting.per_node),
        [call],
        setting.skew,
        setting.queues,
        setting.calls,
        trace=bandwidth_of(machine),
    )
    try:
        found = jobs.run(build, job, setting.limits, cwd=folder)
    except jobs.Refused:
        for trace in folder.glob("rank*.txt"):
            trace.unlink()
        raise
    nodes = -(-ranks // setting.per_node)
    replay = folder / "replay.sh"
    texts = {
        "platform.xml": platform(machine, nodes, setting.queues),
        "hosts.txt": "".join(f"node{r // setting.per_node}\n" for r in range(ranks)),
        "traces.txt": "".join(f"rank{r}.txt\n" for r in range(ranks)),
        "README.txt": readme(setting, call, found),
        replay.name: script(ranks, options(machine, setting.queues, found["trace"])),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    replay.chmod(0o755)
    return found["end"][-1][2]


def need_one_point(asked, arms):
    """`asked`: the options of the command."""
    counts = len(asked["ranks"]), len(asked["sizes"]), len(arms), asked["seeds"]
    if asked["smpi"] and counts != (1, 1, 1, 1):
        raise Problem(
            "--smpi needs one number of ranks, one size, one implementation (--impl) and one seed",
            USAGE,
        )


def write_point(build, setting, point, asked):
    """Writes a point of sweep.py, if --smpi says where."""
    if not asked["smpi"]:
        return
    names = ("collective", "bytes", "implementation", "ranks")
    call = jobs.Call(*(point[name] for name in names), root=asked["root"])
    try:
        write(build, setting, call, Path(asked["smpi"]))
    except jobs.Refused as e:
        raise Problem(str(e), USAGE) from e
    if asked["json_to"] != "-":
        out.print(f"wrote {asked['smpi']}; its replay.sh runs SMPI", soft_wrap=True)


def readme(setting, call, found):
    differences = [SHARING] if setting.queues else [SHARING.splitlines()[-1]]
    if found["trace"]["waiting"] >= 0:
        differences.append(WAITING)
    factor = waiting_factor(setting.machine, setting.queues)
    if found["trace"]["waiting_in_a_node"] and factor != 3:
        differences.append(WAITING_IN_A_NODE.format(factor=factor))
    return README.format(
        what=f"{call.collective} of {call.bytes} bytes as {call.implementation},"
        f" {counted(call.size, 'rank')}",
        caption=show.caption(setting.machine),
        time=show.time_words(found["end"][-1][2]),
        version=VERSION,
        bandwidth=bandwidth_of(setting.machine),
        envelope=ENVELOPE,
        differences="\n".join(differences),
    )
