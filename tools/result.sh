#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# result.sh static|shared - says where the libraries are. The document promises libcrestacoll.a
# (or .so) in the folder of
# the Makefile: a link to the one of the MPI whose mpicc comes first in PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
file=libcrestacoll.a
[ "$1" = static ] || file=libcrestacoll.so

default=""
of_mpicc=$(realpath "$(command -v mpicc || echo /)")
while read -r family cc _; do
    echo "$family: build/$family/lib/$file"
    if [ -z "$default" ] || [ "$(realpath "$cc")" = "$of_mpicc" ]; then
        default=$family
    fi
done < <(tools/mpis.sh)
ln -sfn "build/$default/lib/$file" $file
echo "here:    $file -> build/$default/lib/$file (use it with $default only)"
echo "to run an unchanged program instead: bin/crestacoll run --impl '*=nonblock' -- mpiexec ..."
if [ -n "${DFLAGS_LIB:-}" ]; then
    echo "built-in choice: $(python3 tools/dflags.py -- "$DFLAGS_LIB")"
else
    echo "built-in choice: none, every collective is the MPI's own (make help: DFLAGS_LIB)"
fi
