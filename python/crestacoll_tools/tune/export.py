# SPDX-License-Identifier: BSD-3-Clause
"""Native winners in the format of their MPI, each proved by runs of the file: that it is in force,
and that it is not slower than the MPI's own choice.
"""

import statistics
from pathlib import Path

from crestacoll_tools.base import outputs
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import USAGE, Problem
from crestacoll_tools.bench import benchjob
from crestacoll_tools.builds import machine
from crestacoll_tools.race import racestats
from crestacoll_tools.tune import native, native_file
from crestacoll_tools.tune.grid import MPI
from crestacoll_tools.tune.measure import SHORT_US

ROUNDS = 8  # pairs of jobs for each winner
JOB_S = 0.4  # of measuring in a job, at first,
MOST_S = 60.0  # and at most


class Unmeasured(Problem):
    """A job that had no time for a single call."""


class OpenMpi:
    """A file of rules, and a second one with the variables that load it."""

    def __init__(self, build, data, path):
        self.path, self.numbers = Path(path).absolute(), native.ompi_info(build.launcher)
        self.choices = data["winners"]

    def number(self, choice):
        return self.numbers[choice["collective"]][choice["algorithm"]]

    def write(self, choices, wrong=None):
        """Writes the file; `wrong` gets the number of no algorithm."""
        numbered = [
            c | {"number": native.UNKNOWN_ID if c is wrong else self.number(c)} for c in choices
        ]
        outputs.write_text(self.path, native.openmpi_file(numbered))
        outputs.write_text(self.variables_path, native.variables_text(native.loads(self.path)))

    def variables(self, choices, wrong=None):
        """For a job under the file."""
        self.write(choices, wrong)
        return native.loads(self.path)

    @property
    def variables_path(self):
        return self.path.with_name(self.path.name + ".env")

    @property
    def files(self):
        return [self.path, self.variables_path]


class Mpich:
    """A file with environment variables: MPICH 4's own files of rules (JSON) replace all of its
    choices, those of collectives that were not measured too.
    """

    def __init__(self, build, data, path):
        self.path, self.choices = Path(path).absolute(), data["everywhere"]

    def variables(self, choices, wrong=None):
        return {
            native.cvar(c["collective"]): native.UNKNOWN_NAME if c is wrong else c["algorithm"]
            for c in choices
        }

    def write(self, choices):
        outputs.write_text(self.path, native.variables_text(self.variables(choices)))

    @property
    def files(self):
        return [self.path]


FORMATS = {"openmpi": OpenMpi, "mpich": Mpich}


def check(data, build, form):
    """Before anything is run."""
    if data["family"] != form:
        raise Problem(f"these are algorithms of {data['family']}, not of {form}", USAGE)
    library = build.description["mpi"]["library"]
    here = (machine.describe()["cpu"], machine.describe()["cores"], machine.mpi_name(library))
    about = data["head"]["machine"]
    made = (about["cpu"], about["cores"], data["head"]["mpi"])
    if made != here:
        raise Problem(f"they were measured on {made}, and this is {here}")


def points_of(choice):
    """(ranks, sizes) at which a choice was measured."""
    if isinstance(choice["ranks"], list):
        return [(n, choice["sizes"]) for n in choice["ranks"]]
    return [(choice["ranks"], [s["bytes"] for s in choice["earned"]["sizes"]])]


def export(target, jobs, tell):
    """Writes the winners that prove themselves; [(choice, what was seen, fine)]."""
    found = []
    try:
        for choice in target.choices:
            tell.tries(f"proof of {native_file.words(choice)}")
            found.append((choice, *prove(target, jobs, choice, tell.tick)))
    finally:
        for path in target.files:
            path.unlink(missing_ok=True)
    kept = [choice for choice, _, fine in found if fine]
    if kept:
        target.write(kept)
    return found


def prove(target, jobs, choice, tick):
    """(words, fine)"""
    for ranks, sizes in points_of(choice):
        point = {"collective": choice["collective"], "ranks": ranks}
        if not in_force(target, jobs, choice, point, sizes[-1:], tick):
            return "not in force: an invalid number in its place changes nothing", False
    compared = [
        (ranks, size, d)
        for ranks, sizes in points_of(choice)
        for size, d in compare(target, jobs, choice, ranks, sizes, tick).items()
    ]
    slower = [c for c in compared if c[2] is None or c[2].slower]
    words = "; ".join(
        f"{counted(ranks, 'rank')}, {size} bytes: {-100 * d.trimmed:+.1f} % ({-100 * d.high:+.1f}"
        f" to {-100 * d.low:+.1f})"
        for ranks, size, d in compared
        if d is not None
    )
    return f"in force; gain {words}", not slower


def in_force(target, jobs, choice, point, sizes, tick):
    """The job works under all choices, and no longer once an algorithm that does not exist takes
    the place of this one: so the MPI looks there in this very call.
    """
    measure(jobs, point, sizes, target.variables(target.choices), tick)
    try:
        measure(jobs, point, sizes, target.variables(target.choices, wrong=choice), tick)
    except (Unmeasured, benchjob.Overdue):  # of which nobody knows why
        raise
    except Problem:
        return True
    return False


def measure(jobs, point, sizes, variables, tick):
    """{bytes: rounds} of the MPI under these variables. On a machine with much else to do, the time
    of a job may be over before its first call, which then says nothing: it gets more.
    """
    seconds = JOB_S
    while seconds < MOST_S:
        asked = (point, sizes, [MPI], jobs.launch_s + seconds, SHORT_US, tick, variables)
        rounds, notes = jobs.race(*asked)
        if all(rounds.get(size) for size in sizes):
            return rounds
        seconds *= 2
    why = "; ".join(notes) or "the time of the jobs did not reach"
    ranks = counted(point["ranks"], "rank")
    raise Unmeasured(f"{point['collective']} on {ranks} was not measured: {why}")


def compare(target, jobs, choice, ranks, sizes, tick):
    """{bytes: Difference to the MPI's own choice, over pairs of jobs}"""
    point = {"collective": choice["collective"], "ranks": ranks}
    chosen = target.variables(target.choices)
    series = {size: ([], []) for size in sizes}
    for count in range(ROUNDS):
        for own in (0, 1) if count % 2 else (1, 0):
            given = {} if own else chosen
            rounds = measure(jobs, point, sizes, given, tick)
            for size in sizes:
                series[size][own].append(statistics.median(r[MPI] for r in rounds[size]))
    return {size: racestats.difference(*pair) for size, pair in series.items()}
