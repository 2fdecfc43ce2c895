# SPDX-License-Identifier: BSD-3-Clause
"""Which builds of crestacoll there are, for which MPIs, and on which machine."""
