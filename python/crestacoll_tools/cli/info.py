# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import subprocess
from pathlib import Path

import click

from crestacoll import __version__, _wheel
from crestacoll_tools.base import optional, outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.ui import TEXT, WRONG, Problem, out, show, table
from crestacoll_tools.bench import benchjob, jobnodes, matrix, options
from crestacoll_tools.builds import installed, machine
from crestacoll_tools.builds.builds import (
    FAMILY_NAMES,
    ROOT,
    algorithm_label,
    all_builds,
    need_builds,
    nothing,
)
from crestacoll_tools.builds.family import family_of_launcher
from crestacoll_tools.cli.check import progress_bar

TRIED_ON = 2  # ranks: what a launcher starts by itself is one rank, or one for each core


@click.command("info", short_help="List MPIs, builds, implementations, environment variables.")
@click.option("--env", "only_env", is_flag=True, help="Only the environment variables.")
@click.option(
    "--no-run", is_flag=True, help="Start no job: neither try implementations nor find nodes."
)
@click.option(
    "-n",
    "--ranks",
    type=click.IntRange(1),
    metavar="N",
    callback=options.refuse_crowd,
    default=TRIED_ON,
    show_default=True,
    help="Ranks of the job that is asked for its nodes.",
)
@options.crowded
@click.option(
    "--table",
    "table_to",
    cls=optional.Option,
    looks=r".+\.md",
    flag_value="-",
    type=outputs.Output(),
    metavar="[=FILE.md]",
    help=(
        "Only the table of collectives, implementations and languages, for each MPI that is built;"
        " as Markdown into FILE.md."
    ),
)
@json_option
def command(only_env, no_run, ranks, table_to, json_to):
    """List MPIs, builds, implementations and whether each works, and environment variables.

    For each build, a job shows on how many nodes the library finds its ranks.

    --table prints which implementation of which collective is correct when called from Fortran and
    from C. It uses the last results of `crestacoll check`, which are kept in the build folder. If
    there are none for this build, the check runs first, which takes minutes.

    An implementation counts as working when a short run of all collectives on two ranks gives the
    MPI's own results. The exit code is 1 if something that is built does not work, or if the job
    that is asked for its nodes fails.
    """
    if table_to:
        print_table(table_to, json_to)
        return
    data = {
        "schema": "crestacoll-info-1",
        "crestacoll": __version__,
        "root": str(_wheel.LIB.parent if _wheel.is_wheel() else ROOT),
        "machine": machine.describe(),
    }
    data["environment"] = environment()
    if not only_env:
        data["mpis"] = found_mpis()
        data["builds"] = [about_build(b, not no_run, ranks) for b in all_builds()]
    if json_to:
        write_json(data, json_to)
    if json_to != "-":
        print_all(data)
    found = list(broken(data.get("builds", [])))
    if found:
        raise Problem("built, but does not work: " + "; ".join(found), WRONG)


def print_all(data):
    if "builds" in data:
        print_mpis(data)
        for build in data["builds"]:
            print_build(build)
        print_all_algorithms(data["builds"])
    print_environment(data["environment"])


def print_table(to, json_to):
    found = matrix.results(need_builds(), lambda build: progress_bar(build.name, None))
    if to != "-":
        matrix.write_markdown(found, to)
    elif json_to != "-":
        matrix.show_all(found)
    if json_to:
        write_json(matrix.as_json(found), json_to)


def environment():
    """Every variable with its value here; the table comes from the library."""
    builds = all_builds()
    rows = builds[0].description["environment"] if builds else []
    names = [
        (r["name"] if r["name"].startswith("CRESTA_") else "CRESTA_" + r["name"]) for r in rows
    ]
    return [{**r, "name": n, "value": os.environ.get(n)} for r, n in zip(rows, names)]


def found_mpis():
    """Compiler wrappers and launchers on PATH, one entry for each MPI."""
    found = {}
    for folder in dict.fromkeys(os.get_exec_path()):
        for path in sorted(Path(folder).glob("mpi*")) if os.path.isdir(folder) else []:
            if re.fullmatch(r"mpi(run|exec)([._-](hydra|openmpi|mpich|intel))?", path.name):
                found.setdefault(os.path.realpath(path), str(path))
    mpis = {}
    for real, path in found.items():
        family = family_of_launcher(path)
        if family:
            entry = mpis.setdefault(
                (family, version_of(path)),
                {"family": family, "version": version_of(path), "launchers": []},
            )
            entry["launchers"].append(path)
    built = {b.family for b in all_builds()}
    return [{**m, "built": m["family"] in built} for m in mpis.values()]


