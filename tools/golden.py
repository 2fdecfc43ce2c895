#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""golden.py - `make golden`: the schedules of every algorithm, as text, in tests/golden.

    tools/golden.py [CONFORMANCE-SIM]              compare with what is built (ctest does)
    tools/golden.py --renew [CONFORMANCE-SIM]      write what is built

A file holds what all ranks do for 5 ranks (4 where 5 are not possible) and 7 elements, so that the
diff of a commit shows what a change of an algorithm, or of what algorithms share, changes. Which
algorithms there are says src/algo/registry.def.
"""
import difflib
import subprocess
import sys
from pathlib import Path

from sources import ROOT, algorithms

GOLDEN = ROOT / "tests/golden"
RANKS, ELEMENTS = (5, 4, 3, 2), 7
SHOWN = 40  # lines of a difference
HOW = "if that is what you meant: make golden, and commit tests/golden"


def program(words):
    """The one named, or that of the first build."""
    if words:
        return Path(words[0]).resolve()
    for path in sorted(ROOT.glob("build/*/tests/bin/conformance-sim"), reverse=True):
        return path
    raise SystemExit("golden: conformance-sim is not built")


def printed(sim, name):
    """What conformance-sim shows of an algorithm, without its summary in the last line."""
    for ranks in RANKS:
        done = subprocess.run([str(sim), name, "--print", str(ranks), str(ELEMENTS)],
                              capture_output=True, text=True)
        text = "".join(done.stdout.splitlines(True)[:-1])
        if done.returncode == 0 and text.startswith(f"{name} "):
            return text
    raise SystemExit(f"golden: {sim} shows no schedule of {name}: {done.stdout}{done.stderr}")


def strangers(names):
    """Files of algorithms that are no more."""
    return [path for path in sorted(GOLDEN.glob("*/*.txt"))
            if path.relative_to(GOLDEN).with_suffix("").as_posix() not in names]


def renew(now):
    for name, text in now.items():
        path = GOLDEN / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(f"golden: wrote {path.relative_to(ROOT)}")
    for path in strangers(now):
        path.unlink()
        print(f"golden: removed {path.relative_to(ROOT)}")


def compare(now):
    """Number of differences, each of them told."""
    wrong = 0
    for name, text in now.items():
        path = GOLDEN / f"{name}.txt"
        if not path.exists():
            wrong += 1
            print(f"{path.relative_to(ROOT)} is missing")
        elif path.read_text() != text:
            wrong += 1
            lines = list(difflib.unified_diff(path.read_text().splitlines(), text.splitlines(),
                                              str(path.relative_to(ROOT)), "now", lineterm=""))
            print("\n".join(lines[:SHOWN]))
            if len(lines) > SHOWN:
                print(f"... and {len(lines) - SHOWN} more lines")
    for path in strangers(now):
        wrong += 1
        print(f"{path.relative_to(ROOT)} is of no algorithm")
    return wrong


def main():
    words = sys.argv[1:]
    write = "--renew" in words
    sim = program([word for word in words if word != "--renew"])
    now = {name: printed(sim, name) for name in algorithms()}
    if write:
        renew(now)
    elif compare(now):
        print(f"golden: {HOW}")
        return 1
    print(f"golden: {len(now)} algorithms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
