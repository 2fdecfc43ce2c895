# SPDX-License-Identifier: BSD-3-Clause
"""Collectives on a machine that is not there: `crestacoll simulate`."""