def version_of(launcher):
    done = subprocess.run(
        [launcher, "--version"], capture_output=True, **TEXT, timeout=20, check=False
    )
    found = re.search(r"\d+\.\d+(\.\d+)?\w*", done.stdout)
    return found[0] if found else ""


def about_build(build, run_jobs, ranks):
    d = build.description
    models = [dict(m) for m in d["models"]]
    if run_jobs:
        try_models(build, models)
    return {
        "name": build.name,
        "folder": str(build.folder),
        "mpi": d["mpi"],
        "preload": str(build.preload),
        "preload_exists": build.preload.exists(),
        "launcher": build.cache.get("MPIEXEC_EXECUTABLE"),
        "compilers": {
            k: build.cache.get(f"MPI_{v}_COMPILER") for k, v in (("c", "C"), ("fortran", "Fortran"))
        },
        "collectives": d["collectives"],
        "default_impl": d.get("default_impl", ""),
        "auto": d["auto"],
        "job": jobnodes.of_job(build, ranks) if run_jobs else None,
        "models": models,
    }


NEIGHBOURS = ["--topology", "random:1"]
LIMIT = 60.0  # seconds of a job, after which it is ended


def try_models(build, models):
    """A run of each that says it works: one sample, two ranks. What fails gets a reason. All are in
    one job; only if that does not come to its end has each a job of its own.
    """
    built = [m for m in models if m["works"]]
    names = [m["name"] for m in built]
    try:
        results = try_jobs(build, names)
        failures = {name: failure(results, name) for name in names}
    except Problem:
        failures = {name: failure_alone(build, name) for name in names}
    for model in built:
        model["tried"] = True
        if failures[model["name"]]:
            model["works"], model["why"] = False, failures[model["name"]]


def try_jobs(build, names):
    """The results of two jobs: collectives of all ranks, and those of neighbours."""
    near = [c for c in build.collectives if c not in build.measured]
    jobs = [(build.measured, []), *([(near, NEIGHBOURS)] if near else [])]
    plans = [
        benchjob.Plan(collectives, names, [8], TRIED_ON, samples=1, budget=20, options=options)
        for collectives, options in jobs
    ]
    return [benchjob.run(build, plan, limit=LIMIT) for plan in plans]


def failure_alone(build, name):
    try:
        return failure(try_jobs(build, list(dict.fromkeys(["mpi", name]))), name)
    except Problem as e:
        return str(e.message)


def failure(results, name):
    """Why a model does not work, from the results of jobs that tried it; None if it does."""
    records = [r for result in results for r in result.records if r["implementation"] == name]
    wrong = sorted({r["collective"] for r in records if not r["verified"]})
    if wrong:
        return f"wrong results of {', '.join(wrong)}"
    notes = [n["text"] for r in results for n in r.notes if n["about"].split()[0] == name]
    return None if records else "; ".join(dict.fromkeys(notes)) or "it did not run"


def broken(builds):
    """What is built and does not work, a sentence each."""
    for build in builds:
        if not build["preload_exists"]:
            yield f"{build['name']}: {build['preload']} is missing"
        if (build["job"] or {}).get("failed"):
            yield f"{build['name']}: a job of {build['job']['failed']}: {build['job']['why']}"
        for model in build["models"]:
            if model.get("tried") and not model["works"]:
                yield f"{build['name']}: {model['name']}: {model['why']}"


def print_mpis(data):
    out.print(f"crestacoll {__version__} in {data['root']}", style="bold", soft_wrap=True)
    out.print(machine.sentence(data["machine"]) + "\n", soft_wrap=True)
    made = table("MPI", "version", "build", "launchers", title="MPIs found")
    for m in data["mpis"]:
        made.add_row(
            FAMILY_NAMES[m["family"]],
            m["version"],
            "yes" if m["built"] else "no",
            " ".join(m["launchers"]),
        )
    show(made)
    if not data["builds"]:
        out.print(nothing(), style="yellow", soft_wrap=True)
    for _, why in installed.misfits() if _wheel.is_wheel() and data["builds"] else []:
        out.print(why, style="yellow", soft_wrap=True)


