#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll: the command line, from the folder of the package."""
import sys

sys.path[0] = "/usr/lib/crestacoll/python"

from crestacoll_tools.cli import main  # noqa: E402

main(prog_name="crestacoll")
