# SPDX-License-Identifier: BSD-3-Clause
"""Where in the program the calls of a roll-call are."""

from crestacoll_tools.profile import sites


def find(processes):
    """Names the places of all threads that told one: 'solver.c:120 step'."""
    modules, told = {}, []
    for thread in (t for p in processes for t in p.threads if t.module and not t.place):
        number = modules.setdefault((thread.module, thread.build_id, thread.function), len(modules))
        told.append((thread, {"site": [number, thread.offset]}))
    listed = [
        {"path": path, "build_id": build_id, "function": function}
        for path, build_id, function in modules
    ]
    places = sites.Places(listed, [call for _, call in told])
    for thread, call in told:
        thread.place = places.name(call["site"])
