# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll beside five MPIs: mpis.py gets and builds them, series.py says what is measured,
launches.py measures, table.py makes one table of it, verdicts.py judges it, page.py and draw.py
show it.
"""
