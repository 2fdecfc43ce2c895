#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# setup.sh [build|venv|all|check] - sees to what the targets of the Makefile need; quick when it is
# there.
#
#   build   a C compiler, cmake, one MPI           (make static, shared, install)
#   venv    .venv with the Python packages          (make install)
#   all     everything: both MPIs, FFTW, .venv...  (make demo, test)
#   check   and what reads the sources             (make quick, check, nightly)
#
# On Debian and its descendants missing packages are installed, as root or by sudo without a
# password. Elsewhere, and without root, it says what is missing. A machine with one MPI, or without
# the optional packages, works with what it has.
set -euo pipefail
cd "$(dirname "$0")/.."
level=${1:-all}

base=(cmake gcc libc6-dev)
fortran=(gfortran)
openmpi=(openmpi-bin libopenmpi-dev)
mpich=(mpich libmpich-dev)
extra=(ninja-build pkg-config libfftw3-dev valgrind iproute2 python3-dev
       libcoarrays-dev libcoarrays-openmpi-dev libcoarrays-mpich-dev)
# Tests skip without them: what looks at reports, a second simulator, libraries that call MPI-IO and
# what sees system calls, readers of man pages and of module files, another allocator, compilers for
# other processors and an emulator of one.
[ -z "${CI:-}" ] || extra+=(chromium libsimgrid-dev groff-base lmod strace
                         libjemalloc2 gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu
                         gcc-powerpc64le-linux-gnu libc6-dev-arm64-cross
                         libc6-dev-riscv64-cross libc6-dev-ppc64el-cross qemu-user
                         libhdf5-openmpi-dev libhdf5-mpich-dev libpnetcdf-dev)

say() { echo "set-up: $*"; }

# --- what is needed, and is it there? ---------------------------------------------------
have() { command -v "$1" >/dev/null 2>&1; }

have_fftw() {
    echo "#include <fftw3.h>" | gcc -E -x c - >/dev/null 2>&1 ||
        pkg-config --exists fftw3 2>/dev/null
}

python_is_new_enough() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

# The python3 that can make a .venv: the first in PATH (maybe pyenv's), else the system's.
python_for_venv() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import sys, venv, ensurepip
sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    return 1
}

# One line for each thing without which the level cannot work, by tools and not by packages.
lacking() {
    have gcc || have cc || echo "a C compiler (gcc)"
    have cmake || echo "cmake 3.22 or later"
    [ -n "$(tools/mpis.sh)" ] ||
        echo "an MPI: ${MPI:-Open MPI or MPICH} with its compiler wrapper (mpicc)"
    [ "$level" = all ] || [ "$level" = check ] || return 0
    [ -n "$venv_ok" ] || python_is_new_enough || echo "Python 3.10 or later (python3)"
    have gfortran || have "${FC:-gfortran}" || echo "a Fortran compiler (gfortran)"
    have_fftw || echo "FFTW 3 with its headers"
    [ -n "$venv_ok" ] || python_for_venv >/dev/null ||
        echo "Python's venv and ensurepip (python3-venv)"
}

# --- Debian packages --------------------------------------------------------------------
is_debian() { have dpkg-query && have apt-get; }

wanted_packages() {
    local list=("${base[@]}" "${fortran[@]}" "${extra[@]}")
    [ "${MPI:-openmpi}" != openmpi ] || list+=("${openmpi[@]}")
    [ "${MPI:-mpich}" != mpich ] || list+=("${mpich[@]}")
    [ -n "$venv_ok" ] || python_for_venv >/dev/null || list+=(python3-venv)
    printf '%s\n' "${list[@]}"
}

missing_packages() {
    local wanted installed
    wanted=$(wanted_packages | sort)
    # shellcheck disable=SC2086,SC2016
    installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $wanted 2>/dev/null |
                sed -n 's/ installed$//p' | sort -u) || true      # it fails where one is unknown
    comm -13 <(echo "$installed") <(echo "$wanted") | xargs
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_be_root() { [ "$(id -u)" = 0 ] || { have sudo && sudo -n true 2>/dev/null; }; }

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

# A bare machine has no lists of packages, an old one has stale lists: both show as a failure to
# install.
install_packages() {
    say "installing $*"
    apt install -y --no-install-recommends "$@" >/dev/null 2>&1 && return
    apt update && apt install -y --no-install-recommends "$@" >/dev/null
}

see_to_packages() {
    if [ "$level" = build ] && [ -z "$(lacking)" ]; then return; fi
    local missing
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0
    if may_be_root; then
        # shellcheck disable=SC2086
        install_packages $missing || say "apt-get failed; trying with what is here"
    elif [ -z "$(lacking)" ]; then
        say "not installed, and some tests will be left out: $missing"
    fi
}

complain() {
    {
        echo "set-up: missing on this machine:"
        sed 's/^/  - /' <<<"$1"
        if is_debian; then
            echo "As root:"
            echo "  apt-get update"
            echo "  apt-get install -y --no-install-recommends $(missing_packages)"
        else
            echo "Install them with the package manager (or module load), then run make again."
        fi
    } >&2
    exit 1
}

# --- .venv ------------------------------------------------------------------------------
stamp=.venv/.requirements
readers=.venv/.requirements-check

fingerprint() { cat requirements.txt; echo "# in $PWD"; }

venv_is_good() {
    [ -f $stamp ] && [ "$(cat $stamp)" = "$(fingerprint)" ] && .venv/bin/python -c '' 2>/dev/null
}

# A .venv that runs is brought up to date in place; one that was moved or lost its python is not.
venv_is_usable() {
    .venv/bin/python -m pip --version >/dev/null 2>&1 && grep -qsxF "# in $PWD" $stamp
}

see_to_venv() {
    [ -z "$venv_ok" ] || return 0
    local python
    if [ -L .venv ] && ! venv_is_usable; then       # --clear would empty what it points to
        say ".venv is a link to another folder's: remove it, and run this again" >&2
        return 1
    fi
    python=$(python_for_venv) || { say "no python3 with venv and ensurepip" >&2; return 1; }
    say "making .venv with $("$python" --version)"
    "$python" -m venv $(venv_is_usable || echo --clear) .venv
    .venv/bin/python -m pip --disable-pip-version-check install --quiet --no-input \
        -r requirements.txt || {
        say "pip could not install requirements.txt (it needs the network once)" >&2
        return 1
    }
    rm -f $readers
    fingerprint >$stamp
}

# What reads the sources: make check tells what is left out without it.
see_to_readers() {
    if cmp -s requirements-check.txt $readers; then return; fi
    if .venv/bin/python -m pip --disable-pip-version-check install --quiet --no-input \
        -r requirements-check.txt; then
        cp requirements-check.txt $readers
    else
        say "pip could not install requirements-check.txt: the sources' format is not checked"
    fi
}

# ----
venv_ok=""
if [ "$level" != build ] && venv_is_good; then venv_ok=yes; fi
if [ "$level" != venv ]; then
    if is_debian; then see_to_packages; fi
    needed=$(lacking)
    if [ -n "$needed" ]; then complain "$needed"; fi
fi
if [ "$level" != build ]; then see_to_venv; fi
if [ "$level" = check ]; then see_to_readers; fi
