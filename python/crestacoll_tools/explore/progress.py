# SPDX-License-Identifier: BSD-3-Clause
"""What explore shows while it works: what is tried, who leads, and the time that is left."""

import contextlib
import time

from crestacoll_tools.base.text import counted, visible
from crestacoll_tools.base.ui import err, status_line
from crestacoll_tools.race import intervals


def percent(fraction):
    return f"{100 * fraction:+.1f} %"


def leads_text(found):
    if found is None:
        return ""
    name, d = found
    if d.trimmed >= 0:
        return "shortest so far: mpi"
    if intervals.is_vague(d.low, d.high):
        return f"shortest so far: {name}"
    return f"shortest so far: {name}, {percent(d.trimmed)} ± {100 * d.half_width:.1f} %, not proved"


def clock(seconds):
    minutes, rest = divmod(int(max(0, seconds) + 0.5), 60)
    return f"{minutes}:{rest:02d}"


class Lines:
    """Without a terminal: a line for each thing that is begun."""

    def __init__(self, write=lambda text: None):
        self.write, self.said = write, ""

    def tries(self, text, names=()):
        """Once, if the program runs more than once for it."""
        told = f"{text}: {', '.join(names)}" if names else text
        if told != self.said:
            self.write(told)
        self.said = told

    def leads(self, found):
        """Only a terminal follows that."""

    def note(self, text):
        self.write(text)

    def tick(self):
        """Time passes."""


class Bar(Lines):
    """On a terminal: a bar over the budget."""

    def __init__(self, progress, budget):
        super().__init__()
        self.progress, self.budget, self.begin = progress, budget, time.monotonic()
        self.task = progress.add_task("", total=budget, leads="", left=clock(budget))

    def tries(self, text, names=()):
        told = f"{text}, {counted(len(names), 'arm')}" if names else text
        self.progress.update(self.task, description=visible(told), leads="")
        self.tick()

    def leads(self, found):
        self.progress.update(self.task, leads=visible(leads_text(found)))

    def note(self, text):
        self.progress.console.print(status_line(text))

    def tick(self):
        spent = time.monotonic() - self.begin
        left = clock(self.budget - spent)
        self.progress.update(self.task, completed=min(spent, self.budget), left=left)


@contextlib.contextmanager
def shown(budget):
    """How to tell the user, for as long as explore works."""
    if not err.is_terminal:
        yield Lines(lambda text: err.print(f"crestacoll: {text}", soft_wrap=True))
        return
    from rich.progress import BarColumn, Progress, TextColumn

    columns = [
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[left]} left", markup=False),
        TextColumn("{task.fields[leads]}", markup=False),
    ]
    with Progress(*columns, console=err.console, transient=True) as progress:
        yield Bar(progress, budget)
