# SPDX-License-Identifier: BSD-3-Clause
"""Rules and tuning files: what is chosen for a call, and where that comes from."""
