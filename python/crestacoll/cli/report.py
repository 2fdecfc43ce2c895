# SPDX-License-Identifier: BSD-3-Clause
import click

from crestacoll import iorecords, mpitime, outputs, profiles, reportfiles
from crestacoll.ui import USAGE, Problem, json_option, out, write_json

EPILOG = """\b
crestacoll report p.json
crestacoll report p.json bench.json overlap.json crestacoll-explore -o report.html

\b
Exit codes: 0 fine; 2 wrong usage; 125 a file is none of these, or cannot be read or written."""


@click.command("report", short_help="Show a profile, or make a page of results.", epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, type=outputs.Input(exists=True))
@click.option(
    "-o",
    "--output",
    type=outputs.Output(dir_okay=False),
    help="Write one HTML page of all FILES; it needs no other file.",
)
@click.option(
    "--all", "everything", is_flag=True, help="All lines, not only the 30 most expensive."
)
@click.option(
    "--by",
    type=click.Choice(["collective", "communicator", "implementation"]),
    help="One line for each collective, communicator or implementation.",
)
@json_option
def command(files, output, everything, by, json_to):
    """Show a profile that `crestacoll run --profile FILE` (or CRESTA_PROFILE=FILE) wrote, or a
    record of MPI-IO (`crestacoll run --io FILE`, CRESTA_IO=FILE).

    Each line is one collective, communicator, size class and implementation, with its calls, time,
    time spent waiting for the last rank, and share of the program's run time.

    With -o the result is a page, with pictures: where the time goes, by collective, size,
    communicator and over the time of the run, for each profile among FILES; calls and MB/s over
    the time of the run for each record of MPI-IO; the times of
    implementations and their overlap with computation, for files that `crestacoll bench`,
    `overlap` and `explore` wrote by --json; and explorations (their folders). --all, --by and
    --json are for the table of one profile.
    """
    if output:
        if everything or by or json_to:
            raise Problem("-o makes a page: it takes no --all, --by or --json", USAGE)
        write_page(files, output)
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
        mpitime.show(data, None if everything else 30)


def show_io(data, json_to):
    """The record as it is for --json: its file has all that there is."""
    if json_to:
        write_json(data, json_to)
    else:
        iorecords.show(data)


def one_profile(source):
    if source.kind != "profile":
        told = f"{source.name} is a result of {source.kind}"
        raise Problem(f"{told}: add -o report.html for a page", USAGE)
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
    }


def write_page(files, output):
    sources = [reportfiles.read(file) for file in files]
    from crestacoll import reportpage

    text = reportpage.render(sources)
    outputs.write_text(output, text, errors="backslashreplace")
    out.print(f"report: {output}", soft_wrap=True)


def show_sums(data, by):
    from crestacoll.ui import show, table, word

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
