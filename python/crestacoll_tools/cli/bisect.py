# SPDX-License-Identifier: BSD-3-Clause
import functools
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import click

from crestacoll_tools.base import outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.text import visible
from crestacoll_tools.base.ui import WRONG, Problem
from crestacoll_tools.bisect import answers, candidates, job as jobs
from crestacoll_tools.cli.run import Job
from crestacoll_tools.explore import runs
from crestacoll_tools.rules.rulesources import default_choice, tuning_settings

EPILOG = """\b
crestacoll bisect --impl '*=shm' -- mpirun -n 4 ./app input.dat
crestacoll bisect --check './compare reference.dat result.dat' -- mpirun -n 4 ./app
crestacoll bisect --force allreduce=ring --ignore 'elapsed' -- mpirun -n 4 ./app

\b
Candidates are what crestacoll chooses (--impl, --tuning, CRESTA_ variables; default: auto), for
each collective, power of two of bytes and communicator; and the variables in your shell, or of
--force, that choose algorithms within the MPI: OMPI_MCA_coll_tuned_..., MPIR_CVAR_..._ALGORITHM,
I_MPI_ADJUST_... With N candidates there are at most 3 + log2(N) runs, rounded up: two without them,
one with all, and those that halve what is left; the program itself is a suspect, too. If it
fails --check without any setting, the MPI's own calls are the candidates.

\b
Exit codes: 0 no setting is to blame; 1 one is, or the program itself; 2 wrong usage; 125 it could
not run."""


def patterns(ctx, param, values):
    for text in values:
        try:
            re.compile(text)
        except re.error as e:
            raise click.BadParameter(f"'{text}': {e}") from e
    return values


@click.command(
    "bisect",
    short_help="Find the setting that changes a program's answer.",
    epilog=EPILOG,
    context_settings={"allow_interspersed_args": False},
)
@click.option(
    "--impl",
    type=outputs.Rules(),
    metavar="SPEC",
    help="Rules to examine, as in `crestacoll run`.",
)
@click.option("--tuning", type=outputs.Tuning(), metavar="FILE", help="Tuning file to examine.")
@click.option(
    "--force",
    multiple=True,
    metavar="COLL=ALG",
    help="An algorithm of the MPI to examine (Open MPI, MPICH); several times.",
)
@click.option(
    "--check",
    metavar="CMD",
    help=(
        "Shell command that ends with 0 if a run was right; it finds the run's standard output in"
        " the file $CRESTACOLL_OUTPUT. Default: a run is right if it prints what it prints without"
        " the settings."
    ),
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=0.0,
    metavar="REL",
    help="Numbers that differ by less, relative to the larger one, are the same.",
)
@click.option(
    "--ignore",
    multiple=True,
    callback=patterns,
    metavar="REGEX",
    help="Lines that do not count, such as those with times; several times.",
)
@click.option("--mpi", metavar="NAME", help="MPI family, if crestacoll cannot detect it.")
@click.option(
    "--output", type=click.Path(), metavar="DIR", help="Keep the output of all runs in DIR."
)
@json_option
@click.argument("command", nargs=-1, type=outputs.Command(), required=True, metavar="-- COMMAND...")
def command(impl, tuning, force, check, tolerance, ignore, mpi, output, json_to, command):
    """Find, in few runs, the collective, implementation and size that change what a program prints,
    or make it crash.
    """
    job = Job(command, mpi)
    if job.misfit():
        raise Problem(job.misfit())
    folder = folder_for(output)
    say = functools.partial(print, file=sys.stderr if json_to == "-" else sys.stdout, flush=True)
    try:
        judge = answers.Judge(check, tolerance, ignore)
        forcing, switches = variables(job, force)
        chosen = settings(impl, tuning, bool(forcing))
        with runs.interruptible():
            made = jobs.Runs(job, judge, folder, chosen, forcing, switches, say)
            found = jobs.blame(made)
    except runs.Interrupted as e:
        sys.exit(128 + e.number)
    finally:
        if output is None:
            shutil.rmtree(folder, ignore_errors=True)
    say(visible(sentence(found)))
    if json_to:
        write_json({"schema": "crestacoll-bisect-1", **found, "runs": made.done}, json_to)
    sys.exit(0 if found["verdict"] == "no_setting" else WRONG)


def folder_for(output):
    """A new one; of a relative name all ranks must find it, wherever they run."""
    if output is None:
        return Path(tempfile.mkdtemp(prefix=".crestacoll-", dir=os.getcwd()))
    path = Path(output).absolute()
    if path.exists() and any(path.iterdir()):
        raise Problem(f"--output {output}: it exists and is not empty", exit_code=2)
    path.mkdir(parents=True, exist_ok=True)
    return path


def variables(job, force):
    """Those that force algorithms of the MPI, of the shell and of --force, and their switches."""
    forcing, switches = candidates.variables_of(os.environ)
    more = candidates.forced(job.build, force, ranks=0) if force else {}
    new, new_switches = candidates.variables_of(more)
    return forcing | new, switches | new_switches


def settings(impl, tuning, forces):
    """CRESTA_IMPL and CRESTA_TUNING to examine. Without a word, `auto`; nothing of crestacoll if
    algorithms of the MPI are forced.
    """
    found = {}
    given = impl if impl is not None else os.environ.get("CRESTA_IMPL")
    if given:
        found["CRESTA_IMPL"] = given
    found |= tuning_settings(tuning, os.environ.get("CRESTA_TUNING", ""))
    return found if forces else default_choice(found)


UNSURE = (
    "Or the program itself, for every run of the search was wrong: if it is still wrong with that"
    " avoided, it does not repeat its own answer (--ignore leaves out lines with times, --tolerance"
    " takes near numbers as the same)."
)


def sentence(found):
    """How it ends."""
    if found["verdict"] == "no_setting":
        return "No setting is to blame: with all of them the program gives the right answer."
    if found["verdict"] == "program":
        return (
            "No setting is to blame: a run without any of them was wrong, too. The program does not"
            " repeat its own answer, or its check fails for another reason. If it prints times,"
            " leave them out with --ignore; if it sums in an order that varies, use --tolerance."
        )
    if found["verdict"] == "plain_fails":
        return f"The program fails without any setting: {found['why']}\n{found['said']}"
    whose = "the MPI's own call" if found.get("mpi") else "this setting"
    said = f"To blame is {whose}: {found['setting']}; to avoid it: {found['remedy']}."
    return f"{said} {UNSURE}" if found["or_program"] else said
