# SPDX-License-Identifier: BSD-3-Clause
"""How jobs are started, on this host and on others, and what they print as they end."""
