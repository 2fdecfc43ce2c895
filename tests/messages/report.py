# SPDX-License-Identifier: BSD-3-Clause
"""Screens of `crestacoll report`."""

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


def a_record_of_mpi_io(screen):
    """Calls of MPI-IO over the time of the run."""
    screen.write("io.json", report_data.io())
    screen.crestacoll("report", "io.json")
    screen.crestacoll("report", "io.json", "--by", "collective")


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
