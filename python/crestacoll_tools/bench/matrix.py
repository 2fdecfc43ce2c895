# SPDX-License-Identifier: BSD-3-Clause
"""Figure 1 of D4.5.3: collectives, implementations, languages. For the terminal and as
docs/implementations.md; every Y or N is from a run of `crestacoll check`.
"""


from crestacoll_tools import pages
from crestacoll_tools.base import outputs
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import out, show, table
from crestacoll_tools.bench import verdicts
from crestacoll_tools.builds import machine

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def results(builds, progress):
    """[(build, results)]: what was kept in the build folder if it is of this build, else a run."""
    found = []
    for build in builds:
        data = verdicts.kept(build)
        if data is None:
            with progress(build) as advance:
                data = verdicts.check_models(build, on_progress=advance)
        found.append((build, data))
    return found


def library(data):
    return " ".join(data["mpi"]["library"].split(",")[0].split())


def heading(data, made):
    ranks = " and ".join(map(str, made["ranks"]))
    date = data["date"][:10]
    return f"{data['build']}: {library(data)}, {counted(ranks, 'rank')}, checked {date}"


def show_all(found):
    for build, data in found:
        made = verdicts.table_of(data, build)
        out.print(heading(data, made), style="bold", soft_wrap=True)
        names = [f"{model}\n{language}" for language, model in made["columns"]]
        drawn = table("", *names)
        for collective, cells in made["rows"]:
            drawn.add_row(collective, *(cell_text(*cell) for cell in cells))
        show(drawn)
        for i, note in enumerate(made["notes"], 1):
            out.print(f"{str(i).translate(SUPERSCRIPTS)} {note}", soft_wrap=True)
        out.print()
    out.print(
        "Y: right in every call that was tried; N: not here, or wrong. `crestacoll check` runs it"
        " again.",
        style="dim",
    )


def cell_text(answer, notes):
    return answer + " ".join(map(str, notes)).translate(SUPERSCRIPTS)


def cell_markdown(cell):
    answer, notes = cell
    return f"{answer} <sup>{' '.join(map(str, notes))}</sup>" if notes else answer


def write_markdown(found, path):
    tables = [{"data": d, "library": library(d), **verdicts.table_of(d, b)} for b, d in found]
    text = pages.template("implementations.md.j2", cell=cell_markdown).render(
        tables=tables,
        machine=machine.sentence(found[0][1]["machine"]),
        models=found[0][0].description["models"],
        version=found[0][1]["crestacoll"],
    )
    outputs.write_text(path, text)


def as_json(found):
    tables = []
    for build, data in found:
        made = verdicts.table_of(data, build)
        cells = {
            collective: [
                {"language": language, "implementation": model, "answer": answer, "notes": notes}
                for (language, model), (answer, notes) in zip(made["columns"], row)
            ]
            for collective, row in made["rows"]
        }
        about = {k: data[k] for k in ("build", "mpi", "date", "identity", "machine", "crestacoll")}
        tables.append({**about, "ranks": made["ranks"], "cells": cells, "notes": made["notes"]})
    return {"schema": "crestacoll-table-1", "tables": tables}
