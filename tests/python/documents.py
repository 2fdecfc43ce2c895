# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the documents: where they stand, and what a page says about running them.

A command is a line of a code block marked `sh`, or code in prose that starts with a program. It is
run, unless a comment in its paragraph, list or table, or right before its block, says otherwise:

    <!-- not run: REASON -->              it is an example; REASON says why it is not run
    <!-- run by: tests/python/NAME.py --> that file runs it, or the same with other numbers
    <!-- not run `WORDS`: REASON -->      the same, but only for commands that contain WORDS

Code in prose with something left open (`...`, `<mpi>`, FILE) names a command; it is no command.
"""

import re
import shlex
import subprocess
from dataclasses import dataclass, field

PROGRAMS = (
    r"(?:make|(?:bin/)?crestacoll|mpirun|mpiexec[.\w]*|srun|mpicc|mpif90|cc|cmake|ctest|ldd|nm|git"
    r"|apt-get|export|for|python3?|\.venv/bin/\w+|(?:tools|api|bench|build)/[\w<>/.-]+)"
)
COMMAND = re.compile(rf"(?:[A-Z_]+=\S+ +)*(?P<program>{PROGRAMS})(?P<rest> +\S.*)$", re.S)
FENCE = re.compile(r" *```(\w*)$")
SPAN = re.compile(r"`([^`\n]+)`")
MARK = re.compile(r"<!-- (not run|run by)((?:,? `[^`]+`)*): (.+?) -->", re.S)
OPEN = re.compile(r"\.\.\.|<\w+>|(?:^|[ =:])[A-Z][A-Z_]*(?=[ =]|$)")
LAUNCHERS = ("mpirun", "mpiexec", "srun")


@dataclass
class Mark:
    """What a page says of the commands around `line`; `words` empty: of all of them."""

    line: int
    kind: str
    words: list
    reason: str
    used: bool = False


@dataclass
class Command:
    """One command of a page; `names` if it only names one."""

    page: str
    line: int
    text: str
    names: bool = False
    mark: Mark = None

    def __str__(self):
        return f"{self.page}:{self.line}: {self.text}"


@dataclass
class Page:
    """`complaints` are about the page itself."""

    name: str
    commands: list = field(default_factory=list)
    marks: list = field(default_factory=list)
    complaints: list = field(default_factory=list)


def elements(text):
    """(number of the first line, lines): paragraphs and code blocks, with the comment before."""
    found, fenced = [], False
    for number, line in enumerate(text.split("\n"), 1):
        is_fence = FENCE.match(line)
        if not (found and (fenced or is_fence or (line.strip() and found[-1][1]))):
            found.append((number, []))
        if line.strip() or fenced:
            found[-1][1].append(line)
        if is_fence:
            fenced = not fenced
            if not fenced:
                found.append((number + 1, []))
    return [(number, lines) for number, lines in found if lines]


def complete(text):
    """Whether a shell would not wait for more lines."""
    if text.endswith("\\"):
        return False
    if not re.match(r"for |if |while ", text):
        return True
    return subprocess.run(["bash", "-nc", text], capture_output=True, check=False).returncode == 0


def of_block(page, number, lines):
    """The commands of the lines between two fences; the first line is `number`."""
    start, text = number, ""
    for at, line in enumerate(lines, number):
        start = start if text else at
        text += ("\n" if text else "") + line.strip()
        if complete(text):
            if text and not text.startswith("#"):
                yield Command(page, start, text)
            text = ""


def only_names(text):
    """Whether code in prose lacks something to be a command."""
    words = text.split()
    if OPEN.search(text) or COMMAND.match(text)["program"].startswith(LAUNCHERS):
        return True
    if words[0].endswith("crestacoll"):
        program = {"--", "--resume"} & {*words} or words[1] not in ("run", "explore")
        return len(words) == 2 or not program
    return words[0] == "make" and len(words) == 2


def of_prose(page, number, lines):
    for at, line in enumerate(lines, number):
        for text in SPAN.findall(line.replace(r"\|", "|")):
            if COMMAND.match(text):
                yield Command(page, at, text, names=only_names(text))


def of_help(page, number, lines):
    """The examples in the help of a sub-command."""
    for at, line in enumerate(lines, number):
        if line.startswith("  crestacoll "):
            for text in line.split(";  "):
                yield Command(page, at, text.strip(), names=True)


def of_element(page, number, lines):
    """The commands of an element; complains of those that stand in another block."""
    fences = [at for at, line in enumerate(lines) if FENCE.match(line)]
    if not fences:
        for at, line in enumerate(lines, number):
            if re.match(rf"    {PROGRAMS} ", line):
                page.complaints.append(f"{page.name}:{at}: a command: make it a block ```sh")
        return list(of_prose(page.name, number, lines))
    first, last = fences[0], fences[-1]
    inside = number + first + 1, lines[first + 1 : last]
    found = list(of_prose(page.name, number, lines[:first]))
    language = FENCE.match(lines[first])[1]
    if language == "sh":
        found += of_block(page.name, *inside)
    elif any(line.startswith("Usage: ") for line in inside[1]):
        found += of_help(page.name, *inside)
    elif not language:
        for at, line in enumerate(inside[1], inside[0]):
            if COMMAND.match(line.strip()):
                page.complaints.append(f"{page.name}:{at}: a command: mark its block ```sh")
    return found


def marks_of(number, lines):
    text = "\n".join(lines)
    for match in MARK.finditer(text):
        line = number + text.count("\n", 0, match.start())
        yield Mark(line, match[1], SPAN.findall(match[2]), " ".join(match[3].split()))


def read(name, text):
    """The Page of a document."""
    page = Page(name)
    for number, lines in elements(text):
        marks = list(marks_of(number, lines))
        plain = MARK.sub(lambda m: "\n" * m[0].count("\n"), "\n".join(lines)).split("\n")
        for command in of_element(page, number, plain):
            page.commands.append(command)
            for mark in marks:
                if not mark.words or any(words in command.text for words in mark.words):
                    command.mark, mark.used = mark, True
        page.marks += marks
    return page


def simple(text):
    """The simple commands of a line, each as words, without variables set before it."""
    split = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars=";|&")
    split.whitespace_split, split.commenters = True, "#"
    commands = [[]]
    for word in split:
        if set(word) <= set(";|&"):
            commands.append([])
        elif commands[-1] or not re.match(r"[A-Z_]+=", word):
            commands[-1].append(word)
    return [words for words in commands if words]
