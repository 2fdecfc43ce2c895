# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll explore`: finds the best choice of implementations for a program, proves it and
explains it. Points and arms (arms.py), one run of the program (runs.py), the races one after the
other (search.py), why there are none (reasons.py), what is kept between them (state.py), the result
in words (words.py), as pages (page.py, draw.py).
"""
