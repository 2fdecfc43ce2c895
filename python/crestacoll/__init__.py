# SPDX-License-Identifier: BSD-3-Clause
"""The command line of crestacoll: run a program with chosen collectives, measure them, show what
happened.
"""

__version__ = "0.1.0"
