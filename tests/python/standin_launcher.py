#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for srun, flux run, aprun and jsrun: records its arguments and its own environment, and
starts the program on so many ranks, in the environment that its options describe.

    STANDIN_LAUNCH   words that start ranks of the MPI, such as "mpiexec.mpich"
    STANDIN_RECORD   file for the record, as JSON
"""

import json
import os
import shlex
import string
import sys
from pathlib import Path


def exported(rules, environment):
    """--export of srun: ALL, NAME, NAME=VALUE; no value has a comma (srun(1))."""
    items = rules.split(",")
    found = dict(environment) if "ALL" in items else {}
    for item in items:
        name, assigned, value = item.partition("=")
        if assigned:
            found[name] = value
        elif name in environment:
            found[name] = environment[name]
    return found


def ruled(rule, found):
    """--env of flux: -* takes all away, NAME=VALUE with $NAME in it (flux-run(1))."""
    if rule == "-*":
        return {}
    name, _, value = rule.partition("=")
    return {**found, name: string.Template(value).substitute(found)}


def read(words):
    """(number of ranks, environment, program and arguments)"""
    name = Path(words[0]).name
    environment, ranks, rest = dict(os.environ), "1", words[1:]
    if name == "flux":
        assert rest.pop(0) == "run", "only flux run"
    while rest and rest[0].startswith("-"):
        option, _, value = rest.pop(0).partition("=")
        if option == "--":
            break
        value = value or rest.pop(0)
        if option == "-n":
            ranks = value
        elif option == "--export":
            environment = exported(value, environment)
        elif option == "--env":
            environment = ruled(value, environment)
        elif option in ("-e", "-E"):
            environment |= dict([value.split("=", 1)])
        else:
            sys.exit(f"{name}: unknown option {option}")
    return ranks, environment, rest


def main():
    ranks, environment, program = read(sys.argv)
    record = {"arguments": sys.argv[1:], "environment": dict(os.environ)}
    Path(os.environ["STANDIN_RECORD"]).write_text(json.dumps(record), encoding="utf-8")
    keep = ("PATH", "HOME", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    given = [f"{k}={v}" for k, v in environment.items() if k != "_"]
    os.execvpe(
        shlex.split(os.environ["STANDIN_LAUNCH"])[0],
        [*shlex.split(os.environ["STANDIN_LAUNCH"]), "-n", ranks, "env", *given, *program],
        {k: v for k, v in os.environ.items() if k in keep},
    )


if __name__ == "__main__":
    main()
