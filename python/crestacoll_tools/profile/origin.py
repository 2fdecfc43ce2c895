# SPDX-License-Identifier: BSD-3-Clause
"""What a profile is of, its member `origin`: command, time, hosts, settings, and how ranks are
bound to cores. Ranks write what they know, and `crestacoll run` what it knows.
"""

import datetime
import json
import os
import re
import shlex
from pathlib import Path

from crestacoll_tools.base import outputs
from crestacoll_tools.base.text import counted, word
from crestacoll_tools.profile import profiles

MARK = '\n "origin": '  # before the last member of a profile
CUT, MOST = "[...]", 8192  # characters of a command, as in src/process/origin.c
MOST_RULES = 1 << 16
SHOWN = 200  # characters of it in a line
HOSTS = 4  # that a report names; and warnings
BATCH = {
    "SLURM_JOB_ID": "Slurm",
    "PBS_JOBID": "PBS",
    "LSB_JOBID": "LSF",
    "FLUX_JOB_ID": "Flux",
    "COBALT_JOBID": "Cobalt",
    "OAR_JOB_ID": "OAR",
    "PJM_JOBID": "PJM",
    "JOB_ID": "batch",
}


# What `crestacoll run` adds to the file, and leaves out of it.


def complete(path, command, settings, anonymous):
    """Adds to the profile that ranks have written what they cannot know: the whole command, rules
    from a file, the batch job. Returns the origin; None if the file has none.
    """
    text = Path(path).read_text(encoding="utf-8")
    before, mark, origin = text.rpartition(MARK)
    if not mark:
        return None
    origin = json.loads(origin.removesuffix("}\n"))
    origin |= {"command": shortened(command)} | rules_of(settings)
    origin["variables"] |= {n: os.environ[n] for n in BATCH if n in os.environ}
    if anonymous:
        data = json.loads(before.rstrip(",\n") + "}") | {"origin": origin}
        hide(data)
        text = json.dumps(data) + "\n"
        origin = data["origin"]
    else:
        members = (f"{json.dumps(name)}: {json.dumps(told)}" for name, told in origin.items())
        text = before + mark + "{" + ",\n  ".join(members) + "}}\n"
    outputs.write_text(path, text)
    return origin


def shortened(command):
    """The words of a command, up to a number of characters in all."""
    words, left = [], MOST
    for text in command:
        if len(text) > left:
            return [*words, text[:left], CUT]
        words.append(text)
        left -= len(text)
    return words


def rules_of(settings):
    """{"rules": what is in the file of CRESTA_IMPL=@FILE}; nothing if that is no file."""
    given = settings.get("CRESTA_IMPL", "")
    if not given.startswith("@"):
        return {}
    try:
        text = Path(given[1:]).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return {}
    return {"rules": text[:MOST_RULES] + (CUT if len(text) > MOST_RULES else "")}


def hide(data):
    """Takes command, host names and paths out of a profile. Files of the program keep their last
    name, with which their places are shown.
    """
    origin, calls = data["origin"], data.get("calls", {})
    del origin["command"]
    names = [host["name"] for host in origin["hosts"] if host["name"]]
    origin["variables"] = {
        name: value
        for name, value in origin["variables"].items()
        if "/" not in value and not any(host in value for host in names)
    }
    for number, host in enumerate(by_rank(origin["hosts"]), 1):
        host["name"] = f"host {number}"
    for module in calls.get("modules", []):
        module["path"] = os.path.basename(module["path"])
    for name, path in calls.get("ahead", {}).items():
        calls["ahead"][name] = os.path.basename(path)
    for record in data["records"]:
        record["rule"] = record["rule"] and re.sub(r"^(?:[^:/]*=)?\S*/", "", record["rule"])


# Numbers of ranks and cores.


def numbers(text):
    """[0, 1, 2, 3, 8] of '0-3,8'."""
    found = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def listed(found):
    """'0-3,8' of such numbers, in any order."""
    runs = []
    for number in sorted(found):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def by_rank(objects):
    """Hosts, machines or bindings by their lowest rank."""
    return sorted(objects, key=lambda one: numbers(one["ranks"])[0])


