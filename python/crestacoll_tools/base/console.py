# SPDX-License-Identifier: BSD-3-Clause
"""The console on which all sub-commands print; apart from ui.py, as rich takes long to import."""

from rich.console import Console

from crestacoll_tools.base.text import visible


class PlainConsole(Console):
    """Prints text as it is: brackets and colons in a name are no markup."""

    def __init__(self, **options):
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text, **options):
        """All text comes by here, cells of tables too."""
        return super().render_str(visible(text), **options)
