# SPDX-License-Identifier: BSD-3-Clause
"""Which rank of a program should run on which node: what `crestacoll place` needs."""
