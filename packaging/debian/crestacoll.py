#!/usr/bin/python3
"""crestacoll: the command line, from the folder of the package."""
import sys

sys.path[0] = "/usr/lib/crestacoll/python"

from crestacoll.cli import main  # noqa: E402

main(prog_name="crestacoll")
