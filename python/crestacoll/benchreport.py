# SPDX-License-Identifier: BSD-3-Clause
"""Figures 3 and 4 of D4.5.3 for this machine: what `crestacoll bench --plot FILE.html` writes. One
page that needs nothing else: time over bytes of every implementation, and the figures below it.
"""

import datetime
from pathlib import Path

import jinja2
from markupsafe import Markup

from crestacoll import __version__, benchjob, machine, outputs, plots
from crestacoll.sizes import format_size

TEMPLATES = Path(__file__).parent / "templates"


def save(results, path):
    """A plot in the format of its name: an HTML page, or one of matplotlib's (svg, png, pdf)."""
    if Path(path).suffix.lower() == ".html":
        outputs.write_text(path, render(results), errors="backslashreplace")
    else:
        plots.save_bench([r for result in results for r in result.records], path)


def render(results):
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("bench.html.j2").render(
        panels=[panel for result in results for panel in panels_of(result)],
        notes=[note for result in results for note in result.notes],
        verified=not any(result.wrong for result in results),
        machine=machine.sentence(machine.describe()),
        date=datetime.datetime.now().astimezone().isoformat(sep=" ", timespec="minutes"),
        version=__version__,
    )


def panels_of(result):
    for mine in benchjob.panels(result.records):
        names = plots.names_of(mine)
        cells = {(r["bytes"], r["implementation"]): r for r in mine}
        yield {
            "collective": mine[0]["collective"],
            "data": benchjob.data_words(mine[0]),
            "library": " ".join(result.header["mpi_library"].split(",")[0].split()),
            "ranks": mine[0]["ranks"],
            "timing": mine[0]["timing"],
            "samples": samples_of(mine),
            "names": names,
            "svg": Markup(plots.bench_svg(mine)),
            "table": [
                (format_size(size), [cells.get((size, name)) for name in names])
                for size in dict.fromkeys(r["bytes"] for r in mine)
            ],
        }


def samples_of(records):
    least, most = min(r["samples"] for r in records), max(r["samples"] for r in records)
    return str(least) if least == most else f"{least} to {most}"
