#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# install.sh - `make install`: a complete tree for each MPI, and the command line.
#
#   PREFIX/openmpi, PREFIX/mpich   bin include lib lib/cmake lib/pkgconfig
#   PREFIX/bin/crestacoll          -> PREFIX/lib/crestacoll, which is laid out like the checkout
#   PREFIX/share                   man pages, completion of shells, module files
#
# Works without network; DESTDIR goes before PREFIX.
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=$(realpath -m "$PREFIX")
to=${DESTDIR:-}$prefix
home=$to/lib/crestacoll

install_libraries() {
    local family=$1
    cmake --install "build/$family" --prefix "$prefix/$family" >"build/$family/install.log"
    mkdir -p "$home/build"
    ln -sfn "../../../$family" "$home/build/$family"
    tools/modulefiles.sh "$prefix" "$family" "$to/share/modulefiles"
    echo "$family: $prefix/$family"
}

# A .venv of its own, with the packages of the checkout's: nothing has to be fetched.
install_python() {
    local packages
    rm -rf "$home/python" "$home/.venv"
    mkdir -p "$home/bin" "$to/bin"
    cp -r python "$home/python"
    find "$home/python" -name __pycache__ -prune -exec rm -rf {} +
    install bin/crestacoll "$home/bin/crestacoll"
    "$(.venv/bin/python -c 'import sys; print(sys.base_prefix)')/bin/python3" \
        -m venv --without-pip "$home/.venv"
    packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    cp -r "$packages/." "$home/.venv${packages#"$PWD/.venv"}/"
    ln -sfn ../lib/crestacoll/bin/crestacoll "$to/bin/crestacoll"
    .venv/bin/python tools/manpages.py "$to/share"
    echo "command line: $prefix/bin/crestacoll"
}

while read -r family _; do
    install_libraries "$family"
done < <(tools/mpis.sh)
if tools/setup.sh venv; then
    install_python
else
    echo "command line: left out, because .venv could not be made" >&2
fi
