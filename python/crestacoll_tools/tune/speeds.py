# SPDX-License-Identifier: BSD-3-Clause
"""The speeds of the machine that a tuning meets. Cores of a virtual machine share a cache at one
time and none at another, and what gains at one may lose at the other.
"""

from crestacoll_tools.builds import machine

SELDOM = 0.05  # of what was measured; a speed that was met less often asks for no proof


class Speeds:
    """`met`: [{"line_us": an exchange of a cache line, "times": how often}], which it adds to."""

    def __init__(self, met):
        self.met = met

    def take(self, line_us):
        """Counts one measurement, of which crestacoll-bench told the exchange before and after."""
        if not is_one_speed(line_us):
            return
        number = self.number(line_us)
        if number is None:
            self.met.append({"line_us": line_us[0], "times": 0})
            number = len(self.met) - 1
        self.met[number]["times"] += 1

    def number(self, line_us):
        """That of a measurement, from 0; None if it is not known, or changed meanwhile."""
        if is_one_speed(line_us):
            for number, known in enumerate(self.met):
                if machine.same_speed(line_us[0], known["line_us"]):
                    return number
        return None

    def usual(self):
        """The numbers of those at which rules have to be proved."""
        every = sum(known["times"] for known in self.met)
        return {k for k, known in enumerate(self.met) if known["times"] >= SELDOM * every}


def is_one_speed(line_us):
    return bool(line_us) and min(line_us) > 0 and machine.same_speed(*line_us)
