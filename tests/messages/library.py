# SPDX-License-Identifier: BSD-3-Clause
"""What the library can say on standard error and in its errors, as it stands in src."""

import re

from sources import ROOT

SAYS = re.compile(r"\bcco_(?:say|log|fatal)\(")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.DOTALL)
PROSE = re.compile(r"[A-Za-z]{2,}[,:;)']* +[(']*[a-z]{2,}")
NEXT = re.compile(r"\s*(?:[A-Z][A-Z0-9_]*\s*)*")
NO_WORDS = re.compile(r"\.doc\b|#include|_Static_assert|static_assert")
DATA = re.compile(r'\\"|^# ')  # JSON, and files that programs read


def _literals(text):
    """(where it is said, the string) of each, with those that the compiler joins to it; names of
    macros between them stand as <NAME>.
    """
    found, end = [], None
    for token in TOKEN.finditer(text):
        if not token[0].startswith('"'):
            continue
        between = text[end : token.start()] if end is not None else None
        if between is not None and NEXT.fullmatch(between):
            macro = "".join(f"<{name}>" for name in between.split())
            found[-1][1] += macro + token[0][1:-1]
        else:
            found.append([token.start(), token[0][1:-1]])
        end = token.end()
    return found


def _before(text, at):
    """The statement up to a string."""
    return text[max(text.rfind(c, 0, at) for c in ";{}") + 1 : at]


def _messages(text):
    """All sentences of a source; of a call that speaks to the user, also single words."""
    text, said = TOKEN.sub(lambda t: " " if t[0].startswith("/") else t[0], text), []
    for at, string in _literals(text):
        before = _before(text, at)
        if NO_WORDS.search(before) or DATA.search(string):
            continue
        if PROSE.search(string) or (SAYS.search(before) and string):
            said.append(string.removesuffix("\\n"))
    return said


def sentences_of_the_sources(screen):
    """Each in the folder that has it; %s and its like stand for values."""
    folders = {}
    for path in (ROOT / "src").rglob("*.c"):
        said = _messages(path.read_text(encoding="utf-8"))
        folders.setdefault(path.relative_to(ROOT).parts[1], set()).update(said)
    for folder, said in sorted(folders.items()):
        if said:
            screen.say("\n".join([f"src/{folder}:", *(f"    {s}" for s in sorted(said))]))
