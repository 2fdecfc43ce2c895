# SPDX-License-Identifier: BSD-3-Clause
"""What is said of files that cannot be written, or must not be."""

import fcntl
from unittest import mock

import report_data
from crestacoll_tools.explore import state


def full_disk(screen):
    """Nothing is left of the file."""
    screen.write("p.json", report_data.profile())
    screen.crestacoll("report", "p.json", "--json=/dev/full")


def no_folder(screen):
    """Said before anything is measured."""
    screen.crestacoll("bench", "allreduce", "--json=nowhere/b.json")


def inputs_are_no_outputs(screen):
    """A file that is read is not written."""
    screen.write("p.json", report_data.profile())
    screen.crestacoll("report", "p.json", "-o", "p.json")
    screen.crestacoll("run", "--profile", "p.json", "--io", "p.json", "--", "true")
    screen.crestacoll("run", "--profile", "p.json", "--", "./app", "p.json")
    screen.crestacoll("explore", "--json=p.json", "--", "./app", "--input=p.json")


def a_folder_of_another_command(screen):
    """It is locked, or holds an exploration."""
    screen.write("lock", "process 4711 on node7")
    with mock.patch.object(fcntl, "lockf", side_effect=BlockingIOError):
        screen.refused(state.new, ".", ["./app"], {})
    with state.new("other", ["./app"], {}):
        pass
    screen.refused(state.new, "other", ["./app"], {})
    screen.refused(state.resumed, "other", ["./another"])
    screen.refused(state.resumed, "nowhere", ["./app"])


def a_word_that_may_be_both(screen):
    """A value that may be left out is attached."""
    screen.write("p.json", report_data.profile())
    screen.crestacoll("report", "--json", "p.json", "q.json")


def what_is_not_there(screen):
    """A file, a process; and a file that is no text."""
    screen.crestacoll("explain", "nowhere/p.json")
    screen.crestacoll("hang", str(2**31 - 1))
    with open("program", "wb") as file:
        file.write(b"\x7fELF\xe0\xff")
    screen.crestacoll("report", "program")


def a_short_run(screen):
    """Its length is not 0.000 s."""
    screen.write("p.json", report_data.profile() | {"wall_s": 0.000327, "records": []})
    screen.crestacoll("report", "p.json")
