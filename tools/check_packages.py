#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_packages.py - no modules of Python import each other in a circle, nor do the rooms of
crestacoll_tools; and crestacoll, which programs import, needs nothing of crestacoll_tools.

An import inside a function counts as one at the head of a file. What is for type checkers alone
does not count, nor does crestacoll/__main__.py, which is the command line.
"""
import ast

from check_rooms import circle
from sources import ROOT, Report, files

PYTHON = ROOT / "python"
TOOLS = "crestacoll_tools"
COMMAND_LINE = "crestacoll.__main__"


def name_of(path):
    """'crestacoll_tools.tune.rules'; that of a package for its __init__.py."""
    parts = path.relative_to(PYTHON).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def nodes(tree):
    """All of a file but what is under `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"):
            yield node
            yield from nodes(node)


def imported(tree, modules):
    """The modules that a file names in its imports."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                yield whole if whole in modules else node.module
        elif isinstance(node, ast.Constant) and node.value in modules:
            yield node.value  # importlib.import_module


def room(module):
    """The folder of crestacoll_tools; crestacoll is one."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == TOOLS else parts[0]


def between_rooms(edges):
    """{room: rooms} from {module: modules}."""
    found = {}
    for module, others in edges.items():
        found.setdefault(room(module), set()).update(room(other) for other in others)
    for own, others in found.items():
        others.discard(own)
    return found


def main():
    report = Report("packages")
    paths = {name_of(path): path for path in files(".py") if path.is_relative_to(PYTHON)}
    edges = {name: set(imported(ast.parse(path.read_text()), paths)) & set(paths) - {name}
             for name, path in paths.items() if name != COMMAND_LINE}
    for of, found in (("modules", edges), ("rooms", between_rooms(edges))):
        if around := circle(found):
            path = paths.get(around[0], PYTHON / around[0].replace(".", "/"))
            report.add(path, 1, f"is in a circle of {of}: {' -> '.join(around)}")
    for name, others in edges.items():
        if room(name) == "crestacoll" and (wrong := sorted(o for o in others if TOOLS in o)):
            report.add(paths[name], 1, f"imports {wrong[0]}: programs import it")
    report.exit()


if __name__ == "__main__":
    main()
