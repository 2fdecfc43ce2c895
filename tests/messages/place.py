# SPDX-License-Identifier: BSD-3-Clause
"""Screens of `crestacoll place`."""

import place_data


def _place(screen, data, *words):
    screen.write("p.json", data)
    screen.crestacoll("place", "--profile", "p.json", *words)


def fewer_bytes_between_nodes(screen):
    """A grid whose columns are many."""
    _place(screen, place_data.grid(4, 4, seed=3), "--hosts", "4x4")


def nothing_gained(screen):
    """The order is the best that was found."""
    _place(screen, place_data.grid(2, 2), "--hosts", "1x3,1x1")


def one_host(screen):
    """Nothing can cross between nodes."""
    _place(screen, place_data.grid(2, 2), "--hosts", "1x4")


def named_hosts(screen):
    """A host file of the user."""
    screen.write("hosts", "alpha slots=2\nbeta:2\n")
    _place(screen, place_data.grid(2, 2), "--hostfile", "hosts")


def refusals(screen):
    """What place cannot do."""
    _place(screen, place_data.grid(4, 4), "--hosts", "1x1")
    _place(screen, place_data.grid(2, 2), "--hosts", "four")
    _place(screen, place_data.grid(2, 2))
    screen.write("hosts", "alpha slots=many\n")
    _place(screen, place_data.grid(2, 2), "--hostfile", "hosts")
    screen.write("placed", "")
    _place(screen, place_data.grid(2, 2), "--hosts", "1x4", "--output", "placed")
