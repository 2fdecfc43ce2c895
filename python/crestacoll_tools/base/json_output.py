# SPDX-License-Identifier: BSD-3-Clause
"""--json of all sub-commands."""

import json
import sys

import click

from crestacoll_tools.base import optional, outputs


def json_option(command):
    """--json[=FILE]: the result as JSON, into FILE or, without one, on standard output instead of
    the text.
    """
    return click.option(
        "--json",
        "json_to",
        cls=optional.Option,
        looks=r".+\.json",
        flag_value="-",
        type=outputs.Output(),
        metavar="[=FILE]",
        help="Write JSON into FILE, or print it instead of the text.",
    )(command)


def write_json(data, to):
    text = json.dumps(data, indent=1) + "\n"
    if to == "-":
        sys.stdout.write(text)
        return
    outputs.write_text(to, text)
