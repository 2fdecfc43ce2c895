# SPDX-License-Identifier: BSD-3-Clause
"""What `report` writes of profiles for other programs to read."""

from pathlib import Path

from crestacoll_tools.base.ui import USAGE, Problem
from crestacoll_tools.formats import csv_table, markdown, otf2_archive, prometheus, trace
from crestacoll_tools.report import reportfiles

PAGE = "html"
FORMATS = {"csv": csv_table, "markdown": markdown, "prometheus": prometheus, "trace": trace}
FOLDERS = {"otf2": otf2_archive}
ENDS = {".csv": "csv", ".md": "markdown", ".prom": "prometheus"}
SHORT = ("markdown", "prometheus")  # formats that have the most expensive lines, as the table
PICTURES = (PAGE, "trace", *FOLDERS)  # formats without such lines


def of_name(path):
    """The format that the name of a file asks for: a page, if it says nothing else."""
    end = Path(path).suffix.lower()
    if end == ".json":
        raise Problem(f"-o {path}: say --format trace, or --json={path} for the result", USAGE)
    return ENDS.get(end, PAGE)


def render(form, files, top=None):
    """The text of some profiles; `top`: lines of a table in a format that is SHORT."""
    return FORMATS[form].render(profiles_of(form, files), *([top] if form in SHORT else []))


def write_folder(form, files, output):
    """Some profiles in a format that is a folder."""
    if output == "-":
        raise Problem(f"--format {form} makes a folder: add -o FOLDER", USAGE)
    FOLDERS[form].write(profiles_of(form, files), output)


def profiles_of(form, files):
    """The Sources of profiles, given by their names, or folders of them."""
    sources = []
    for name in files:
        sources += reportfiles.profiles_of(name, f"--format {form}")
    names = [source.name for source in sources]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise Problem(f"{twice} is given twice", USAGE)
    return sources
