/* SPDX-License-Identifier: BSD-3-Clause */
/* utf8.c - see utf8.h. */
#include "base/utf8.h"

#include <stdbool.h>

int cco_utf8_decode(const char *at, const char *end, unsigned *code)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (at >= end)
        return 0;
    const unsigned first = (unsigned char)*at;
    const int length = first < 0x80             ? 1
                       : (first & 0xe0) == 0xc0 ? 2
                       : (first & 0xf0) == 0xe0 ? 3
                       : (first & 0xf8) == 0xf0 ? 4
                                                : 0;
    *code = length > 1 ? first & (0xffu >> (length + 1)) : first;
    if (end - at < length)
        return 0;
    for (int i = 1; i < length; i++) {
        const unsigned next = (unsigned char)at[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (next & 0x3f);
    }
    const bool pair = *code >= 0xd800 && *code < 0xe000;
    return *code >= least[length] && *code <= 0x10ffff && !pair ? length : 0;
}

int cco_utf8_encode(unsigned code, char bytes[4])
{
    const int length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = length - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    bytes[0] = (char)(length > 1 ? (0xf00u >> length & 0xff) | code : code);
    return length;
}
