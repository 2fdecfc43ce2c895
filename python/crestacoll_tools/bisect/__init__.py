# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll bisect`: which setting changes what a program says, found by halving."""
