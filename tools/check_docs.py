#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_docs.py - what the documentation shows and points to is there.

A code block under `<!-- file: PATH -->` is that file, which is compiled and tested; relative links
lead to files; every environment variable of src/core/env.def is in README.md or docs/.
"""
import re

from sources import ROOT, Report

BLOCK = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.S)
LINK = re.compile(r"`[^`]*`|\]\((?!https?:|#)([^)#]+)")  # code is no link
VARIABLE = re.compile(r"^CCO_ENV\((\w+)", re.M)


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]


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


def main():
    report, everything = Report("docs"), ""
    for page in pages():
        text = page.read_text()
        everything += text
        check_page(page, text, report)
    table = ROOT / "src/core/env.def"
    for name in VARIABLE.findall(table.read_text()):
        if f"CRESTA_{name}" not in everything:
            report.add(table, 1, f"CRESTA_{name} is not documented")
    report.exit()


if __name__ == "__main__":
    main()
