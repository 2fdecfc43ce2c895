# SPDX-License-Identifier: BSD-3-Clause
"""How reports are made: one HTML file that needs nothing else."""

from pathlib import Path

import jinja2

TEMPLATES = Path(__file__).parent / "templates"


def environment():
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
