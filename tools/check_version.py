#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_version.py - the version of crestacoll stands in CMakeLists.txt; all else follows it.

    tools/check_version.py           exit 1 if a file of FILES says another
    tools/check_version.py --write   put it there (not into CHANGELOG.md, debian/changelog: a
                                     version gets an entry that somebody writes)
    tools/check_version.py --print   only the version
"""
import re
import sys

from sources import ROOT, Report

SOURCE = "CMakeLists.txt", r"^project\(crestacoll VERSION (\d+\.\d+\.\d+) "
# (file, pattern of what precedes the version, the version, what follows). The first match counts.
FILES = [
    ("CITATION.cff", r'(^version: )(\S+)($)'),
    ("python/crestacoll/__init__.py", r'(^__version__ = ")([^"]*)(")'),
    ("packaging/spack/spack_repo/crestacoll/packages/crestacoll/package.py",
     r'(^    version\(")([^"]*)(")'),
]
WRITTEN = [
    ("CHANGELOG.md", r"(^## )(\d\S*)( )"),
    ("packaging/debian/changelog", r"(^crestacoll \()([^-)]*)(-)"),
]
HEADER = "include/crestacoll.h"
PARTS = ("MAJOR", "MINOR", "PATCH")


def version():
    name, pattern = SOURCE
    return re.search(pattern, (ROOT / name).read_text(), re.M)[1]


def header_with(text, wanted):
    for part, number in zip(PARTS, wanted.split(".")):
        text = re.sub(rf"(#define CRESTA_VERSION_{part}) \d+", rf"\1 {number}", text)
    return text


def with_version(text, pattern, wanted):
    return re.sub(pattern, lambda found: found[1] + wanted + found[3], text, count=1, flags=re.M)


def wrong():
    """(path, text as it should be, whether a tool may write it, line)"""
    wanted = version()
    texts = {HEADER: header_with((ROOT / HEADER).read_text(), wanted)}
    for name, pattern in FILES + WRITTEN:
        text = (ROOT / name).read_text()
        found = re.search(pattern, text, re.M)
        texts[name] = with_version(text, pattern, wanted) if found else text + "?"
    for name, text in texts.items():
        before = (ROOT / name).read_text()
        if before != text:
            pairs = zip(before.split("\n"), text.split("\n"))
            line = next((n for n, (old, new) in enumerate(pairs, 1) if old != new), 1)
            yield ROOT / name, text, name not in dict(WRITTEN), line


def main():
    if "--print" in sys.argv[1:]:
        print(version())
        return
    report = Report("version")
    for path, text, writable, line in wrong():
        if writable and "--write" in sys.argv[1:] and not text.endswith("?"):
            path.write_text(text)
        else:
            report.add(path, line, f"the version is not {version()}, that of {SOURCE[0]}")
    report.exit()


if __name__ == "__main__":
    main()
