# SPDX-License-Identifier: BSD-3-Clause
"""Lets the interfaces of a network name space take long segments of TCP (Linux from 6.3 on, where
`ip` of older distributions cannot say it): python segments.py BYTES DEVICE

An interface in hardware cuts what the kernel gives it into packets and moves them without the help
of a core. Those of name spaces are the kernel's own: every segment takes some time of a core there.
"""

import contextlib
import socket
import struct
import sys

NEWLINK, REQUEST, ACK = 16, 1, 4  # linux/rtnetlink.h, linux/netlink.h
GSO_MAX_SIZE, GRO_MAX_SIZE = 63, 64  # linux/if_link.h: IFLA_GSO_IPV4_MAX_SIZE, IFLA_GRO_...


def attribute(kind, number):
    return struct.pack("=HHI", 8, kind, number)


def message(index, size):
    link = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, 0, 0)
    body = link + attribute(GSO_MAX_SIZE, size) + attribute(GRO_MAX_SIZE, size)
    return struct.pack("=IHHII", 16 + len(body), NEWLINK, REQUEST | ACK, 1, 0) + body


def lengthen(device, size):
    """Raises OSError where the kernel does not want it."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as s:
        s.send(message(socket.if_nametoindex(device), size))
        (error,) = struct.unpack_from("=i", s.recv(4096), 16)
    if error:
        raise OSError(-error, f"{device} takes no segments of {size} bytes")


if __name__ == "__main__":
    with contextlib.suppress(OSError):
        lengthen(sys.argv[2], int(sys.argv[1]))