def ranks_word(found):
    """'rank 3', 'ranks 0-3'."""
    return f"{'rank' if len(found) == 1 else 'ranks'} {listed(found)}"


# How ranks are bound.


class Machine:
    """One kernel: the ranks under it, and the processor. What is called a core is a hardware
    thread where a core has several.
    """

    def __init__(self, described, hosts):
        self.name = " and ".join(dict.fromkeys(word(h["name"]) for h in hosts)) or "a host"
        self.cores = [frozenset(numbers(c)) for c in described.get("cores", [])]
        self.sockets = [frozenset(numbers(s)) for s in described.get("sockets", [])]
        self.all = frozenset().union(*self.cores)
        self.unit = "hardware thread" if any(len(c) > 1 for c in self.cores) else "core"
        self.bound = {}  # {cores: {rank: threads that compute}}

    def on(self, cpus):
        """'core 0', '2 cores (0-1)'."""
        if len(cpus) == 1:
            return f"{self.unit} {listed(cpus)}"
        return f"{counted(len(cpus), self.unit)} ({listed(cpus)})"

    def narrow(self):
        """More ranks, or threads, than cores to which they are bound: [sentence]."""
        told = []
        for cpus, threads in self.bound.items():
            ranks, need = list(threads), sum(threads.values())
            if need <= len(cpus) or not self.all:
                continue
            if need > len(ranks):
                told.append(
                    f"{ranks_word(ranks)} on {self.name} {have(len(ranks))}"
                    f" {counted(need, 'thread')} that compute, but only {self.on(cpus)}"
                )
            elif cpus != self.all:
                both = "both" if len(ranks) == 2 else "all"
                told.append(
                    f"{ranks_word(ranks)} on {self.name} are {both} bound to {self.on(cpus)}"
                )
        return told

    def siblings(self):
        """Ranks on hardware threads of one core, while other cores have none."""
        used = frozenset().union(*self.bound)
        idle = sum(not core & used for core in self.cores)
        for core in self.cores:
            inside = {cpus: t for cpus, t in self.bound.items() if cpus <= core}
            ranks = [rank for threads in inside.values() for rank in threads]
            if len(inside) > 1 and idle:
                return [
                    f"{ranks_word(ranks)} on {self.name} share a core, as its hardware threads"
                    f" {listed(core)}, while {counted(idle, 'core')} {have(idle)} no rank"
                ]
        return []

    def one_socket(self):
        """All ranks on one of several sockets."""
        used, of = frozenset().union(*self.bound), len(self.sockets)
        ranks = sum(len(threads) for threads in self.bound.values())
        if ranks < 2 or of < 2 or not any(used <= socket for socket in self.sockets):
            return []
        every = "both ranks" if ranks == 2 else f"all {counted(ranks, 'rank')}"
        return [f"{every} on {self.name} are bound to one of its {of} sockets"]

    def findings(self):
        return self.narrow() or self.siblings() or self.one_socket()


def have(number):
    return "has" if number == 1 else "have"


def machines_of(origin):
    """The Machine of each kernel, with the ranks that compute. Threads count as computing if they
    did, or if OMP_NUM_THREADS has as many and they exist.
    """
    described = {rank: m for m in origin["machines"] for rank in numbers(m["ranks"])}
    hosts, of_rank = {}, {}
    for host in by_rank(origin["hosts"]):
        hosts.setdefault(host["machine"], []).append(host)
        of_rank |= dict.fromkeys(numbers(host["ranks"]), host["machine"])
    made = {first: Machine(described.get(first, {}), of) for first, of in hosts.items()}
    openmp = re.match(r"\d+", origin["variables"].get("OMP_NUM_THREADS", ""))
    openmp = int(openmp[0]) if openmp else 0
    for binding in origin["bindings"]:
        busy, cpus = binding["busy_threads"], frozenset(numbers(binding["cpus"]))
        if busy and 1 < openmp <= binding["threads"]:
            busy = max(busy, openmp)
        for rank in numbers(binding["ranks"]) if busy and cpus else []:
            made[of_rank[rank]].bound.setdefault(cpus, {})[rank] = busy
    return list(made.values())


def warnings(origin):
    """Sentences on ranks and threads that get in each other's way, a line each."""
    return [told for machine in machines_of(origin) for told in machine.findings()]


