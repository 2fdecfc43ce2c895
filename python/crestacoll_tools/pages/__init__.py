# SPDX-License-Identifier: BSD-3-Clause
"""Pages that need nothing else, from templates: HTML and Markdown."""

from pathlib import Path

FOLDER = Path(__file__).parent / "templates"


def template(name, **filters):
    """A template of jinja; `filters` are what it may call."""
    import jinja2

    is_html = name.endswith(".html.j2")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=is_html,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not is_html,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(filters)
    return environment.get_template(name)
