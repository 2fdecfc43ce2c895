# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll demo`: explorations of one program on several MPIs and hosts."""
