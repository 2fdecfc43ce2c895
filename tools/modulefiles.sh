#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# modulefiles.sh PREFIX MPI FOLDER - module files of crestacoll, installed in PREFIX for this MPI:
# FOLDER/crestacoll-MPI/VERSION.lua for Lmod, VERSION for Environment Modules.
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=$1 mpi=$2 to=$3/crestacoll-$2
version=$(tools/check_version.py --print)
others="crestacoll-openmpi crestacoll-mpich"

fill() {
    sed -e "s|@PREFIX@|$prefix|g; s|@MPI@|$mpi|g; s|@VERSION@|$version|g" \
        -e "s|@OTHERS@|${others/crestacoll-$mpi/}|g" "packaging/modules/crestacoll.$1.in"
}

mkdir -p "$to"
fill lua >"$to/$version.lua"
fill tcl >"$to/$version"
