#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpis.sh - the MPIs of this machine, one a line: "openmpi mpicc.openmpi mpif90.openmpi". No
# Fortran wrapper: "-".
# MPI=openmpi or MPI=mpich in the environment keeps only that one.
set -euo pipefail

# Debian's wrappers carry the name of their MPI; elsewhere (module load, spack) mpicc is whatever
# comes first in PATH.
family_of() {
    local macros
    macros=$(echo '#include <mpi.h>' | "$1" -E -dM -x c - 2>/dev/null) || return 0
    case $macros in
        *'#define OPEN_MPI '*)                               echo openmpi ;;
        *'#define MPICH_VERSION '*|*'#define I_MPI_VERSION '*) echo mpich ;;
    esac
}

first_of() {
    local name
    for name; do command -v "$name" && return; done
    echo -
}

folder() { dirname "$(command -v "$1")"; }

# A plain mpicc in another folder than Debian's was put there on purpose: it is the MPI of its
# family.
plain=$(command -v mpicc || true)
plain_family=""
for debian in mpicc.openmpi mpicc.mpich; do
    if [ -n "$plain" ] && command -v $debian >/dev/null &&
       [ "$(folder mpicc)" = "$(folder $debian)" ]; then
        plain=""
    fi
done
[ -z "$plain" ] || plain_family=$(family_of mpicc)

for family in openmpi mpich; do
    [ -z "${MPI:-}" ] || [ "$MPI" = $family ] || continue
    if [ "$plain_family" = $family ]; then
        echo "$family $plain $(first_of mpifort mpif90)"
    elif command -v mpicc.$family >/dev/null; then
        echo "$family $(command -v mpicc.$family) $(first_of mpifort.$family mpif90.$family)"
    fi
done
