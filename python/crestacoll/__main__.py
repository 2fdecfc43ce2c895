# SPDX-License-Identifier: BSD-3-Clause
from crestacoll_tools.cli import main

main()
