# SPDX-License-Identifier: BSD-3-Clause
"""JSON schemas of everything that crestacoll writes into files."""

import functools
import json
from pathlib import Path


@functools.cache
def schema(name):
    return json.loads((Path(__file__).parent / f"{name}.schema.json").read_text(encoding="utf-8"))


def problems(name, data):
    """What is wrong with `data`, one line each; nothing if it follows the schema."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema(name))
    return [
        f"{'/'.join(map(str, e.absolute_path)) or '(top)'}: {e.message}"
        for e in validator.iter_errors(data)
    ]
