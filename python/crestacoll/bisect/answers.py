# SPDX-License-Identifier: BSD-3-Clause
"""Whether a run gave the right answer: what it printed, or what the user's command says of it."""

import os
import re
import subprocess

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")


def kept(text, ignored):
    """The lines that count."""
    return [line for line in text.splitlines() if not any(re.search(p, line) for p in ignored)]


def near(a, b, tolerance):
    """Two numbers as text, the same or no further apart than the larger one times tolerance."""
    x, y = (float(n.lower().replace("d", "e")) for n in (a, b))
    return x == y or abs(x - y) <= tolerance * max(abs(x), abs(y))


def same_line(a, b, tolerance):
    if a == b or not tolerance:
        return a == b
    ours, theirs = NUMBER.findall(a), NUMBER.findall(b)
    return (
        NUMBER.split(a) == NUMBER.split(b)
        and len(ours) == len(theirs)
        and all(near(x, y, tolerance) for x, y in zip(ours, theirs))
    )


def first_difference(right, found, tolerance, ignored):
    """The first line that is another one, as text; None if there is none."""
    a, b = kept(right, ignored), kept(found, ignored)
    for ours, theirs in zip(a, b):
        if not same_line(ours, theirs, tolerance):
            return f"'{ours.strip()}' became '{theirs.strip()}'"
    return None if len(a) == len(b) else f"{len(b)} lines in place of {len(a)}"


class Judge:
    """Says what is wrong with a run; "" if nothing. The first run without settings is right,
    unless a command checks them all.
    """

    def __init__(self, check=None, tolerance=0.0, ignored=()):
        self.check = check
        self.tolerance = tolerance
        self.ignored = ignored
        self.right = None

    def wrong(self, ended, limit):
        if ended.why != "ended":
            return f"it did not end in {limit:.0f} s"
        if ended.code != 0:
            return f"it {ended.how()}"
        output = ended.folder / "stdout"
        if self.check:
            return self.checked(output)
        text = output.read_text(encoding="utf-8", errors="backslashreplace")
        if self.right is None:
            self.right = text
        return first_difference(self.right, text, self.tolerance, self.ignored) or ""

    def checked(self, output):
        """By the user's command, which finds the output of the run in a variable, and whatever the
        program wrote in the folder in which it ran.
        """
        env = os.environ | {"CRESTACOLL_OUTPUT": str(output)}
        code = subprocess.run(self.check, shell=True, stdout=2, env=env, check=False).returncode
        return f"the check ended with exit code {code}" if code else ""
