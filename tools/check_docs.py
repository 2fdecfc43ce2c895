#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_docs.py - what the documentation shows and points to is there.

A code block under `<!-- file: PATH -->` is that file, which is compiled and tested; relative links
lead to files; every environment variable of src/core/env.def is in README.md or docs/; the tables
of docs/implementations.md have all collectives and all models, in both languages; lines of prose
have at most 100 characters (not tables, code blocks, and lines with a long link).
"""
import re

from sources import ROOT, Report

BLOCK = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.S)
LINK = re.compile(r"`[^`]*`|\]\((?!https?:|#)([^)#]+)")  # code is no link
VARIABLE = re.compile(r"^CCO_ENV\((\w+)", re.M)
COLUMNS = 100
LONG_LINK = re.compile(r"\]\([^)]{40,}\)|https?://\S{40,}")

def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "tests/README.md",
            *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("examples/*/README.md"))]


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def check_page(page, text, report):
    for block in BLOCK.finditer(text):
        path = ROOT / block[1]
        if not path.exists() or path.read_text() != block[2]:
            report.add(page, line_of(text, block.start()), f"this block is not {block[1]}")
    for link in LINK.finditer(text):
        if link[1] and not (page.parent / link[1]).exists():
            report.add(page, line_of(text, link.start()), f"no file {link[1]}")


def long_lines(text):
    """The numbers of the lines of prose with more than COLUMNS characters."""
    code = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif len(line) > COLUMNS and not code and line[:1] != "|" and not LONG_LINK.search(line):
            yield number


def check_width(page, text, report):
    name, found = page.relative_to(ROOT).as_posix(), list(long_lines(text))
    for number in found:
        report.add(page, number, f"more than {COLUMNS} characters")


def names(path, pattern):
    return re.findall(pattern, (ROOT / path).read_text(), re.M)


def check_tables(report):
    """`make table` has to run again when there is a new collective or model."""
    page = ROOT / "docs/implementations.md"
    collectives = names("api/collectives.def", r"^(\w+) :")
    models = names("src/model/registry.def", r"^CCO_MODEL\((\w+)\)")
    columns = [f"{language} `{model}`" for language in ("Fortran", "C") for model in models]
    text = page.read_text()
    tables = re.findall(r"^\| collective \|.*\n(?:\|.*\n)+", text, re.M)
    if not tables:
        report.add(page, 1, "has no table: run make table")
    for table in tables:
        head, _, *rows = [[cell.strip() for cell in row.strip("|").split("|")]
                          for row in table.strip().split("\n")]
        line = line_of(text, text.index(table))
        if head[1:] != columns:
            report.add(page, line, "columns are not the models of the registry: run make table")
        if [row[0] for row in rows] != collectives:
            report.add(page, line, "rows are not the collectives: run make table")
        for cell in (cell for row in rows for cell in row[1:] if cell[:1] not in ("Y", "N")):
            report.add(page, line, f"'{cell}' is neither Y nor N: run make table")


def main():
    report, everything = Report("docs"), ""
    for page in pages():
        text = page.read_text()
        everything += text
        check_page(page, text, report)
        check_width(page, text, report)
    table = ROOT / "src/core/env.def"
    for name in VARIABLE.findall(table.read_text()):
        if f"CRESTA_{name}" not in everything:
            report.add(table, 1, f"CRESTA_{name} is not documented")
    check_tables(report)
    report.exit()


if __name__ == "__main__":
    main()
