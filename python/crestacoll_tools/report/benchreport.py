# SPDX-License-Identifier: BSD-3-Clause
"""Figures 3 and 4 of D4.5.3 for this machine: what `crestacoll bench --plot FILE.html` writes. One
page that needs nothing else: time over bytes of every implementation, and the figures below it.
"""

import datetime
from pathlib import Path

from markupsafe import Markup

from crestacoll import __version__
from crestacoll_tools import pages
from crestacoll_tools.base import outputs
from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.bench import benchjob, benchplots
from crestacoll_tools.builds import machine
from crestacoll_tools.pages import plots


def save(results, path):
    """A plot in the format of its name: an HTML page, or one of matplotlib's (svg, png, pdf)."""
    if Path(path).suffix.lower() == ".html":
        outputs.write_text(path, render(results), errors="backslashreplace")
    else:
        benchplots.save_bench([r for result in results for r in result.records], path)


def render(results):
    return pages.template("bench.html.j2").render(
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
            "svg": Markup(benchplots.bench_svg(mine)),
            "table": [
                (format_size(size), [cells.get((size, name)) for name in names])
                for size in dict.fromkeys(r["bytes"] for r in mine)
            ],
        }


def samples_of(records):
    least, most = min(r["samples"] for r in records), max(r["samples"] for r in records)
    return str(least) if least == most else f"{least} to {most}"
