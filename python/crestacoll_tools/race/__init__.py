# SPDX-License-Identifier: BSD-3-Clause
"""Whether one setting is faster than another, and how sure that is."""
