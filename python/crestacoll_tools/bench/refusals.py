# SPDX-License-Identifier: BSD-3-Clause
"""What the library prints where CRESTA_FALLBACK=error forbids another implementation to run
(src/comm/fallback.c)."""

import re
from typing import NamedTuple

FORBIDDEN = re.compile(
    r"crestacoll: (?:(\w+?)(?:_begin)? on )?communicator '(.*?)': (?:[^:']+: )?(\S+): (.*)"
    r" \(CRESTA_FALLBACK=error\)"
)


class Refusal(NamedTuple):
    collective: str  # "" for all of the communicator
    communicator: str
    asked: str  # a rule, COLLECTIVE=IMPLEMENTATION, or an implementation
    why: str


def refusals(text):
    """All that are in a text, in its order."""
    return [Refusal(*groups) for groups in FORBIDDEN.findall(text)]
