#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test.sh [REGEX] - runs the tests of every MPI found, or those whose name matches.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0
while read -r family _; do
    echo "== $family"
    ctest --test-dir "build/$family" --output-on-failure --no-tests=error --parallel "$(nproc)" \
          ${1:+--tests-regex "$1"} </dev/null || failed=1
done < <(tools/mpis.sh)
exit $failed
