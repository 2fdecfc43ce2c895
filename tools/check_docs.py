#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_docs.py - what the documentation shows and points to is there.

A code block under `<!-- file: PATH -->` is that file, which is compiled and tested; relative links
lead to files and to their headings; every environment variable of src/config/env.def is in
README.md or docs/; the tables of docs/implementations.md have all collectives and all models, in
both languages; lines of prose have at most 100 characters (not tables, code blocks, and lines with
a long link).
"""
import re

from sources import ROOT, Report

BLOCK = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.S)
LINK = re.compile(r"`[^`\n]*`|\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")  # code is no link
CODE = re.compile(r"^ *```.*?^ *```", re.S | re.M)
HEADING = re.compile(r"^#+ (.*)$", re.M)
VARIABLE = re.compile(r"^CCO_ENV\((\w+)", re.M)
COLUMNS = 100
LONG_LINK = re.compile(r"\]\([^)]{40,}\)|https?://\S{40,}")

def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "tests/README.md",
            *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("examples/*/README.md"))]


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def anchors(page):
    """What a forge makes of the headings of a page, to link to."""
    for heading in HEADING.findall(CODE.sub("", page.read_text())):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        yield re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def check_page(page, text, report):
    for block in BLOCK.finditer(text):
        path = ROOT / block[1]
        if not path.exists() or path.read_text() != block[2]:
            report.add(page, line_of(text, block.start()), f"this block is not {block[1]}")
    blank = CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    for link in LINK.finditer(blank):
        to = page.parent / link[1] if link[1] else page
        if link[1] is None:
            continue
        if not to.exists():
            report.add(page, line_of(blank, link.start()), f"no file {link[1]}")
        elif link[2] and to.suffix == ".md" and link[2] not in anchors(to):
            report.add(page, line_of(blank, link.start()), f"{to.name} has no heading #{link[2]}")


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
    table = ROOT / "src/config/env.def"
    for name in VARIABLE.findall(table.read_text()):
        if f"CRESTA_{name}" not in everything:
            report.add(table, 1, f"CRESTA_{name} is not documented")
    check_tables(report)
    report.exit()


if __name__ == "__main__":
    main()
