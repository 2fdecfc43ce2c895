# SPDX-License-Identifier: BSD-3-Clause
"""Screens of `crestacoll report`."""

from pathlib import Path

import report_data


def _profile():
    data = report_data.profile()
    data["records"] = data["records"][:1] + data["records"][-4:]
    return data


def a_profile(screen):
    """The table of a profile."""
    screen.write("p.json", _profile())
    screen.crestacoll("report", "p.json")
    screen.crestacoll("report", "p.json", "--by", "collective")


def all_of_the_time_in_the_mpi(screen):
    """Where the time of a run goes, and the calls by their place."""
    screen.write("p.json", _profile() | {"calls": report_data.calls()})
    screen.crestacoll("report", "p.json")


def how_ranks_share_the_work(screen):
    """The efficiencies of POP, on the screen and for a CI job."""
    screen.write("p.json", report_data.uneven())
    screen.crestacoll("report", "p.json")
    screen.crestacoll("report", "p.json", "--format", "markdown")


def _side(screen, folder, runs, factor):
    """Profiles whose times scatter a little; those of one collective and one place by `factor`."""
    Path(folder).mkdir()
    for i in range(runs):
        noise = 1 + 0.002 * i
        data = report_data.profile() | {"calls": report_data.calls()}
        data["wall_s"] *= noise
        for record in data["records"]:
            slower = factor if record["collective"] == "alltoall" else 1
            record["time_us"]["mean"] *= noise * slower
        for call in data["calls"]["list"]:
            slower = factor if call["call"] == "MPI_Alltoall" else 1
            call["time_us"]["mean"] *= noise * slower
        screen.write(f"{folder}/{i}.json", data)


def what_changed(screen):
    """Profiles of two programs, of several runs each."""
    _side(screen, "old", 5, 1)
    _side(screen, "new", 4, 1.1)
    screen.crestacoll("report", "--compare", "old", "new")
    screen.crestacoll("report", "--compare", "new", "old/0.json")
    screen.crestacoll("report", "--compare", "old", "old/0.json")
    screen.crestacoll("report", "--compare", "old", "new", "--by", "collective")


def what_a_profile_is_of(screen):
    """Command, time and hosts come first, and how ranks get in each other's way."""
    bound = report_data.origin(("0", "0"), hosts=2, OMP_NUM_THREADS="1")
    screen.write("p.json", _profile() | {"origin": bound})
    screen.crestacoll("report", "p.json")


def a_record_of_mpi_io(screen):
    """Calls of MPI-IO over the time of the run."""
    screen.write("io.json", report_data.io())
    screen.crestacoll("report", "io.json")
    screen.crestacoll("report", "io.json", "--by", "collective")


def a_profile_in_markdown(screen):
    """What a CI job shows in its summary."""
    screen.write("p.json", _profile() | {"calls": report_data.calls()})
    screen.crestacoll("report", "p.json", "--format", "markdown")
    screen.crestacoll("report", "p.json", "-o", "p.md")


def refused_formats(screen):
    """What is not written for other programs."""
    data = _profile() | {"timeline": None}
    screen.write("p.json", data)
    screen.write("bench.json", report_data.bench())
    screen.write("io.json", report_data.io())
    screen.crestacoll("report", "p.json", "-o", "p.csv", "--by", "collective")
    screen.crestacoll("report", "p.json", "--format", "markdown", "--json")
    screen.crestacoll("report", "p.json", "--format", "trace")
    screen.crestacoll("report", "p.json", "-o", "trace.json")
    screen.crestacoll("report", "p.json", "bench.json", "--format", "csv")
    screen.crestacoll("report", "io.json", "-o", "io.prom")
    screen.crestacoll("report", "p.json", "p.json", "-o", "p.prom")
    screen.crestacoll("report", "--compare", "p.json", "p.json", "--format", "csv")


def refusals(screen):
    """What report cannot do."""
    screen.write("p.json", _profile())
    screen.write("bench.json", report_data.bench())
    screen.write("broken.json", "{")
    screen.write("other.json", {"schema": "other"})
    screen.crestacoll("report", "p.json", "p.json")
    screen.crestacoll("report", "p.json", "-o", "p.html", "--by", "collective")
    screen.crestacoll("report", "p.json", "-o", "nowhere/p.html")
    screen.crestacoll("report", "bench.json")
    screen.crestacoll("report", "broken.json")
    screen.crestacoll("report", "other.json")
    screen.crestacoll("report", "missing.json")
