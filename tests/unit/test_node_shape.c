/* SPDX-License-Identifier: BSD-3-Clause */
/* test_node_shape.c - CRESTA_NODE_SHAPE: what it may be, the groups that come of it, and the cache
 * lines that cross them; and what the system says of a cache.  Needs no running MPI. */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "base/core_place.h"
#include "testing/testing.h"
#include "transport/shm/crossings.h"

static void check_value(const char *text, int memories, int caches, int cores)
{
    setenv("CRESTA_NODE_SHAPE", text, 1);
    cco_config_read();
    const cco_node_shape s = cco_configured.node_shape;
    snprintf(testing_label, sizeof testing_label, "%s", text);
    CHECK(s.memories == memories && s.caches == caches && s.cores == cores, "%dx%dx%d", s.memories,
          s.caches, s.cores);
    CHECK((strstr(cco_configured.error, "expected auto") != NULL) ==
              (cores == 0 && strcmp(text, "auto") != 0),
          "'%s'", cco_configured.error);
}

static void values(void)
{
    check_value("auto", 0, 0, 0);
    check_value("2x4x16", 2, 4, 16);
    check_value("1x1x4096", 1, 1, 4096);
    static const char *const wrong[] = {"2x4", "0x4x16",  "2x-4x16",  "2x4x16x2",
                                        "far", "64x64x2", "4097x1x1", "9999x9999x9999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        check_value(wrong[i], 0, 0, 0);
    unsetenv("CRESTA_NODE_SHAPE");
}

/* Ranks 0 to p - 1 on a node of that shape. */
static void check_lines(cco_node_shape shape, int p, int count, int most, cco_crossings wanted)
{
    cco_core_place *places = malloc((size_t)p * sizeof *places);
    cco_groups g;
    snprintf(testing_label, sizeof testing_label, "%d ranks on %dx%dx%d", p, shape.memories,
             shape.caches, shape.cores);
    for (int i = 0; i < p; i++)
        places[i] = cco_core_place_in(&shape, i);
    CHECK(cco_groups_make(&g, places, p) && g.count == count && g.most == most,
          "%d groups of at most %d", g.count, g.most);
    const cco_crossings c = cco_crossings_levels(&g, places, p);
    CHECK(memcmp(&c, &wanted, sizeof c) == 0, "%ld lines, %ld, %ld", c.lines, c.caches, c.memories);
    const cco_crossings flat = cco_crossings_flat(places, p);
    CHECK(flat.lines == (long)p * (p - 1) && flat.caches >= c.caches, "%ld lines, %ld", flat.lines,
          flat.caches);
    cco_groups_free(&g);
    free(places);
}

static void cache_sizes(void)
{
    static const char *const none[] = {"", "K", "512", "512G", "-1K", "99999999999999999999M"};
    CHECK(cco_cache_bytes("512K\n") == 512 << 10, "512K");
    CHECK(cco_cache_bytes("32M") == 32 << 20, "32M");
    for (int i = 0; i < LEN(none); i++)
        CHECK(cco_cache_bytes(none[i]) == 0, "'%s'", none[i]);
    CHECK(cco_last_cache_here().bytes > 0 && cco_last_cache_here().cores > 0, "here");
}

int main(void)
{
    values();
    cache_sizes();
    /* Two sockets of 64 cores: 8 leaders, of which 4 are beyond the socket of each other. */
    check_lines((cco_node_shape){2, 4, 16}, 128, 8, 16, (cco_crossings){240 + 56, 56, 32});
    /* Caches of 32 cores come to two groups each: their leaders are near each other. */
    check_lines((cco_node_shape){2, 1, 32}, 64, 4, 16, (cco_crossings){120 + 12, 8, 8});
    /* More ranks than cores begin again at the first. */
    check_lines((cco_node_shape){1, 2, 4}, 20, 2, 12, (cco_crossings){36 + 2, 2, 0});
    return testing_end("node_shape");
}
