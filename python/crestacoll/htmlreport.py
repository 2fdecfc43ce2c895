# SPDX-License-Identifier: BSD-3-Clause
"""The report of the demo, and how reports are made: one HTML file that needs nothing else."""

from pathlib import Path

import jinja2
from markupsafe import Markup

from crestacoll import demo, machine, plots
from crestacoll.builds import FAMILY_NAMES

TEMPLATES = Path(__file__).parent / "templates"


def environment():
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def render(data):
    env = environment()
    mpis = [
        {
            **m,
            "headline": demo.headline(m["best"]),
            "overlap_lines": [demo.overlap_line(o) for o in m["overlap"]],
            "title": FAMILY_NAMES.get(m["mpi"], m["mpi"]),
            "library": " ".join(m["mpi_library"].split(",")[0].split()),
            "walls": Markup(plots.wall_times(m["variants"])),
            "collectives": (
                Markup(plots.collective_times(m["variants"]))
                if m["variants"][0]["collectives"]
                else ""
            ),
            "keys": m["variants"][0]["collectives"],
        }
        for m in data["mpis"]
    ]
    env.filters["time"] = time
    return env.get_template("report.html.j2").render(
        data=data, mpis=mpis, machine=machine.sentence(data["machine"])
    )


def time(seconds):
    if seconds is None:
        return "–"
    if seconds >= 0.1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.1f} ms"
