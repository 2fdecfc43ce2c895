#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_wheel_chroot.py - the last part of `make check-wheel`: the wheel in a bare Debian, which
has Python and a program with its MPI (HPCC, Open MPI), and neither a compiler nor headers.

It is made by debootstrap in build/check-wheel/chroot, once; that takes root and the network. The
wheel is installed there, `explore` runs HPCC, and `pip uninstall` must leave no file.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "build/check-wheel/chroot"
PACKAGES = "python3,python3-venv,ca-certificates,hpcc,openmpi-bin"
# Matrices of 600, on a grid of 1 by 2: some seconds.
SIZES = {"Ns": "600", "NBs": "80", "Ps": "1", "Qs": "2"}

INSIDE = r"""
set -eu
cd "$HOME"
export LANG=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for tool in gcc cc clang; do
    if command -v $tool; then echo "there is a compiler"; exit 1; fi
done
if find / -xdev -name mpi.h | grep .; then echo "there are headers"; exit 1; fi
# What pip and matplotlib keep of fonts and downloads is theirs.
files() { find / -xdev -type f ! -path '/tmp/*' ! -path "$HOME/trial/*" ! -name '*.pyc' \
    ! -path '/var/*' ! -path "$HOME/.cache/pip/*" ! -path "$HOME/.cache/matplotlib/*" | sort; }
rm -rf venv trial && mkdir trial
python3 -m venv venv
files >/tmp/before
venv/bin/pip --quiet install --disable-pip-version-check /tmp/*.whl
cd trial && cp ../hpccinf.txt .
../venv/bin/crestacoll info --no-run | sed -n 's/^build/installed: build/p'
code=0
../venv/bin/crestacoll explore --budget 60s -- mpirun --oversubscribe -n 2 hpcc \
    >said 2>&1 || code=$?
cat said; echo "explore: exit code $code"
../venv/bin/crestacoll run --profile p.json -- mpirun --oversubscribe -n 2 hpcc >/dev/null
../venv/bin/crestacoll report p.json | head -4
cd ..
venv/bin/pip --quiet uninstall -y crestacoll
venv/bin/pip --quiet freeze | sed 's/==.*//' | xargs venv/bin/pip --quiet uninstall -y
files >/tmp/after
if comm -13 /tmp/before /tmp/after | grep .; then echo "these are left"; exit 1; fi
echo "uninstalled: no file is left"
exit $code
"""


def why_not():
    if os.geteuid() != 0:
        return "it takes root"
    if not shutil.which("debootstrap"):
        return "there is no debootstrap"
    words = ["unshare", "--mount", "true"]
    return None if subprocess.run(words, capture_output=True).returncode == 0 else "no name spaces"


def make():
    """The root of the file system, with how this machine reaches PyPI, and the input of HPCC."""
    if not (PLACE / "usr/bin/hpcc").exists():
        print("  debootstrap", flush=True)
        shutil.rmtree(PLACE, ignore_errors=True)
        words = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", PLACE]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    for name in ("etc/resolv.conf", "etc/pip.conf", "etc/ssl/certs/ca-certificates.crt"):
        if Path("/", name).exists():
            shutil.copy(Path("/", name), PLACE / name)
    text = (PLACE / "usr/share/doc/hpcc/examples/_hpccinf.txt").read_text()
    for name, value in SIZES.items():
        text = re.sub(rf"^\d+(\s+{name}\b)", rf"{value}\1", text, flags=re.M)
    (PLACE / "root/hpccinf.txt").write_text(text)


def main():
    why = why_not()
    if why:
        print(f"bare chroot: left out: {why}")
        return
    wheel = max((ROOT / "build/dist").glob("crestacoll-*.whl"))
    print("bare chroot: Debian 12, Python, HPCC with Open MPI 4.1.4", flush=True)
    make()
    for old in (PLACE / "tmp").glob("*.whl"):
        old.unlink()
    shutil.copy(wheel, PLACE / "tmp")
    (PLACE / "inside").write_text(INSIDE)
    passed = {k: v for k, v in os.environ.items() if re.match("(?i)(https?|no)_proxy|PIP_", k)}
    mounts = f"mount -t proc proc {PLACE}/proc && mount --rbind /dev {PLACE}/dev"
    words = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
             f"{mounts} && exec chroot {PLACE} sh /inside"]  # fmt: skip
    inside = {"HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    done = subprocess.run(words, env=passed | inside, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    print("  " + done.stdout.replace("\n", "\n  "))
    print(f"bare chroot: {'FAILED' if done.returncode else 'ok'}")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
