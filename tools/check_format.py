#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_format.py [--write] - the C sources are as clang-format leaves them (.clang-format), save
those that are generated; --write makes them so (`make format`).

It takes the clang-format of .venv, whose version requirements-check.txt says: others break lines
elsewhere. Without it nothing is checked, and told.
"""
import re
import subprocess
import sys

from sources import ROOT, Report, files, generated

TOOL = ROOT / ".venv/bin/clang-format"
COMPLAINT = re.compile(r"^(?P<file>.+?):(?P<line>\d+):\d+: (?:error|warning):", re.M)


def hand_written():
    return [path for path in files(".c", ".h")
            if not generated(path.read_text(encoding="utf-8"))]


def main():
    report = Report("format")
    if not TOOL.exists():
        print("format: not checked: no clang-format in .venv (tools/setup.sh check)")
        return
    if "--write" in sys.argv[1:]:
        subprocess.run([TOOL, "-i", *hand_written()], check=True)
    done = subprocess.run([TOOL, "--dry-run", "-Werror", *hand_written()], capture_output=True,
                          text=True, check=False)
    for path, line in dict(reversed(COMPLAINT.findall(done.stderr))).items():  # the first of each
        report.add(path, int(line), "is not as clang-format leaves it: make format")
    if done.returncode and not report.count:
        sys.exit(f"format: clang-format failed: {done.stderr.strip()}")
    report.exit()


if __name__ == "__main__":
    main()
