# SPDX-License-Identifier: BSD-3-Clause
import sys

import click

from crestacoll_tools import formats
from crestacoll_tools.base import outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.ui import USAGE, WRONG, Problem, out
from crestacoll_tools.profile import iorecords, mpitime, origin, profiles
from crestacoll_tools.report import reportfiles

TOP = 30  # lines of a table
EPILOG = """\b
crestacoll report p.json
crestacoll report p.json bench.json overlap.json crestacoll-explore -o report.html
crestacoll report p.json --format markdown
crestacoll report --compare old/ new/

\b
Exit codes: 0 fine; 1 --compare: slower; 2 wrong usage; 125 a file cannot be used or written."""


@click.command("report", short_help="Show a profile, or make a page of results.", epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, type=reportfiles.Side(exists=True))
@click.option(
    "-o",
    "--output",
    type=outputs.Output(dir_okay=False),
    help="Write a page of all FILES, which needs no other file, or what --format names.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([formats.PAGE, *formats.FORMATS, *formats.FOLDERS]),
    help="What -o writes; by default by the end of its name, or html. Without -o: print it.",
)
@click.option(
    "--all", "everything", is_flag=True, help="All lines, not only the 30 most expensive."
)
@click.option(
    "--by",
    type=click.Choice(["collective", "communicator", "implementation"]),
    help="One line for each collective, communicator or implementation.",
)
@click.option(
    "--compare",
    "old",
    multiple=True,
    type=reportfiles.Side(exists=True),
    metavar="OLD",
    help="Show what changed from OLD to FILES; can be given again.",
)
@json_option
def command(files, output, form, everything, by, old, json_to):
    """Show a profile that `crestacoll run --profile FILE` (or CRESTA_PROFILE=FILE) wrote, or a
    record of MPI-IO (`crestacoll run --io FILE`, CRESTA_IO=FILE).

    It begins with where the time goes, and calls by their place; then come the collectives.

    With -o the result is a page, with pictures of all FILES: profiles, records of MPI-IO, what
    `crestacoll bench`, `overlap` and `explore` wrote by --json, and explorations (their folders).
    Other formats, and --compare, take profiles, or folders of them. --compare shows what changed
    between several runs each, by collective and by place, and how surely.
    """
    if old:
        if output or form or by:
            raise Problem("--compare takes no -o, no --format and no --by", USAGE)
        compare_sides([old, files], everything, json_to)
        return
    if output or form:
        form = form or formats.of_name(output)
        if by or json_to or everything and form in formats.PICTURES:
            also = "--all, " if form in formats.PICTURES else ""
            raise Problem(f"--format {form} takes no {also}--by or --json", USAGE)
        write(form, files, output or "-", None if everything else TOP)
        return
    if len(files) > 1:
        raise Problem("a table is of one profile; for several files add -o report.html", USAGE)
    source = reportfiles.read(files[0])
    if source.kind == "io":
        if by:
            raise Problem(f"{files[0]} is a record of MPI-IO: it takes no --by", USAGE)
        show_io(source.data, json_to)
        return
    data = one_profile(source)
    if json_to:
        write_json(as_json(files[0], data, by), json_to)
    elif by:
        show_sums(data, by)
    else:
        mpitime.show(data, None if everything else TOP)


def compare_sides(sides, everything, json_to):
    from crestacoll_tools.profile import compare

    sides = [sum(map(reportfiles.profiles_of, side), []) for side in sides]
    compare.need_alike(sides)
    lines = compare.compare(*([source.data for source in side] for side in sides))
    if json_to:
        write_json(compare.as_json(sides, lines), json_to)
    else:
        compare.show(sides, lines, None if everything else 10)
    if compare.verdict(lines)[0] == compare.SLOWER:
        sys.exit(WRONG)


def show_io(data, json_to):
    """The record as it is for --json: its file has all that there is."""
    if json_to:
        write_json(data, json_to)
    else:
        iorecords.show(data)


def one_profile(source):
    if source.kind != "profile":
        raise Problem(f"{source.name} is {source.what}: add -o report.html for a page", USAGE)
    return source.data


def as_json(file, data, by):
    keys = (by,) if by else ("collective", "communicator", "implementation")
    return {
        "schema": "crestacoll-report-1",
        "file": file,
        "ranks": data["ranks"],
        "wall_s": data["wall_s"],
        "collectives_us": profiles.total_us(data),
        "sums": profiles.sums(data, keys),
        **(mpitime.as_json(data) if "calls" in data else {}),
        **(origin.as_json(data) if "origin" in data else {}),
    }


def write(form, files, output, top):
    """A page, or what other programs read."""
    if form in formats.FOLDERS:
        formats.write_folder(form, files, output)
        out.print(f"report: {output}", soft_wrap=True)
        return
    if form == formats.PAGE:
        sources = [reportfiles.read(file) for file in files]
        from crestacoll_tools.report import reportpage

        text = reportpage.render(sources)
    else:
        text = formats.render(form, files, top)
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if output == "-":
        sys.stdout.write(text)
        return
    outputs.write_text(output, text)
    out.print(f"report: {output}", soft_wrap=True)


def show_sums(data, by):
    from crestacoll_tools.base.text import word
    from crestacoll_tools.base.ui import show, table

    made = table(by, ">calls", ">time", ">waiting", ">of wall")
    for group in profiles.sums(data, (by,)):
        made.add_row(
            word(group[by]) or "-",
            str(group["calls"]),
            profiles.seconds(group["mean_us"]),
            profiles.seconds(group["wait_us"]),
            profiles.percent(group["mean_us"], data["wall_s"] * 1e6),
        )
    show(made)
