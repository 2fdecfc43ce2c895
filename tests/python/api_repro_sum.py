# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of test_api_repro_sum.py: as many of them as each argument says, which are the first, print
sums of distributed arrays, in hexadecimal."""

import sys
from fractions import Fraction

import numpy as np
from mpi4py import MPI

import crestacoll

known = {}  # by what the numbers are: {bytes: their rational sum}


def share(array, comm):
    """What a rank has: uneven parts, in another order than the numbers."""
    rank, size = comm.rank, comm.size
    return array[rank::size] if size % 2 else np.array_split(array, size)[size - 1 - rank]


def ill_conditioned(rng, n):
    """Numbers whose sum is 1e-20 of the sum of their absolute values."""
    large = rng.standard_normal(n) * 10.0 ** rng.uniform(-12, 12, n)
    numbers = np.concatenate([large, -large, rng.standard_normal(9) * 1e-7])
    rng.shuffle(numbers)
    return numbers


def exact(array, comm):
    """By one rank for all, once: it takes longer than the sums that are tested."""
    if comm.rank == 0:
        of = array.tobytes(), array.dtype.str
        if of not in known:
            known[of] = sum(map(Fraction, array.tolist()), Fraction(0))
    return comm.bcast(known[of] if comm.rank == 0 else None)


def check(comm, name, array, expected=None):
    found = crestacoll.repro_sum(share(array, comm), comm)
    if expected is not None:
        right = np.array(expected, array.dtype.newbyteorder("="))
        assert found.tobytes() == right.tobytes(), (name, found, expected)
    if comm.rank == 0:
        print(name, found.tobytes().hex())


def sums(comm):
    rng = np.random.default_rng(1)
    x = ill_conditioned(rng, 20000)
    total, absolute = exact(x, comm), exact(np.abs(x), comm)
    exponent = round(np.log10(float(absolute / abs(total))))
    assert exponent >= 20, exponent
    check(comm, f"condition 1e{exponent}", x, float(total))
    plain = float(np.sum(x))
    assert abs(plain - float(total)) > abs(float(total)), "a plain sum is as good"

    y = rng.standard_normal(20000)
    check(comm, "normal", y, float(exact(y, comm)))
    check(comm, "subnormal", y * 5e-324 * 1e6, float(exact(y * 5e-324 * 1e6, comm)))
    check(comm, "two dimensions", y[:60].reshape(3, 4, 5), float(exact(y[:60], comm)))
    check(comm, "step", y[::-7], float(exact(y[::-7], comm)))
    check(comm, "empty", y[:0], 0.0)
    check(comm, "other byte order", y.astype(">f8"), float(exact(y, comm)))
    check(comm, "overflow in between", np.array([1e308] * 9 + [-1e308] * 8), 1e308)
    check(comm, "infinite", np.array([1.0, np.inf, 3.0, np.inf]), np.inf)
    nan = np.frombuffer(b"\0\0\0\0\0\0\xf8\x7f")[0]
    check(comm, "both", np.array([1.0, np.inf, 3.0, -np.inf]), nan)
    check(comm, "minus zero", np.array([-0.0] * 11), -0.0)
    check(comm, "zero", np.array([-0.0] * 11 + [0.0]), 0.0)

    z = x[:5000] + 1j * x[5000:10000]
    check(comm, "complex", z, complex(float(exact(z.real, comm)), float(exact(z.imag, comm))))
    f = (y[:5000] * 10.0 ** rng.uniform(-5, 5, 5000)).astype("f4")
    f = np.concatenate([f, -f[:4990]])
    check(comm, "float", f, None)
    double = crestacoll.repro_sum(share(f.astype("f8"), comm), comm)
    assert Fraction(float(double)) == exact(f, comm)  # few enough digits
    assert crestacoll.repro_sum(share(f, comm), comm) == np.float32(double)
    g = x.astype("g")
    long = crestacoll.Comm(comm).repro_sum(share(g, comm))
    assert long.dtype == g.dtype and float(long) == float(total)

    for wrong in (np.arange(3), np.ones(3, "f2")):
        try:
            crestacoll.repro_sum(wrong, comm)
            raise SystemExit(f"{wrong.dtype} was accepted")
        except TypeError as error:
            assert str(wrong.dtype) in str(error)


world = MPI.COMM_WORLD
for ranks in map(int, sys.argv[1:]):
    first = world.Split(0 if world.rank < ranks else MPI.UNDEFINED) if ranks < world.size else world
    if first != MPI.COMM_NULL:
        if first.rank == 0:
            print("ranks", first.size)
        sums(first)
