/* SPDX-License-Identifier: BSD-3-Clause */
/* peer_lists.c - see peer_lists.h. */
#include "peer_lists.h"

#include <stdint.h>

int peer_at(const int *dims, int ndims, int rank, const int *steps)
{
    int to = 0, worth = 1;
    for (int d = ndims - 1; d >= 0; d--) {
        to += (rank % dims[d] + steps[d] + dims[d]) % dims[d] * worth;
        worth *= dims[d];
        rank /= dims[d];
    }
    return to;
}

int peer_list_around(const int *dims, int ndims, int rank, int sign, int *peers)
{
    int offsets = 1, count = 0;
    for (int d = 0; d < ndims; d++)
        offsets *= 3;
    for (int o = 0; o < offsets; o++) {
        int steps[PEER_DIMS];
        for (int d = ndims - 1, left = o; d >= 0; d--, left /= 3)
            steps[d] = sign * (left % 3 - 1);
        if (o != offsets / 2)
            peers[count++] = peer_at(dims, ndims, rank, steps);
    }
    return count;
}

/* S. Vigna's splitmix64. */
static int below(uint64_t *state, int n)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (int)((x ^ x >> 31) % (uint64_t)n);
}

void peer_list_random(int rank, int size, int degree, int *peers)
{
    uint64_t state = (uint64_t)(1000 * size + rank);
    for (int at = 0; at < degree; at++) {
        const int round = at - at % (size - 1);
        int found, again;
        do {
            found = (rank + 1 + below(&state, size - 1)) % size;
            again = 0;
            for (int i = round; i < at; i++)
                again = again || peers[i] == found;
        } while (again);
        peers[at] = found;
    }
}

int peer_list_connected(int rank, int size, int connections, int *peers, char *there)
{
    uint64_t state = (uint64_t)(1000 * size + rank);
    int count = 0;
    for (int i = 0; i < connections; i++) {
        const int found = below(&state, size);
        if (found != rank && !there[found])
            peers[count++] = found;
        there[found] = 1;
    }
    for (int i = 0; i < count; i++)
        there[peers[i]] = 0;
    there[rank] = 0;
    return count;
}
