#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_style.py - the rules that a script can check.

line <= 100 columns, function <= 60 lines, file <= 800 lines; an SPDX line in the head of every
source file; no notes to oneself, no disabled code, getenv only in src/config/config.c; few lines
that end in a backslash; no "1 ranks"; in pages, messages and comments, none of a few turns that do
not read as English, such as sentences that hang on the one before.
Generated files (line 1 says so) need only the SPDX line.
"""
import ast
import re

from sources import ROOT, Report, files, generated

COLUMNS, FUNCTION, FILE, BACKSLASHES = 100, 60, 800, 0.01
C = (".c", ".h", ".inc")
FORTRAN = (".f90", ".F90")
CMAKE = (".cmake", "CMakeLists.txt")
TABLES = (".def",)
SOURCES = C + FORTRAN + CMAKE + TABLES + (".py", ".sh", "Makefile")
GETENV = (ROOT / "src/config/config.c", ROOT / "src/calls/box.c")  # one for each library

# In two halves, so that this file passes.
NOTES = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
DISABLED = re.compile(r"^\s*#\s*if\s+0\b")
# In what a command prints: counted makes the plural, unless it surely is one: "of {n} ranks".
NOUNS = (r"(ranks|steps|nodes|hosts|rounds|rules|points|cores|records|requests|threads|processes"
         r"|arms|samples|choices|errors|pairs|files)\b")
PLURALS = re.compile(r"(?<!of )(?<!all )(?<!to )\{(?![A-Z_]+\})[^{}]*\} " + NOUNS)
ONE = re.compile(r"(?<![\d.,] )(?<![\w.,-])1 " + NOUNS)
# Where a sentence begins, (pattern, what is better). Lab notes are not for readers of the pages.
BEGIN = r"(?:^|[.!?] {1,2}|\*\*|: )"
PROSE = [(re.compile(pattern), advice) for pattern, advice in (
    (BEGIN + r"The same (?:as|by|for|holds|in|is|of|on|over|to|with)\b", "say what is the same"),
    (r"(?:^|[.!?] {1,2})The same[,.:;]", "say what is the same"),
    (BEGIN + r"Of [a-z\d\[`]", "begin with the subject"),
    (r"\bby chance\b", "at random"),
    (r"\b(?:for|of|to|from|by) who\b", "name it: the caller, the rank that"),
    (r"\bin vain\b", "say what does not happen: gives up, cannot come, has no effect"),
    (r"\b(?:is|are|was|were|been) told\b(?! (?:apart|to|from|otherwise)\b)",
     "processes are not told: reports, gets, knows"),
    (r"\b[Nn]obody can (?:say|tell)\b", "it is not known"))]
NOT_PAGES = ("docs/lab/", "tests/", "CHANGELOG.md")
# What a comment is, by the end of a file's name, and what its lines begin with.
HASHES = r"(?m:(?:^[ \t]*#(?!!).*\n)+)|#.*"
COMMENTS = {C + TABLES: r"(?s:/\*.*?\*/)|//.*", FORTRAN: r"(?m:(?:^ *!.*\n)+)",
            (".py",): r'(?s:""".*?""")|' + HASHES, CMAKE + (".sh",): HASHES}
MARGIN = re.compile(r'^\s*(?:/\*+|\*/?|//|#+|!>?|""")?\s*|\s*(?:\*/|""")\s*$')
PRINTS, SCREENS = ROOT / "python/crestacoll_tools", ROOT / "tests/messages"

FORTRAN_START = re.compile(
    r"^\s*(?!end\b)(?:(?:pure|elemental|recursive|impure|module|integer|real|logical|complex|type|"
    r"character|double precision)(?:\s*\([^)]*\))?\s+)*(subroutine|function)\s+(\w+)", re.I)
FORTRAN_END = re.compile(r"^\s*end\s*(subroutine|function)\b", re.I)


def braced(lines, start):
    """Functions that end with a brace in column one: C, shell. start finds their names."""
    first, name = 0, ""
    for number, line in enumerate(lines, 1):
        found = start(lines, number)
        if found:
            first, name = number, found
        elif line.rstrip() == "}" and first:
            yield name, first, number
            first = 0


def c_start(lines, number):
    """In C the body opens with a brace alone in column one; the name is above it."""
    if lines[number - 1].rstrip() != "{":
        return None
    head = " ".join(lines[max(0, number - 6):number - 1])
    names = re.findall(r"(\w+)\s*\(", head.rsplit(";", 1)[-1].rsplit("}", 1)[-1])
    return names[0] if names else "?"


def shell_start(lines, number):
    found = re.match(r"(\w+)\(\) \{$", lines[number - 1])
    return found and found[1]


def fortran_functions(lines):
    """Procedures; what they contain counts for itself only."""
    open_, inner = [], []
    for number, line in enumerate(lines, 1):
        found = FORTRAN_START.match(line)
        if found:
            open_.append((found[2], number))
            inner.append(0)
        elif FORTRAN_END.match(line) and open_:
            name, first = open_.pop()
            length, contained = number - first + 1, inner.pop()
            if inner:
                inner[-1] += length
            yield name, first, first + length - 1 - contained


def python_functions(lines):
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno


def cmake_functions(lines):
    first, name = 0, ""
    for number, line in enumerate(lines, 1):
        found = re.match(r"(?:function|macro)\((\w+)", line)
        if found:
            first, name = number, found[1]
        elif re.match(r"end(function|macro)\(", line) and first:
            yield name, first, number


def functions(path, lines):
    """(name, first line, last line) of every function in a file."""
    if path.suffix in C:
        return braced(lines, c_start)
    if path.suffix == ".sh":
        return braced(lines, shell_start)
    if path.suffix in FORTRAN:
        return fortran_functions(lines)
    if path.suffix == ".py":
        return python_functions(lines)
    if path.suffix in CMAKE or path.name in CMAKE:
        return cmake_functions(lines)
    return []


def check_lines(report, path, lines):
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS and path.suffix not in TABLES:
            report.add(path, number, f"{len(line)} columns, more than {COLUMNS}")
        if NOTES.search(line):
            report.add(path, number, "a note to oneself: open an issue instead")
        if path.suffix in C + FORTRAN and DISABLED.match(line):
            report.add(path, number, "disabled code")
        if path.suffix in C and "src" in path.parts and path not in GETENV and "getenv(" in line:
            report.add(path, number, f"reads the environment: {GETENV[0].name} does that")
        if path.is_relative_to(PRINTS) and (found := PLURALS.search(line)):
            report.add(path, number, f"may say `1 {found[1]}`: use counted")
        if line != line.rstrip():
            report.add(path, number, "blanks at the end")


def check_file(report, path):
    text = path.read_text(errors="replace")
    lines = text.rstrip("\n").split("\n")
    if not any("SPDX-License-Identifier: BSD-3-Clause" in line for line in lines[:4]):
        report.add(path, 1, "no line `SPDX-License-Identifier: BSD-3-Clause` in the first four")
    if generated(text):
        return
    if len(lines) > FILE:
        report.add(path, 1, f"{len(lines)} lines, more than {FILE}")
    check_lines(report, path, lines)
    for name, first, last in functions(path, lines):
        if last - first + 1 > FUNCTION:
            report.add(path, first, f"{name}: {last - first + 1} lines, more than {FUNCTION}")


def check_backslashes(report):
    """Counts those of all hand-written C together."""
    lines = [line for path in files(*C) if not generated(text := path.read_text(errors="replace"))
             for line in text.split("\n")]
    continued = sum(line.endswith("\\") for line in lines)
    if continued > BACKSLASHES * max(len(lines), 1):
        report.add(ROOT / "src", 1, f"{continued} of {len(lines)} lines of C end in a backslash")


def check_ones(report):
    """Looks at what commands and the library were seen to print."""
    for path in files(".md", ".txt"):
        if path.suffix == ".txt" and not path.is_relative_to(SCREENS):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if found := ONE.search(line):
                report.add(path, number, f"`{found[0]}`")


def paragraphs(lines):
    """(number of the first line, text) of what a page says outside of blocks of code."""
    first, text, is_code = 0, "", False
    for number, line in enumerate([*lines, ""], 1):
        fence = line.lstrip().startswith("```")
        is_code ^= fence
        new = fence or not line.strip() or re.match(r"\s*([*-] |\d+\. |\||#|<!--)", line)
        if new and text:
            yield first, text
            text = ""
        if not (is_code or fence or line.lstrip().startswith("<!--")) and line.strip():
            first = first if text else number
            text += (" " if text else "") + re.sub(r"^\s*([*-] |\d+\. |\| |#+ )", "", line).strip()


def comments(path, text):
    """(number of the first line, text) of each comment and docstring of a source file."""
    for ends, pattern in COMMENTS.items():
        for found in re.finditer(pattern, text) if path.name.endswith(ends) else ():
            words = " ".join(MARGIN.sub("", line) for line in found[0].split("\n"))
            yield text.count("\n", 0, found.start()) + 1, words.strip()


def check_prose(report):
    """Pages for readers, what commands were seen to print, and what comments say."""
    for path in files(".md", ".txt", *SOURCES):
        name, text = str(path.relative_to(ROOT)), path.read_text(errors="replace")
        if path.suffix == ".md":
            said = () if name.startswith(NOT_PAGES) else paragraphs(text.splitlines())
        elif path.is_relative_to(SCREENS):
            said = enumerate(text.splitlines(), 1)
        else:
            said = () if generated(text) else comments(path, text)
        for number, words in said:
            for pattern, advice in PROSE:
                if found := pattern.search(words):
                    report.add(path, number, f"`{found[0].strip()}`: {advice}")


def main():
    report = Report("style")
    for path in files(*SOURCES):
        check_file(report, path)
    check_backslashes(report)
    check_ones(report)
    check_prose(report)
    report.exit()


if __name__ == "__main__":
    main()
