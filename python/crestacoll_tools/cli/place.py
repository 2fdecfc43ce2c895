# SPDX-License-Identifier: BSD-3-Clause
import click

from crestacoll_tools.base import outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.ui import USAGE, Problem, out
from crestacoll_tools.bench import options
from crestacoll_tools.launch import hosts as hosts_of
from crestacoll_tools.place import files, traffic
from crestacoll_tools.profile import profiles

EPILOG = """\b
crestacoll place --profile p.json --hosts 4x16
crestacoll place --profile p.json --hostfile hosts --output placed

\b
Exit codes: 0 fine, also if nothing is gained; 2 wrong usage; 125 a file cannot be used, or the
hosts have too few slots."""


@click.command("place", short_help="Find the nodes on which ranks should run.", epilog=EPILOG)
@click.option(
    "--profile",
    "file",
    required=True,
    type=outputs.Input(exists=True, dir_okay=False),
    help="What `crestacoll run --profile FILE` wrote.",
)
@click.option(
    "--hosts",
    metavar="LIST",
    help="Hosts times ranks on each, in the order of the job: 4x16, or 2x16,1x8.",
)
@click.option(
    "--hostfile",
    type=outputs.Input(exists=True, dir_okay=False),
    help="Hosts with names: lines NAME slots=16, NAME:16, or NAME for each rank.",
)
@options.folder("crestacoll-place", "Folder for the files that launchers read.", files.NAMES)
@json_option
def command(file, hosts, hostfile, output, json_to):
    """Find an order of the ranks that keeps most bytes inside nodes, from the communicators and
    bytes of a profile.

    It assumes that ranks now fill the hosts in the order of their numbers. The table shows the
    bytes that cross between nodes before and after, estimated from what each collective has to
    send. DIR gets files for the launchers of Open MPI, MPICH, Slurm and Cray, and a README with the
    commands that use them. The program and its results stay the same. If nothing is gained, the
    files keep the present order.
    """
    if (hosts is None) == (hostfile is None):
        raise Problem("expected either --hosts LIST or --hostfile FILE", USAGE)
    found = hosts_of.of_words(hosts) if hosts else hosts_of.of_file(hostfile)
    talk = traffic.of_profile(profiles.load(file), file)
    sizes = hosts_of.sizes(found, talk.ranks, file)
    from crestacoll_tools.place import outcome

    placement, data = outcome.compare(talk, sizes)
    uses = files.write(output, found, placement)
    data = {"schema": "crestacoll-place-1", "file": file, "folder": output} | data
    data["hosts"] = [
        {"name": found[node].name, "ranks": ranks}
        for node, ranks in files.ranks_on(placement).items()
    ]
    data["launchers"] = uses
    if json_to:
        write_json(data, json_to)
    if json_to != "-":
        outcome.show_outcome(data)
        for line in [f"wrote {output}:", *files.lines_of(uses), *files.caution(found)]:
            out.print(line, soft_wrap=True)