def print_build(build):
    library = " ".join(build["mpi"]["library"].split(",")[0].split())
    out.print(f"\nbuild {build['name']}", style="bold", end="")
    out.print(f": {library}, MPI {build['mpi']['standard']}, {build['folder']}", soft_wrap=True)
    compilers = ", ".join(f"{k} {v}" for k, v in build["compilers"].items() if v)
    made_by = "" if _wheel.is_wheel() else f"compilers {compilers or 'unknown'}; "
    out.print(f"{made_by}launcher {build['launcher'] or 'unknown'}", soft_wrap=True)
    if build["job"]:
        out.print(f"a job here: {jobnodes.sentence(build['job'])}", soft_wrap=True)
    if build["default_impl"]:
        out.print(f"built-in choice: {build['default_impl']}", soft_wrap=True)
    made = table("implementation", "works here", "otherwise", "split-phase", "what it is")
    for m in build["models"]:
        works = "yes" if m["works"] else f"no: {m['why']}"
        made.add_row(
            m["name"],
            works + ("" if m.get("tried") or not m["works"] else " (not tried)"),
            m["below"],
            m["begins"] + mark_of(m),
            m["doc"],
            style="" if m["works"] else "yellow",
        )
    show(made)
    out.print(f"auto is {', '.join(build['auto'])}; otherwise mpi")
    out.print(
        "* with a progress thread (CRESTA_ASYNC), + and MPI_THREAD_MULTIPLE; else nonblock",
        soft_wrap=True,
    )
    for m in build["models"]:
        if m["begins_why"]:
            out.print(f"{m['name']} begins as {m['begins']}: {m['begins_why']}", soft_wrap=True)


def mark_of(model):
    """What it takes for begins of a model not to be nonblock."""
    if model["begins"] == "nonblock":
        return ""
    return " *+" if model["begins_level"] else " *"


def print_all_algorithms(builds):
    """Equal ones once: builds of one checkout have the same, and so have several models."""
    models = {m["name"]: m for build in builds for m in build["models"]}
    for m in models.values():
        if m.get("options"):
            print_options(m)
    shown = []
    for m in models.values():
        if m["algorithms"] and m["algorithms"] not in shown:
            shown.append(m["algorithms"])
            print_algorithms(
                [n["name"] for n in models.values() if n["algorithms"] == m["algorithms"]],
                m["algorithms"],
            )


def print_options(model):
    out.print(f"\noptions of {model['name']}", style="bold")
    made = table("name", "default", "limits", "what it is")
    for p in model["options"]:
        made.add_row(p["name"], *value_of(p), p["help"])
    show(made)


def print_algorithms(models, algorithms):
    out.print(f"\nalgorithms of {', '.join(models)}", style="bold")
    out.print(
        f"in rules COLLECTIVE={models[0]}:ALGORITHM, or {models[0]} alone for a choice by size",
        soft_wrap=True,
    )
    made = table("collective", "algorithms")
    for collective, rows in algorithms.items():
        made.add_row(collective, ", ".join(algorithm_label(a) for a in rows))
    show(made)
    out.print("\nparameters", style="bold")
    made = table("name", "default", "limits", "what it is", "of")
    for (name, default, limits, text), owners in parameters(algorithms).items():
        made.add_row(name, default, limits, text, ", ".join(owners))
    show(made)


def parameters(algorithms):
    """(name, default, limits, help) -> who has it: many are the same everywhere."""
    found = {}
    for collective, rows in algorithms.items():
        for a in rows:
            for p in a["params"]:
                key = (p["name"], *value_of(p), p["help"])
                found.setdefault(key, []).append(f"{collective} {a['name']}")
    return found


def value_of(p):
    """Default and limits of a parameter, as words."""
    names, low, high = p["names"], format_size(p["min"]), format_size(p["max"])
    default = names[p["default"]] if names else format_size(p["default"])
    return default, "|".join(names) if names else f"{low} to {high}"


def print_environment(rows):
    out.print("\nenvironment variables", style="bold")
    made = table("name", "default", "set to", "what it does")
    for r in rows:
        made.add_row(
            r["name"],
            str(r["default"]) or "-",
            "-" if r["value"] is None else r["value"],
            r["help"],
        )
    show(made)
    free = ", ".join(r["name"] for r in rows if not r["equal"])
    out.print(
        f"They must be equal on all ranks, except {free}. CRESTA_IMPL overrides CRESTA_Set_impl.",
        style="dim",
        soft_wrap=True,
    )
