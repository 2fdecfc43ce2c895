#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# build.sh TARGET... - configures build/<mpi>/ for every MPI found, where that is needed, and
# builds the targets in each.
# Environment: DFLAGS_LIB (flags of the original library), MPI (only this one), CRESTA_CMAKE
# (further options for cmake).
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
dflags=${DFLAGS_LIB:-}

# All flags are looked at before anything is built, and for every MPI.
check_dflags() {
    [ -n "$dflags" ] || return 0
    local family cc fc
    while read -r family cc fc; do
        python3 tools/dflags.py --mpicc "$cc" --mpi "$family" -- "$dflags" >/dev/null
    done <<<"$mpis"
}

# `make install` puts in place what was built, with the built-in choice that it has.
flags_for() {
    if [ -n "${CRESTA_AS_BUILT:-}" ] && [ -z "$dflags" ] && [ -f "$1/CMakeCache.txt" ]; then
        sed -n 's/^CRESTA_DFLAGS:[A-Z]*=//p' "$1/CMakeCache.txt"
    else
        echo "$dflags"
    fi
}

configure() {
    local family=$1 cc=$2 fc=$3 dir=build/$1
    local generator=() args=(-DMPI_C_COMPILER="$cc" -DCRESTA_DFLAGS="$(flags_for "$dir")")
    if [ "$fc" = - ]; then
        args+=(-DCRESTA_FORTRAN=OFF)
    else
        args+=(-DCRESTA_FORTRAN=ON -DMPI_Fortran_COMPILER="$fc")
    fi
    if [ ! -f "$dir/CMakeCache.txt" ] && command -v ninja >/dev/null; then
        generator=(-G Ninja)
    fi
    # shellcheck disable=SC2206
    args+=(${CRESTA_CMAKE:-})
    local now="$root ${args[*]}" stamp=$dir/.configured
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$now" ]; then return; fi
    # What cmake remembers of a checkout that moved, or of another compiler, is wrong: start afresh.
    if [ -f "$stamp" ] && [ "$(cut -d' ' -f1,2 "$stamp")" != "$root -DMPI_C_COMPILER=$cc" ]; then
        rm -rf "$dir"
    fi
    mkdir -p "$dir"
    if ! cmake -S . -B "$dir" "${generator[@]}" "${args[@]}" >"$dir/configure.log" 2>&1; then
        cat "$dir/configure.log" >&2
        rm -f "$dir/CMakeCache.txt" "$stamp"      # nothing half-found may stay
        return 1
    fi
    echo "$now" >"$stamp"
}

# Where nobody looks on, a line for each library and program, and whatever compilers say.
run_build() {
    if [ -t 1 ]; then
        cmake --build "$@"
    else
        cmake --build "$@" 2>&1 |
            sed -u -E -e 's/^\[[ 0-9/%]+\] (Linking .*)/\1/; t' -e '/^(\[[ 0-9\/%]+\]|--) /d'
    fi
}

build() {
    local family=$1 cc=$2 fc=$3
    shift 3
    echo "== $family ($cc)"
    (   # two makes at once must not build in one folder
        command -v flock >/dev/null && flock 9
        configure "$family" "$cc" "$fc"
        run_build "build/$family" --parallel "$(nproc)" --target "$@"
    ) 9>"build/$family.lock"
}

mpis=$(tools/mpis.sh)
if [ -z "$mpis" ]; then
    echo "no MPI found: looked for mpicc.openmpi, mpicc.mpich and mpicc${MPI:+; MPI=$MPI}" >&2
    exit 1
fi
check_dflags
mkdir -p build
while read -r family cc fc; do
    build "$family" "$cc" "$fc" "$@" </dev/null
done <<<"$mpis"
