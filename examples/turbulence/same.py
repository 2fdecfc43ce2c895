#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ends with 0 if two runs of the program had the same answer: the same checksum, all checks ok.
For `crestacoll explore --compare examples/turbulence/same.py`.
"""

import re
import sys


def answer(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    failed = re.findall(r"^\s*(check_\w+|result):\s*(?!ok)\S", text, re.MULTILINE)
    return re.findall(r"^\s*checksum:\s*(\w+)", text, re.MULTILINE), failed


first, second = (answer(path) for path in sys.argv[1:3])
if len(first[0]) != 1 or first != second or first[1]:
    sys.exit(f"the answers differ: {first} and {second}")
