# SPDX-License-Identifier: BSD-3-Clause
"""Screens of `crestacoll simulate`, from points that were simulated before."""

from crestacoll_tools.simulate import show

MACHINE = {"name": "a test", "file": "m.json"}
FIT = {"fit": {"median": 0.12, "worst": 0.4, "points": 36}}


def _point(name, ranks=16, us=3.56, size=8, **more):
    made = {"collective": "allreduce", "implementation": name, "bytes": size, "ranks": ranks}
    made |= {"time_s": us * 1e-6, "p10_s": us * 1e-6, "p90_s": us * 1e-6, "refused": None}
    made |= {"messages": 64, "messages_between_nodes": 32, "bytes_between_nodes": 256}
    return made | {"busiest_interface": 0.021} | more


def _refused(name, why):
    return {k: v for k, v in _point(name).items() if k != "time_s"} | {"refused": why}


def compared(screen):
    """The best comes first; what cannot run says why."""
    points = [_point("p2p:ring", us=30.2), _point("p2p"), _point("hier", us=4.13)]
    points.append(_refused("p2p:swing", "needs a power of two of processes"))
    screen.printed(show.print_points, points, MACHINE)


def one_rank(screen):
    """No messages."""
    none = {"messages": 0, "messages_between_nodes": 0, "bytes_between_nodes": 0}
    point = _point("p2p", ranks=1, us=0.0, size=1, busiest_interface=None, **none)
    screen.printed(show.print_points, [point], MACHINE | FIT)


def with_a_spread(screen):
    """Ranks begin at different times."""
    screen.printed(show.print_points, [_point("p2p", p90_s=5e-6)], MACHINE | FIT)


def refusals(screen):
    """What does not go together, or is missing."""
    screen.write("m.json", "{}")
    screen.crestacoll("simulate", "allreduce", "-n", "16")
    screen.crestacoll("simulate", "allreduce", "-n", "none", "--machine", "m.json")
    screen.crestacoll("simulate", "allreduce", "-n", "16", "--machine", "m.json")
    screen.crestacoll("simulate", "allreduce", "--calibrate", "c.json")
    screen.crestacoll("simulate", "allreduce", "-n", "16", "--machine", "m.json", "--top", "3")
