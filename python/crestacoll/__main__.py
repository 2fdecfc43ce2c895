# SPDX-License-Identifier: BSD-3-Clause
from crestacoll.cli import main

main()
