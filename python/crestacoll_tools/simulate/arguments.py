# SPDX-License-Identifier: BSD-3-Clause
"""Values on the command line of `crestacoll simulate`."""

import re

import click


class Skew(click.ParamType):
    """exponential:10us"""

    name = "skew"
    UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}

    def convert(self, value, param, ctx):
        from crestacoll_tools.simulate.jobs import Skew as Found

        if isinstance(value, Found):
            return value
        m = re.fullmatch(r"(uniform|exponential|normal):(\d+(?:\.\d+)?)(ns|us|ms|s)", value)
        if value != "none" and not m:
            self.fail(
                f"'{value}': expected uniform:TIME, exponential:TIME or normal:TIME, such as"
                " uniform:10us",
                param,
                ctx,
            )
        return Found(m[1], float(m[2]) * self.UNITS[m[3]]) if m else Found()


class CommSizes(click.ParamType):
    """row=64,col=64, or 4:1=64"""

    name = "sizes"

    def convert(self, value, param, ctx):
        if isinstance(value, dict):
            return value
        found = {}
        for text in value.split(","):
            name, equal, size = text.rpartition("=")
            if not equal or not re.fullmatch(r"[1-9]\d*", size) or name in found:
                self.fail(f"'{value}': expected sizes such as row=64,col=64", param, ctx)
            found[name] = int(size)
        return found
