#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""manpages.py SHARE - man pages and shell completion of the command line, from its own help.

Writes SHARE/man/man1/crestacoll.1 and a page for each sub-command, and completion for bash, zsh and
fish, where these shells look for it below SHARE (/usr/share, PREFIX/share). The same sources give
the same bytes. Needs the packages of the command line.
"""
import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import click  # noqa: E402
from click.shell_completion import get_completion_class  # noqa: E402
from crestacoll import __version__  # noqa: E402
from crestacoll_tools.cli import main as command_line  # noqa: E402
from reference import variables  # noqa: E402

NAME = "crestacoll"
COMPLETION = {"bash": "bash-completion/completions/crestacoll",
              "zsh": "zsh/site-functions/_crestacoll",
              "fish": "fish/vendor_completions.d/crestacoll.fish"}
# A paragraph that starts so is of that section, whichever place it has in the help.
EXIT = re.compile(r"Exit codes?\b:? *")
EXAMPLE = f"{NAME} "
ROW = re.compile(r"(?:  |(?=\S+(?: \S+)*  ))(\S+(?: \S+)*)  +(\S.*)")   # of a table: term, meaning


def roff(text):
    """Text for roff, with `code` in bold."""
    text = text.replace("\\", r"\(rs").replace("-", r"\-")
    text = "".join(c if ord(c) < 128 else rf"\[u{ord(c):04X}]" for c in text)
    text = text.replace("'", r"\(aq").replace("^", r"\(ha").replace("~", r"\(ti")
    return re.sub(r"`([^`\n]+(?:\n[^`\n]+)?)`", r"\\fB\1\\fR", text)


def line(text):
    """A line of roff: no request, though it may start like one."""
    return rf"\&{text}" if text.startswith((".", r"\(aq")) else text


def quoted(text):
    return '"' + text.replace('"', r"\(dq") + '"'


def paragraphs(text):
    """The paragraphs of a help, as lines; without click's mark that they are not to be filled."""
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        lines = [one.rstrip() for one in part.split("\n") if one.strip() != "\b"]
        if any(lines):
            yield lines


def is_code(lines):
    return all(one.startswith(EXAMPLE) for one in lines)


def body(lines):
    """A paragraph in roff: commands as they are; rows of a table; text, which is filled."""
    if is_code(lines):
        return [".PP", ".nf", *(line(roff(one)) for one in lines), ".fi"]
    text, written = [], [".PP"]
    for one in [*lines, None]:
        row = ROW.match(one) if one is not None else None
        if (row or one is None) and text:
            written.append(line(roff(" ".join(text))))
            text = []
        if row:
            written += [".TP", rf"\fB{roff(row[1])}\fR"]
        if one is not None:
            text.append((row[2] if row else one).strip())
    return written


def shared_out(text):
    """{section: roff} of a help or an epilog: examples and exit codes have sections."""
    sections = {"DESCRIPTION": [], "EXAMPLES": [], "EXIT STATUS": []}
    for lines in paragraphs(text):
        if is_code(lines):
            sections["EXAMPLES"] += body(lines)
        elif found := EXIT.match(lines[0]):
            first = lines[0][found.end():]
            sections["EXIT STATUS"] += body([first[:1].upper() + first[1:], *lines[1:]])
        else:
            sections["DESCRIPTION"] += body(lines)
    return sections


def synopsis(ctx):
    pieces = " ".join(ctx.command.collect_usage_pieces(ctx))
    return [rf"\fB{roff(ctx.command_path)}\fR \fI{roff(pieces)}\fR"]


def option_head(head):
    r"""`-o, --output FILE` with names in bold, values in italics."""
    words = re.split(r"( |, | / )", head)
    return "".join(w if w in (" ", ", ", " / ") else
                   rf"\fB{roff(w)}\fR" if w.startswith("-") else rf"\fI{roff(w)}\fR"
                   for w in words)


def options(ctx):
    for parameter in ctx.command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record:
            head, text = record
            yield from (".TP", option_head(head), line(roff(" ".join(text.split()))))


def below(ctx):
    """The sub-commands of a group, with contexts of their own."""
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            command = ctx.command.get_command(ctx, name)
            yield click.Context(command, info_name=name, parent=ctx)


def environment():
    """The variables of the library, from src/config/env.def."""
    for name, _, preset, text in variables():
        default = f" [default: {preset}]" if preset else ""
        yield from (".TP", rf"\fBCRESTA_{name}\fR", line(roff(text + default)))


def page_name(ctx):
    return ctx.command_path.replace(" ", "-")


def date():
    """The day of the version, by CHANGELOG.md: that of the build would be another every day."""
    return re.search(r"^## \S+ \((\S+)\)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]


def see_also(ctx, root):
    names = [page_name(c) for c in below(ctx)]
    if ctx is not root:
        names += [page_name(root)] + ([page_name(ctx.parent)] if ctx.parent is not root else [])
    return [", ".join(rf"\fB{roff(name)}\fR(1)" for name in sorted(set(names)))]


def page(ctx, root):
    """The whole page of one command."""
    command = ctx.command
    short = command.get_short_help_str(200).rstrip(".")
    sections = shared_out(command.help or "")
    for title, text in shared_out(command.epilog or "").items():
        sections["NOTES" if title == "DESCRIPTION" else title] = (
            sections.get(title, []) if title != "DESCRIPTION" else []) + text
    commands = [part for c in below(ctx) for part in
                (".TP", rf"\fB{roff(page_name(c))}\fR(1)",
                 line(roff(c.command.get_short_help_str(200))))]
    order = [("NAME", [roff(page_name(ctx)) + r" \- " + roff(short[:1].lower() + short[1:])]),
             ("SYNOPSIS", synopsis(ctx)), ("DESCRIPTION", sections["DESCRIPTION"]),
             ("OPTIONS", list(options(ctx))), ("COMMANDS", commands),
             ("EXAMPLES", sections["EXAMPLES"]), ("EXIT STATUS", sections["EXIT STATUS"]),
             ("ENVIRONMENT", list(environment()) if ctx is root else []),
             ("NOTES", sections["NOTES"]), ("SEE ALSO", see_also(ctx, root))]
    head = rf'.TH {page_name(ctx).upper()} 1 {date()} "{NAME} {__version__}" "User Commands"'
    lines = [r'.\" SPDX-License-Identifier: BSD-3-Clause', head, ".nh", ".ad l"]
    for title, text in order:
        if text:
            lines += [f".SH {quoted(title) if ' ' in title else title}"]
            lines += text[1:] if text[0] == ".PP" else text
    return "\n".join(lines) + "\n"


def pages():
    """{file: text} of all man pages."""
    root, found = click.Context(command_line, info_name=NAME), {}
    waiting = [root]
    while waiting:
        ctx = waiting.pop()
        ctx.help_option_names = ["-h", "--help"]
        found[f"man/man1/{page_name(ctx)}.1"] = page(ctx, root)
        waiting += below(ctx)
    return found


def completions():
    """{file: text} of what each shell reads; it asks `crestacoll` what may follow."""
    for shell, name in COMPLETION.items():
        kind = get_completion_class(shell)(command_line, {}, NAME, "_CRESTACOLL_COMPLETE")
        yield name, (kind.source_template % kind.source_vars()).strip() + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, text in {**pages(), **dict(completions())}.items():
        path = Path(sys.argv[1], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
