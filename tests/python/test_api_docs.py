# SPDX-License-Identifier: BSD-3-Clause
"""The examples in the documentation of the Python package run, on two ranks, in the order in which
they stand: those of docstrings, and the blocks of docs/python.md.
"""

import re

from api_runs import ROOT, good, launch

DOCTESTS = """
import doctest, importlib, json, os, tempfile
import numpy as np
import crestacoll
from mpi4py import MPI

os.chdir(tempfile.mkdtemp(dir="."))
names = {"crestacoll": crestacoll, "MPI": MPI, "np": np, "json": json}
tried = 0
for name in (
    "comm", "exchange", "files", "link", "memory", "multisend", "neighbors", "profile",
    "recording", "services",
):
    module = importlib.import_module(f"crestacoll._{name}")
    failed, here = doctest.testmod(module, extraglobs=names, optionflags=doctest.FAIL_FAST)
    assert not failed, name
    tried += here
counts = MPI.COMM_WORLD.gather(tried)
if counts:
    print("examples:", *counts)
"""

# What the guide takes for granted.
GUIDE = """
import importlib.util, json, os
import crestacoll
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
send, recv = np.ones(8), np.zeros(8)
work, more_work = lambda: crestacoll.Barrier(comm), lambda: None
unpack = np.copy
"""


def test_docstrings(build, tmp_path):
    (tmp_path / "program.py").write_text(DOCTESTS)
    done = good(launch(build, tmp_path, "program.py"))
    tried = re.search(r"examples: (\d+) (\d+)", done.stdout)
    assert tried and min(map(int, tried.groups())) >= 40, done.stdout


def blocks():
    """Those of the guide that are no programs of their own."""
    text = (ROOT / "docs/python.md").read_text()
    found = re.findall(r"(<!-- file: \S+ -->\n)?```python\n(.*?)```", text, re.S)
    return [block for file, block in found if not file and "preload()" not in block]


def test_guide(build, tmp_path):
    found = blocks()
    assert len(found) >= 6
    text = GUIDE
    for block in found:
        if "_frame" in block:
            block = "if importlib.util.find_spec('pandas'):\n" + re.sub("(?m)^", "    ", block)
        text += block + "\n"
    (tmp_path / "program.py").write_text(text + "print('the end')\n")
    done = good(launch(build, tmp_path, "program.py"))
    assert done.stdout.count("the end") == 2 and "barrier " in done.stdout, done.stdout
