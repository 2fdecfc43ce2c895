# SPDX-License-Identifier: BSD-3-Clause
"""Where the rules of a run come from, besides --impl."""

import sys
from pathlib import Path

from crestacoll_tools.base.ui import Problem
from crestacoll_tools.rules import tuning as tunings


def tuning_settings(asked, set_before):
    """CRESTA_TUNING of the ranks: what the option says, or the environment, or what is found."""
    if asked == "none":
        return {}
    if asked is None and set_before:
        return {"CRESTA_TUNING": set_before}
    if asked is None:
        found = tunings.find()
        if found is None:
            return {}
        print(f"crestacoll: tuning file {found} (--tuning none: without)", file=sys.stderr)
        return {"CRESTA_TUNING": str(found)}
    force, name = tunings.split(asked)
    path = Path(name).absolute()
    if not path.is_file():
        raise Problem(f"no tuning file {name}", exit_code=2)
    return {"CRESTA_TUNING": f"{force}{path}"}


CHOOSING = ("IMPL", "TUNING", "PROFILE", "IO", "RACE", "ONLINE", "GUARD")


def default_choice(settings):
    """`auto` where nothing chooses or looks at what the program does by itself."""
    if any(settings.get(f"CRESTA_{name}") for name in CHOOSING):
        return settings
    return {**settings, "CRESTA_IMPL": "auto"}
