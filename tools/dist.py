#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dist.py FOLDER - `make dist`: FOLDER/crestacoll-VERSION.tar.gz, the sources of the last commit.

The same commit gives the same bytes, on any machine: files in the order of their names, of the time
of the commit, of root, with two modes. What is not committed is not in it, and is named.
"""
import gzip
import io
import subprocess
import sys
import tarfile
from pathlib import Path

from check_version import version
from sources import ROOT


def git(*words):
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True)
    if done.returncode:
        sys.exit(f"make dist: git {words[0]}: {done.stderr.decode().strip()}: it takes a clone")
    return done.stdout


def plain(member, prefix, time):
    """The member as anybody would have made it."""
    member.name = f"{prefix}/{member.name}"
    member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, "root", "root"
    member.mode = 0o755 if member.isdir() or member.issym() or member.mode & 0o100 else 0o644
    member.pax_headers = {}
    return member


def archive(prefix):
    """The bytes of the archive."""
    time = int(git("show", "-s", "--format=%ct", "HEAD"))
    whole = tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", "HEAD")))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as made:
        for member in sorted(whole.getmembers(), key=lambda m: m.name):
            data = whole.extractfile(member) if member.isfile() else None
            made.addfile(plain(member, prefix, time), data)
    return gzip.compress(out.getvalue(), 9, mtime=0)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    prefix = f"crestacoll-{version()}"
    path = Path(sys.argv[1], f"{prefix}.tar.gz")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(archive(prefix))
    print(path)
    for changed in git("status", "--porcelain").decode().splitlines():
        print(f"make dist: not in it, for it is not committed: {changed}", file=sys.stderr)


if __name__ == "__main__":
    main()
