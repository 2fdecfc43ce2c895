# SPDX-License-Identifier: BSD-3-Clause
"""What is to be measured: a point is one collective on one number of ranks, at all sizes."""

from crestacoll_tools.base.ui import USAGE, Problem
from crestacoll_tools.explore.arms import COPIES, LARGE, single_copy
from crestacoll_tools.rules.collectives import REDUCTIONS, UNSIZED

MPI = "mpi"


def rank_counts(text):
    """'4' -> [2, 4]: the powers of two up to the numbers given, and these."""
    try:
        given = sorted({int(word) for word in text.split(",")})
    except ValueError:
        given = []
    if not given or given[0] < 2:
        raise Problem(f"-n {text}: expected numbers of ranks from 2 on, such as 8 or 2,6", USAGE)
    powers = [1 << i for i in range(1, given[-1].bit_length()) if 1 << i <= given[-1]]
    return sorted({*powers, *given})


def collectives(text, known, keep_rounding):
    """The names that `text` lists, or all of them."""
    asked = list(known) if text == "all" else [n for n in text.lower().split(",") if n]
    for name in asked:
        if name not in known:
            raise Problem(f"no collective '{name}'; there are: {', '.join(known)}", USAGE)
    kept = [n for n in dict.fromkeys(asked) if not (keep_rounding and n in REDUCTIONS)]
    if not kept:
        raise Problem("--keep-rounding leaves nothing to tune: all are reductions", USAGE)
    return kept


def points(options):
    """All of a grid, in the order in which they are measured: few ranks first."""
    return [
        {"collective": c, "ranks": n, "done": False, "short": False, "cells": [], "notes": []}
        for n in options["ranks"]
        for c in options["collectives"]
    ]


def sizes_of(collective, sizes):
    """A barrier has no bytes."""
    return [0] if collective == "barrier" else sorted(sizes)


def sized(collective):
    return collective not in UNSIZED


def models(build):
    """The first race: the MPI's own collectives, and each model that works."""
    return build.implementations


def model_of(implementation):
    return implementation.partition(":")[0].partition("?")[0]


def algorithms(build, collective, model):
    """All of a model for a collective, and another way to copy; empty if it has none to choose
    from."""
    described = {m["name"]: m for m in build.description["models"]}
    names = described[model]["algorithms"].get(collective, [])
    copies = single_copy(model, collective, None)
    return [*copies, *(f"{model}:{a['name']}" for a in names)] if len(names) > 1 else copies


def means_more(implementation, size):
    """False for another way to copy what is not copied so."""
    return implementation not in COPIES.values() or size >= LARGE
