# SPDX-License-Identifier: BSD-3-Clause
"""One page of all that was measured."""
