# SPDX-License-Identifier: BSD-3-Clause
"""Tuning of a machine: the work of `crestacoll tune`.

grid: what is to be measured; state: what is known of it; measure: the jobs; search: what goes on
in which order; rules: from what was measured to a tuning file; words: what is printed.
"""
