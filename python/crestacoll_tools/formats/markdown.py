# SPDX-License-Identifier: BSD-3-Clause
"""Profiles as GitHub Flavored Markdown, for the summary of a CI job or a comment."""

import re

from crestacoll_tools.base.text import encodable, word
from crestacoll_tools.profile import between, efficiency, mpitime, profiles

PLAIN = re.compile(r"[^`|\\\s](?:[^`|\\\n]*[^`|\\\s])?")
MARKS = re.compile(r"^[-+=]|(?<![^\W_])_|_(?![^\W_])|[^\w .:,;?%'+()/=±-]")


def render(sources, top=None):
    """A section for each profile: where the time goes, and the `top` most expensive lines."""
    return "\n".join(section(source, top) for source in sources)


def section(source, top):
    data = source.data
    parts = [f"### {code(source.name)}"]
    if "calls" in data:
        parts += [mpitime.heading(data), table(mpitime.PICTURE, picture(data))]
        parts += [text(sentence) for sentence in mpitime.notes(data)] + efficiencies(data)
        heads = mpitime.heads(data)
        calls = [row[: len(heads)] for row in mpitime.lines_of_calls(data, top)]
        parts += [table(heads, [named(row, (0, 1)) for row in calls])]
        parts += more(data["calls"]["list"], top) + [text(mpitime.legend(data))]
    parts.append(profiles.heading(data))
    if data["records"]:
        parts += [text(between.sentence(data))] if between.spans_nodes(data) else []
        records = [named(row, (0, 1, 3)) for row in profiles.lines(data, top)]
        parts += [table(profiles.heads(data), records)]
        parts += more(data["records"], top) + [text(profiles.legend(data))]
    return "\n\n".join(parts) + "\n"


def picture(data):
    """The groups, which add up to 100 %, and what each consists of."""
    for group, seconds, share, lines in mpitime.cells(data):
        yield f"**{group}**", f"**{seconds}**", f"**{share}**"
        yield from ((f"· {line}", part, f"({of_run})") for line, part, of_run in lines)


def efficiencies(data):
    """How well the ranks share the work, if it is known."""
    rows = [(f"{'· ' * depth}{name}", value) for depth, name, value in efficiency.cells(data)]
    if not rows:
        return []
    notes = [*efficiency.notes(data), efficiency.LEGEND]
    return [table(efficiency.HEADS, rows), *map(text, notes)]


def more(rows, top):
    left = len(rows) - (top or len(rows))
    return [f"... and {left} more (`--all`)"] if left > 0 else []


def named(row, names):
    """A row whose cells with these numbers are names."""
    return [code(cell) if i in names else cell for i, cell in enumerate(row)]


def table(heads, rows):
    return "\n".join(
        f"| {' | '.join(cells)} |"
        for cells in (
            [head.lstrip(">") for head in heads],
            ["--:" if head[0] == ">" else "---" for head in heads],
            *rows,
        )
    )


def code(name):
    """A name in which nothing is taken for markup, mentioned or linked. Inside a table there is no
    code span for what has backquotes or bars, or a backslash, which may escape one.
    """
    name = word(encodable(name))
    return f"`{name}`" if PLAIN.fullmatch(name) else f"<code>{text(name)}</code>"


def text(sentence):
    """Words with names among them."""
    return MARKS.sub(lambda found: f"&#{ord(found[0])};", word(encodable(sentence)))
