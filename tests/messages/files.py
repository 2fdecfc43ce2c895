# SPDX-License-Identifier: BSD-3-Clause
"""What is said of files that cannot be written, or must not be."""

import report_data


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


def a_word_that_may_be_both(screen):
    """A value that may be left out is attached."""
    screen.write("p.json", report_data.profile())
    screen.crestacoll("report", "--json", "p.json", "q.json")
