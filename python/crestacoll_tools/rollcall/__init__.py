# SPDX-License-Identifier: BSD-3-Clause
"""What the ranks of a job that hangs are in: who asks them (ask, listen), what they answer
(records), what follows from that (verdict).
"""
