# SPDX-License-Identifier: BSD-3-Clause
"""How the two ends of a TCP connection show that they know the job's token without sending it, as
src/rollcall/proof.h describes it.
"""

import os
import struct

MASK = (1 << 64) - 1
INIT = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def left(word, bits):
    return (word << bits | word >> (64 - bits)) & MASK


def mix(v):
    """A round of SipHash."""
    a, b, c, d = v
    a, c = (a + b) & MASK, (c + d) & MASK
    b, d, a = left(b, 13) ^ a, left(d, 16) ^ c, left(a, 32)
    c, a = (c + b) & MASK, (a + d) & MASK
    b, d, c = left(b, 17) ^ c, left(d, 21) ^ a, left(c, 32)
    return a, b, c, d


def siphash(key, text):
    """SipHash-2-4 of bytes under a key of 16 bytes."""
    low, high = struct.unpack("<2Q", key)
    v = tuple(k ^ i for k, i in zip((low, high, low, high), INIT, strict=True))
    whole = text + bytes(7 - len(text) % 8) + bytes([len(text) % 256])
    for (word,) in struct.iter_unpack("<Q", whole):
        a, b, c, d = mix(mix((*v[:3], v[3] ^ word)))
        v = a ^ word, b, c, d
    a, b, c, d = mix(mix(mix(mix((v[0], v[1], v[2] ^ 0xFF, v[3])))))
    return a ^ b ^ c ^ d


def nonce():
    return os.urandom(16).hex()


def proof(token, side, challenge, answer):
    """What a side ("rank" or "run") sends, from the nonces of both."""
    return f"{siphash(bytes.fromhex(token), f'{side} {challenge} {answer}'.encode()):016x}"


def is_proof(given, *known):
    import hmac  # it loads OpenSSL, and few runs have ranks on other hosts

    return hmac.compare_digest(given.encode(), proof(*known).encode())
