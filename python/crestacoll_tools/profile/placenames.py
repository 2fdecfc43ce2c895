# SPDX-License-Identifier: BSD-3-Clause
"""Calls by names of their places that several runs share. In two builds of a program one call is at
another offset, and perhaps in another line: there, the function that calls is its place, or the
file alone, where functions are not known.
"""

from pathlib import Path

from crestacoll_tools.profile import mpitime, sites


def file_of(module):
    return Path(module["path"]).name, module.get("function")


def merged(runs):
    """(modules of all runs, each once; for each run, its calls with sites in these)"""
    numbers, modules, lists = {}, [], []
    for data in runs:
        own = []
        for module in data["calls"]["modules"]:
            key = (module["path"], module["build_id"], module.get("function"))
            if key not in numbers:
                numbers[key] = len(modules)
                modules.append(module)
            own.append(numbers[key])
        lists.append(
            [
                call | {"site": call["site"] and [own[call["site"][0]], call["site"][1]]}
                for call in data["calls"]["list"]
            ]
        )
    return modules, lists


def stay(modules, lists):
    """The files, as of file_of, whose offsets mean the same in all runs: there is one build of
    them; or, where builds have no name, all runs call from the same offsets.
    """
    builds = {}
    for module in modules:
        builds.setdefault(file_of(module), set()).add(module["build_id"])
    offsets = [{} for _ in lists]
    for of_run, calls in zip(offsets, lists, strict=True):
        for call in calls:
            if call["site"]:
                file = file_of(modules[call["site"][0]])
                of_run.setdefault(file, set()).add((call["call"], call["site"][1]))
    return {
        file
        for file, ids in builds.items()
        if len(ids) == 1
        and (ids != {None} or all(o.get(file) == offsets[0].get(file) for o in offsets))
    }


def without_line(name):
    """('solve.c main', whether it has a function), of 'solve.c:120 main' or 'app+0x12a0'"""
    first, _, function = name.partition(" ")
    file = first.rpartition("+0x")[0] or first.partition(":")[0]
    return f"{file} {function}".strip(), bool(function) or file == first


def by_place(runs):
    """For each run {'MPI_Send solve.c:120 main': microseconds of a rank}."""
    modules, lists = merged(runs)
    every = [call for calls in lists for call in calls]
    places = sites.Places(modules, every)
    exact = stay(modules, lists)
    names = {tuple(call["site"]): places.name(call["site"]) for call in every if call["site"]}
    unnamed = {
        file_of(modules[number])
        for (number, _), name in names.items()
        if not without_line(name)[1]
    }

    def place(call):
        if not call["site"]:
            return "-"
        name, file = names[tuple(call["site"])], file_of(modules[call["site"][0]])
        if file in exact:
            return name
        return file[0] if file in unnamed else without_line(name)[0]

    found = []
    for data, calls in zip(runs, lists, strict=True):
        times = {}
        for call in calls:
            threads = "" if call["main_thread"] else " in other threads"
            name = f"{call['call']} {place(call)}{threads}"
            times[name] = times.get(name, 0.0) + mpitime.of_job(call, data["ranks"])
        found.append(times)
    return found
