# SPDX-License-Identifier: BSD-3-Clause
"""What a job left that did not come to MPI_Finalize: the black boxes of its processes."""