def warning(origin):
    """The line that `run` prints; None if all is well."""
    found = warnings(origin)
    more = f", and {len(found) - 1} more in the report of the profile" if found[1:] else ""
    return f"warning: {found[0]}{more}" if found else None


# What a report shows.


def moment(text):
    return datetime.datetime.fromisoformat(text)


def when(origin):
    """'2026-11-29 01:20:24 to 01:20:25 +00:00, Slurm job 17'"""
    start, end = moment(origin["start"]), moment(origin["end"])
    end_words = end.time() if end.date() == start.date() else end.replace(tzinfo=None)
    zone = origin["end"][19:]
    told = f"{start.replace(tzinfo=None)} to {end_words} {zone}"
    return ", ".join([told, *batch(origin)])


def batch(origin):
    """['Slurm job 17']"""
    variables = origin["variables"]
    return [f"{kind} job {word(variables[n])}" for n, kind in BATCH.items() if n in variables]


def between_words(found, noun):
    """'16 cores', '8 to 16 cores'."""
    least, most = min(found), max(found)
    return counted(most, noun) if least == most else f"{least} to {counted(most, noun)}"


def where(data):
    """'4 ranks on 2 hosts (n1, n2) of 16 cores (AMD EPYC 7742), Open MPI v4.1.4'"""
    origin = data["origin"]
    names = list(dict.fromkeys(word(host["name"]) for host in by_rank(origin["hosts"])))
    few = ", ".join(names[:HOSTS])
    more = f" and {len(names) - HOSTS} more" if len(names) > HOSTS else ""
    cores = [len(m["cores"]) for m in origin["machines"] if m["cores"]]
    of = f" of {between_words(cores, 'core')}" if cores else ""
    processors = dict.fromkeys(word(m["processor"]) for m in origin["machines"])
    return (
        f"{counted(data['ranks'], 'rank')} on {counted(len(names), 'host')} ({few}{more}){of}"
        f" ({'; '.join(processors)}), {profiles.mpi_name(data)}"
    )


def command(origin):
    """As a shell takes it; None if it was left out."""
    return word(shlex.join(origin["command"])) if "command" in origin else None


def lines(data):
    """The first lines of a report; none for profiles of earlier versions."""
    if "origin" not in data:
        return []
    origin = data["origin"]
    told = command(origin) or "left out"
    told = told[:SHOWN] + CUT if len(told) > SHOWN else told
    return [f"Command: {told}", when(origin), where(data), *some_warnings(origin)]


def some_warnings(origin):
    """The first ones."""
    found = warnings(origin)
    more = [f"... and {len(found) - HOSTS} more warnings (--json)"] if len(found) > HOSTS else []
    return [f"Warning: {one}." for one in found[:HOSTS]] + more


def as_json(data):
    return {"origin": data["origin"], "warnings": warnings(data["origin"])}


def tables(data):
    """[(heads, rows)] for the page, as text: hosts, bindings, settings."""
    origin = data["origin"]
    described = {rank: m for m in origin["machines"] for rank in numbers(m["ranks"])}
    return [
        (
            ("host", "ranks", "processor", "sockets", "cores", "hardware threads"),
            [
                (word(host["name"]), host["ranks"], *topology(described.get(host["machine"])))
                for host in by_rank(origin["hosts"])
            ],
        ),
        (
            ("ranks", "bound to cores", "threads", "threads that compute"),
            [
                (b["ranks"], b["cpus"], str(b["threads"]), str(b["busy_threads"]))
                for b in by_rank(origin["bindings"])
            ],
        ),
        (
            ("setting", "value"),
            [(word(n), word(v)) for n, v in sorted(origin["variables"].items())]
            + [("rules", word(text)) for text in [origin.get("rules")] if text],
        ),
    ]


def topology(machine):
    """Cells of a table; a dash for what is not known."""
    if machine is None:
        return ("-",) * 4
    sockets, cores = len(machine["sockets"]), len(machine["cores"])
    threads = sum(len(numbers(core)) for core in machine["cores"])
    return (word(machine["processor"]), *(str(n) if n else "-" for n in (sockets, cores, threads)))
