#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# built_in.sh SOURCE BUILD WORK CC LAUNCHER... - a library built with flags of the document runs
# what they name, without any variable set, and a wrong flag stops the configuration.
set -euxo pipefail
source=$1 build=$2 work=$3 cc=$4
shift 4

configure() {
    cmake -S "$source" -B "$work" -DMPI_C_COMPILER="$cc" -DCRESTA_FORTRAN=OFF -DCRESTA_TESTS=OFF \
          -DCMAKE_BUILD_TYPE=Debug -DCRESTA_DFLAGS="$1"
}

if configure -D_NOSUCH_ALLTOALL; then exit 1; fi
configure "-D_ALL_NONBLOCK -D_MPI_BCAST -D_STATIC_OS_WIN -DTMP_OS_WIN_SIZE=4096"
cmake --build "$work" --parallel 2 --target crestacoll_preload
CRESTA_LOG=info LD_PRELOAD=$work/lib/libcrestacoll-preload.so \
    "$@" -n 2 "$build/tests/bin/plain_sum" >"$work/log" 2>&1
cat "$work/log"
grep -i allreduce "$work/log" | grep nonblock
grep -q "static:65536" "$work/lib/libcrestacoll-preload.so"    # the default of CRESTA_OS_WINDOW
