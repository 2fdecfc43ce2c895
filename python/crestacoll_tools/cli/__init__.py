# SPDX-License-Identifier: BSD-3-Clause
"""The sub-commands: every module of this folder is one, found by itself. Its `command` is the
click command.
"""

import importlib
import os
import pkgutil
import sys

import click

from crestacoll import __version__
from crestacoll_tools.base.optional import Group

ORDER = ["explore", "run", "report", "bench", "overlap", "harness", "check", "explain", "info"]
ORDER += ["bisect", "reproduce", "hang", "place", "simulate", "demo", "tune", "tuning", "overhead"]
ORDER += ["atomics", "threads", "peers", "help"]


class SubCommands(Group):
    """Loads a sub-command's module only when it is used, so that `crestacoll run` starts fast."""

    def list_commands(self, ctx):
        names = [m.name for m in pkgutil.iter_modules(__path__)]
        return sorted(names, key=lambda n: (ORDER.index(n) if n in ORDER else len(ORDER), n))

    def get_command(self, ctx, name):
        if name not in self.list_commands(ctx):
            return None
        return importlib.import_module(f"crestacoll_tools.cli.{name}").command


EPILOG = """\b
Exit codes: 0 fine; 1 a result was wrong or a check failed; 2 wrong usage;
125 crestacoll could not run. `crestacoll run` returns the exit code of the
program: see `crestacoll help run`."""


@click.command(
    cls=SubCommands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EPILOG,
)
@click.version_option(__version__, prog_name="crestacoll")
@click.pass_context
def main(ctx):
    """Choose and measure the MPI collectives of a program, without changing the program.

    \b
    crestacoll explore -- mpirun -n 2 ./app
    crestacoll run --impl 'alltoall=nonblock' -- mpirun -n 2 ./app
    crestacoll run --profile p.json -- mpirun -n 2 ./app;  crestacoll report p.json
    crestacoll bench allreduce,alltoall -n 2 --impl all --sizes 8:64K:x8
    crestacoll check
    crestacoll explain alltoall --bytes 4K -n 7
    crestacoll info
    """
    from crestacoll_tools.base.ui import reconfigure

    reconfigure()
    if ctx.invoked_subcommand not in ("run", "info") and os.environ.pop("CRESTA_OFF", "") == "1":
        print("crestacoll: CRESTA_OFF=1 is left out: it is for run", file=sys.stderr)
