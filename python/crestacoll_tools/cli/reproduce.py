# SPDX-License-Identifier: BSD-3-Clause
import os
import sys

import click

from crestacoll_tools.base import outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.ui import CANNOT, WRONG, Problem
from crestacoll_tools.bench import benchjob
from crestacoll_tools.builds import family
from crestacoll_tools.builds.builds import build_for, choose_builds, clean_environment
from crestacoll_tools.cli.run import Job
from crestacoll_tools.launch import supervise
from crestacoll_tools.profile import validation

FIRST = "crestacoll reproducer 1"
EPILOG = """\b
crestacoll run --validate --impl 'alltoall=shm' -- mpirun -n 4 ./app
crestacoll reproduce crestacoll-difference-alltoall-1
crestacoll reproduce FILE --impl p2p:linear
crestacoll reproduce FILE -- mpirun -n 4 --hostfile hosts

\b
The call has the shape, counts, types, operation, root and data that it had in the program, on as
many ranks. Types of the program are described by their bytes. Calls with an operation of the
program cannot be made by another program.

\b
Exit codes: 0 no difference; 1 the results differ again; 2 wrong usage; 125 it could not run."""


def head(path):
    """What the lines before the data say; several settings."""
    found = {"setting": []}
    try:
        with open(path, "rb") as file:
            if file.readline().decode("utf-8", "replace").strip() != FIRST:
                raise Problem(f"{path} is not a file of CRESTA_VALIDATE ({FIRST})", exit_code=2)
            for line in file:
                name, _, text = line.decode("utf-8", "replace").rstrip("\n").partition(" ")
                if name == "part":
                    break
                if name == "setting":
                    found["setting"].append(text)
                else:
                    found[name] = text
    except OSError as e:
        raise Problem(f"cannot read {path}: {e.strerror}", exit_code=2) from e
    missing = {"mpi", "collective", "implementation", "ranks"} - set(found)
    if missing:
        raise Problem(f"{path} does not name its {min(missing)}", exit_code=2)
    return found


def settings_of(data, impl, folder):
    """Those of the run in which the call differed."""
    settings = dict(text.split("=", 1) for text in data["setting"] if "=" in text)
    return validation.complete(
        settings
        | {
            "CRESTA_IMPL": f"{data['collective']}={impl or data['implementation']}",
            "CRESTA_VALIDATE": "1:1",
            "CRESTA_VALIDATE_FILES": validation.NONE,
            "CRESTA_LOADED": str(folder / "loaded"),
        },
        folder,
    )


@click.command(
    "reproduce", short_help="Make one call again that CRESTA_VALIDATE found wrong.", epilog=EPILOG
)
@click.argument("file", type=outputs.Input(), metavar="FILE")
@click.option("--impl", metavar="IMPL", help="Another implementation than that of FILE.")
@click.option("--mpi", "mpi", metavar="NAME", help="Build to use; default: that of FILE's MPI.")
@json_option
@click.argument("launch", nargs=-1, type=outputs.Command(), metavar="[-- LAUNCHER...]")
def command(file, impl, mpi, json_to, launch):
    """Make the call of FILE again, by the implementation that ran it and by the MPI's own call, and
    compare. `crestacoll run --validate` writes such files.
    """
    data = head(file)
    kind = family.family_of_version(data["mpi"])
    build = choose_builds(mpi)[0] if mpi or kind is None else build_for(kind)
    ranks = int(data["ranks"])
    words = list(launch) or benchjob.launch_words(build, ranks)
    words += [*build.words("crestacoll-reproduce"), os.path.abspath(file)]
    job = Job(words, build.family)
    with supervise.scratch_folder() as folder:
        settings = settings_of(data, impl, folder)
        words, more = job.with_settings(settings)
        code = supervise.run(words, clean_environment() | more)
        found = validation.summary(settings)
    tell(data, impl, code, found, json_to)


def tell(data, impl, code, found, json_to):
    """What came out; ends with the right code."""
    if code != 0 or found is None:
        raise Problem("the call did not end" if code else "it was not checked", CANNOT)
    name = f"{data['collective']} by {impl or data['implementation']}"
    if json_to:
        result = {"schema": "crestacoll-reproduce-1", "call": name, "validated": found}
        write_json(result, json_to)
    elif found["differ"]:
        print(f"{name}: it differs again")
    elif found["checked"] == 0:
        print(f"{name}: it was not checked here; a message above says why")
    else:
        print(f"{name}: no difference here: it may depend on calls before it, or on time")
    sys.exit(WRONG if found["differ"] else 0)
