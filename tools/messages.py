#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""messages.py - `make messages`: what the commands say, as text, in tests/messages.

    tools/messages.py              compare with what they say now (a test does)
    tools/messages.py --renew      write what they say now

Each public function of a module tests/messages/NAME.py adds a section to NAME.txt. It gets a
Screen, in an empty folder, and says what is to be seen by `screen.crestacoll(...)`, which runs a
command in this process, or by `screen.say(...)`. Nothing is launched: what it needs is recorded
data. What differs between machines is masked; the words stay, so that a commit shows each that
changed.
"""

import contextlib
import difflib
import importlib.util
import inspect
import io
import json
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

from sources import ROOT

MESSAGES = ROOT / "tests/messages"
HOW = "if these are the words that you want: make messages, and commit tests/messages"
SET = {"COLUMNS": "100", "LC_ALL": "C.UTF-8"}
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/python")]


class Screen:
    """What a user sees, one section of a text."""

    def __init__(self):
        self.lines, self.masks = [], []

    def write(self, name, data):
        """A file in the folder of this screen: text, or what becomes JSON."""
        text = data if isinstance(data, str) else json.dumps(data)
        Path(name).write_text(text, encoding="utf-8", errors="surrogateescape")

    def crestacoll(self, *words):
        """A command, what it prints on both streams, and its exit code unless that is 0."""
        from click.testing import CliRunner
        from crestacoll_tools import cli

        ran = CliRunner().invoke(cli.main, [str(w) for w in words], prog_name="crestacoll")
        if ran.exception and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        self.say("$ crestacoll " + shlex.join(map(str, words)))
        self.say(ran.output)
        if ran.exit_code:
            self.say(f"(exit code {ran.exit_code})")

    def printed(self, function, *arguments):
        """What a part of a command prints, on both streams."""
        text = io.StringIO()
        try:
            with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
                function(*arguments)
        finally:
            if text.getvalue():
                self.say(text.getvalue())

    def refused(self, function, *arguments):
        """A part of a command that ends it: what it says, and the exit code."""
        from crestacoll_tools.base.ui import Problem

        try:
            self.printed(function, *arguments)
        except Problem as e:
            self.say(f"crestacoll: {e.message}\n(exit code {e.exit_code})")
        except SystemExit as e:
            self.say(f"(exit code {e.code})")

    def say(self, text):
        """More text."""
        self.lines += [line.rstrip() for line in text.rstrip("\n").split("\n")]

    def mask(self, pattern, word):
        """What this pattern matches differs between machines, and is shown as a word."""
        self.masks.append((pattern, word))

    def text(self):
        return masked("\n".join(self.lines), self.masks) + "\n"


def masked(text, masks):
    """Without what differs between machines and versions."""
    from crestacoll import __version__
    from crestacoll_tools.builds import machine

    here = re.escape(machine.sentence(machine.describe()))
    for found, word in (
        (re.escape(os.getcwd()), "<folder>"),
        (re.escape(str(ROOT)), "<root>"),
        (re.escape(__version__), "<version>"),
        (here, "<machine>"),
        *masks,
    ):
        text = re.sub(found, word, text)
    return text


def modules():
    """{name: module} of tests/messages."""
    found = {}
    for path in sorted(MESSAGES.glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"messages_{path.stem}", path)
        found[path.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found[path.stem])
    return found


@contextlib.contextmanager
def folder():
    """An empty one to be in, and nothing set that commands obey."""
    before = dict(os.environ)
    for name in [n for n in os.environ if n.startswith(("CRESTA_", "XDG_"))]:
        del os.environ[name]
    os.environ |= SET
    with tempfile.TemporaryDirectory(prefix="messages-") as made, contextlib.chdir(made):
        yield
    os.environ.clear()
    os.environ |= before


def text_of(module):
    """What the functions of a module show, in their order."""
    parts = []
    for name, function in vars(module).items():
        own = inspect.isfunction(function) and function.__module__ == module.__name__
        if not own or name.startswith("_"):
            continue
        screen = Screen()
        with folder():
            function(screen)
            shown = screen.text()
        parts.append(f"== {name}: {' '.join(inspect.getdoc(function).split())}\n\n{shown}")
    return "\n".join(parts)


def now(names=None):
    """{path of a text: what it has to be}; `names`: only these."""
    return {
        MESSAGES / f"{name}.txt": text_of(module)
        for name, module in modules().items()
        if names is None or name in names
    }


def renew(texts):
    for path in set(MESSAGES.glob("*.txt")) - texts.keys():
        path.unlink()
        print(f"messages: removed {path.relative_to(ROOT)}")
    for path, text in texts.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"messages: wrote {path.relative_to(ROOT)}")


def differences(texts):
    """Lines of a diff; none if all is as it was."""
    found = []
    for path, text in texts.items():
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        name = str(path.relative_to(ROOT))
        found += difflib.unified_diff(before.splitlines(), text.splitlines(), name, "now",
                                      lineterm="")
    return found


def main():
    texts = now()
    if "--renew" in sys.argv[1:]:
        renew(texts)
        return 0
    found = differences(texts)
    print("\n".join([*found, f"messages: {HOW}"] if found else [f"messages: {len(texts)} texts"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
