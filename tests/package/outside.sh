#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# outside.sh HOW PREFIX WORK FORTRAN CC FC LAUNCHER... - builds the project in outside/ against the
# tree installed in PREFIX and runs it on two ranks.
#   HOW      cmake, cmake-static, pkg-config (with the plain compilers), pkg-config-wrapper
#   WORK     a folder of this test
#   FORTRAN  ON or OFF     CC, FC: the MPI's compiler wrappers
set -euxo pipefail
how=$1 prefix=$2 work=$3 fortran=$4 cc=$5 fc=$6
shift 6
source=$(cd "$(dirname "$0")/outside" && pwd)
rm -rf "$work"
mkdir -p "$work"

with_cmake() {
    cmake -S "$source" -B "$work" -DCMAKE_PREFIX_PATH="$prefix" -DWITH_FORTRAN="$fortran" "$@"
    cmake --build "$work"
}

with_pkg_config() {
    local cc=$1 fc=$2 lib
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    lib=$(pkg-config --variable=libdir crestacoll)
    # shellcheck disable=SC2046
    "$cc" "$source/sum.c" -o "$work/sum_c" $(pkg-config --cflags --libs crestacoll) \
          -Wl,-rpath,"$lib"
    if [ "$fortran" = ON ]; then
        # shellcheck disable=SC2046
        "$fc" "$source/sum.f90" -o "$work/sum_f" $(pkg-config --cflags --libs crestacoll-fortran) \
              -Wl,-rpath,"$lib"
    fi
}

case $how in
    cmake)              with_cmake ;;
    cmake-static)       with_cmake -DBUILD_SHARED_LIBS=OFF ;;
    pkg-config)         with_pkg_config cc gfortran ;;
    pkg-config-wrapper) with_pkg_config "$cc" "$fc" ;;
esac

"$@" -n 2 "$work/sum_c"
if [ "$fortran" = ON ]; then
    "$@" -n 2 "$work/sum_f"
fi
if [ "$how" = cmake-static ]; then
    ! ldd "$work/sum_c" | grep libcrestacoll
fi
