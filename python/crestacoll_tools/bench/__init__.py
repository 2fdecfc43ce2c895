# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks and checks of the library: started, read, shown."""
