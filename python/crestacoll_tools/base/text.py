# SPDX-License-Identifier: BSD-3-Clause
"""Names and numbers in what commands print."""

import re

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def visible(text):
    """Names come from programs, files and users: no control character in them reaches the
    terminal. Lines and tabs stay.
    """
    return CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def word(text):
    """A name in a table: in one line."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def counted(number, noun):
    """'1 rank', '4 ranks'."""
    return f"{number} {noun}" if str(number) == "1" else f"{number} {noun}s"


def encodable(text):
    """A name as text that can be encoded: halves of characters become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
