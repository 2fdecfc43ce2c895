# SPDX-License-Identifier: BSD-3-Clause
"""The command line, and all that its sub-commands need. A program never imports it."""
