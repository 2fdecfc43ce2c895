# SPDX-License-Identifier: BSD-3-Clause
"""Files that ranks write with --profile, and what they say of a run."""
