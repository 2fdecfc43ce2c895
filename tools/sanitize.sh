#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# sanitize.sh - `make sanitize`: builds build/<mpi>-asan with AddressSanitizer and UBSan for every
# MPI found, and runs the tests of ctest there, one after another: each takes several times the
# memory. What either finds ends a program, and its test fails. The simulator's long tests are left
# out. Environment: MPI (only this one). Exit code 0 if all passed.
set -euo pipefail
cd "$(dirname "$0")/.."
simulator='^(algorithms(-.*)?|mutants)$'

build() {
    local folder=$1 cc=$2 fc=$3
    local options=(-DMPI_C_COMPILER="$cc" -DCRESTA_SANITIZE="address,undefined")
    [ "$fc" = - ] || options+=(-DMPI_Fortran_COMPILER="$fc")
    ! command -v ninja >/dev/null || options+=(-G Ninja)
    cmake -S . -B "$folder" "${options[@]}" && cmake --build "$folder" --parallel "$(nproc)"
}

mpis=$(tools/mpis.sh)
[ -n "$mpis" ] || { echo "make sanitize: no MPI found" >&2; exit 1; }
mkdir -p build
failed=""
while read -r family cc fc; do
    folder=build/$family-asan
    echo "== $family ($folder)"
    build "$folder" "$cc" "$fc" >"$folder.log" 2>&1 </dev/null ||
        { tail -50 "$folder.log"; exit 1; }
    ctest --test-dir "$folder" --output-on-failure -j1 -E "$simulator" </dev/null ||
        failed+=" $family"
done <<<"$mpis"
[ -z "$failed" ] || { echo "make sanitize: FAILED:$failed"; exit 1; }
echo "make sanitize: all passed"
