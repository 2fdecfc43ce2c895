# SPDX-License-Identifier: BSD-3-Clause
"""Why a call ran as it did."""
