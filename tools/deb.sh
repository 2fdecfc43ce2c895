#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# deb.sh - `make deb`: Debian packages of the last commit, source and binary, in build/deb.
#
# Needs dpkg-dev and the packages of Build-Depends in packaging/debian/control.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(tools/check_version.py --print)
to=build/deb
rm -rf $to
tarball=$(tools/dist.py $to)
tar -xf "$tarball" -C $to
mv "$tarball" "$to/crestacoll_$version.orig.tar.gz"
cp -r packaging/debian "$to/crestacoll-$version/debian"
cd "$to/crestacoll-$version"
dpkg-buildpackage -us -uc "$@"
