/* SPDX-License-Identifier: BSD-3-Clause */
/* proof.c - see proof.h. */
#define _GNU_SOURCE
#include "rollcall/proof.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static uint64_t proof_left(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int count)
{
    for (; count > 0; count--) {
        v[0] += v[1], v[2] += v[3];
        v[1] = proof_left(v[1], 13) ^ v[0], v[3] = proof_left(v[3], 16) ^ v[2];
        v[0] = proof_left(v[0], 32);
        v[2] += v[1], v[0] += v[3];
        v[1] = proof_left(v[1], 17) ^ v[2], v[3] = proof_left(v[3], 21) ^ v[0];
        v[2] = proof_left(v[2], 32);
    }
}

/* At most 8 bytes, the first one as the lowest. */
static uint64_t proof_word_of(const unsigned char *at, size_t bytes)
{
    uint64_t word = 0;
    for (size_t i = bytes; i > 0; i--)
        word = word << 8 | at[i - 1];
    return word;
}

static uint64_t proof_siphash(const unsigned char key[16], const unsigned char *text, size_t length)
{
    const uint64_t k0 = proof_word_of(key, 8), k1 = proof_word_of(key + 8, 8);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u,
                     k1 ^ 0x7465646279746573u};
    for (size_t at = 0; at <= length; at += 8) { /* the last word has fewer than 8 bytes */
        const bool last = at + 8 > length;
        const uint64_t word = last ? proof_word_of(text + at, length - at) | (uint64_t)length << 56
                                   : proof_word_of(text + at, 8);
        v[3] ^= word;
        sip_rounds(v, 2);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

bool cco_proof_nonce(char nonce[CCO_NONCE])
{
    uint64_t drawn[2];
    if (getrandom(drawn, sizeof drawn, GRND_NONBLOCK) != sizeof drawn)
        return false;
    snprintf(nonce, CCO_NONCE, "%016" PRIx64 "%016" PRIx64, drawn[0], drawn[1]);
    return true;
}

bool cco_proof_make(const char *token, const char *side, const char *challenge, const char *nonce,
                    char proof[CCO_PROOF])
{
    unsigned char key[16];
    char text[160];
    for (size_t i = 0; i < sizeof key; i++)
        if (sscanf(token + 2 * i, "%2hhx", &key[i]) != 1)
            return false;
    const int n = snprintf(text, sizeof text, "%s %s %s", side, challenge, nonce);
    if (n < 0 || (size_t)n >= sizeof text)
        return false;
    snprintf(proof, CCO_PROOF, "%016" PRIx64,
             proof_siphash(key, (const unsigned char *)text, (size_t)n));
    return true;
}
