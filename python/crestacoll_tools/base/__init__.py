# SPDX-License-Identifier: BSD-3-Clause
"""What all sub-commands share: words on the screen, files that are written, sizes."""
