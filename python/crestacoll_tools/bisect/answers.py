# SPDX-License-Identifier: BSD-3-Clause
"""Whether a run gave the right answer: what it printed, or what the user's command says of it."""

import os
import re
import subprocess

from crestacoll_tools.race import printed


def text_of(ended):
    return (ended.folder / "stdout").read_text(encoding="utf-8", errors="backslashreplace")


def kept(text, ignored):
    """The lines that count."""
    return [line for line in text.splitlines() if not any(re.search(p, line) for p in ignored)]


def first_difference(rights, found, tolerance, ignored):
    """The first line that is another one than in all right runs, as text; None if there is none."""
    texts = ["\n".join(kept(text, ignored)) for text in (*rights, found)]
    return printed.compare(texts[:-1], texts[-1], tolerance).difference or None


class Judge:
    """Says what is wrong with a run; "" if nothing. The runs without settings are right, unless a
    command checks them all; in what they differ, nothing is wrong.
    """

    def __init__(self, check=None, tolerance=0.0, ignored=()):
        self.check = check
        self.tolerance = tolerance
        self.ignored = ignored
        self.rights = []  # what the runs without settings printed

    def learn(self, ended):
        """From another run without settings."""
        self.rights.append(text_of(ended))

    def wrong(self, ended, limit):
        if ended.why != "ended":
            return f"it did not end in {limit:.0f} s"
        if ended.code != 0:
            return f"it {ended.how()}"
        output = ended.folder / "stdout"
        if self.check:
            return self.checked(output)
        text = text_of(ended)
        if not self.rights:
            self.rights = [text]
        return first_difference(self.rights, text, self.tolerance, self.ignored) or ""

    def checked(self, output):
        """By the user's command, which finds the output of the run in a variable, and whatever the
        program wrote in the folder in which it ran.
        """
        env = os.environ | {"CRESTACOLL_OUTPUT": str(output)}
        code = subprocess.run(self.check, shell=True, stdout=2, env=env, check=False).returncode
        return f"the check ended with exit code {code}" if code else ""
