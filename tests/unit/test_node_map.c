/* SPDX-License-Identifier: BSD-3-Clause */
/* test_node_map.c - which ranks are on one node: from their keys, and as CRESTA_NODES says.  Needs
 * no running MPI. */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "base/imposed_nodes.h"
#include "base/node_key.h"
#include "sched/node_map.h"
#include "testing/testing.h"

/* The text says how many ranks there are, and the node of each in turn. */
static void check_text(const char *text, int ranks, const char *nodes)
{
    snprintf(testing_label, sizeof testing_label, "'%s'", text);
    CHECK(cco_imposed_ranks(text) == ranks, "%d ranks", cco_imposed_ranks(text));
    for (int i = 0; i < ranks && nodes[i] != '\0'; i++)
        CHECK(cco_imposed_node(text, i) == nodes[i] - '0', "rank %d on node %d", i,
              cco_imposed_node(text, i));
    const int count = (int)strlen(nodes);
    int all[16];
    cco_imposed_nodes(text, count, all);
    for (int i = 0; i < count; i++)
        CHECK(all[i] == nodes[i] - '0', "rank %d on node %d of all", i, all[i]);
}

static void texts(void)
{
    static const char *const wrong[] = {
        "",      "x",  "2x", "x4",   "0x4",   "2x0",  "2x4x2", "-2x4",    "3+",       "+3",
        "3+0+1", "3,", ",3", "1,-2", "3+1,2", "node", "2 x 4", "4194305", "2048x2049"};
    check_text("2x4", 8, "00001111");
    check_text("4x1", 4, "0123");
    check_text("3+1+4", 8, "00012222");
    check_text("5", 5, "00000");
    check_text("0,1,0,1", 4, "0101");
    check_text("7,7,2", 3, "772");
    check_text("2048x2048", 1 << 22, "0");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        check_text(wrong[i], 0, "");
}

static void setting(void)
{
    setenv("CRESTA_NODES", "2x4", 1);
    cco_config_read();
    CHECK(cco_configured.nodes != NULL && strcmp(cco_configured.nodes, "2x4") == 0, "2x4 is taken");
    setenv("CRESTA_NODES", "2x4x2", 1);
    cco_config_read();
    CHECK(cco_configured.nodes == NULL && strstr(cco_configured.error, "such as 2x4") != NULL,
          "'%s'", cco_configured.error);
    setenv("CRESTA_NODES", "auto", 1);
    cco_config_read();
    CHECK(cco_configured.nodes == NULL && cco_configured.error[0] == '\0', "'%s'",
          cco_configured.error);
    CHECK(cco_node_key() != 0 && cco_node_key() == cco_node_key(), "the key of this process");
}

/* Ranks on the nodes that the digits name. */
static void check_map(const char *nodes, int count, int least, int most, bool contiguous)
{
    enum { MOST = 16 };
    uint64_t keys[MOST];
    const int size = (int)strlen(nodes);
    for (int i = 0; i < size; i++)
        keys[i] = UINT64_MAX - (uint64_t)(nodes[i] - '0') * 1000003;
    cco_node_map *map = cco_node_map_new(keys, size);
    snprintf(testing_label, sizeof testing_label, "%s", nodes);
    CHECK(map->size == size && map->count == count, "%d nodes", map->count);
    CHECK(map->least == least && map->most == most, "%d to %d ranks", map->least, map->most);
    CHECK(map->contiguous == contiguous, "contiguous: %d", map->contiguous);
    CHECK(map->first[0] == 0 && map->first[count] == size, "first");
    for (int i = 0, next = 0; i < size; i++) {
        const int node = map->node[i];
        CHECK(node <= next, "nodes count in the order of their first ranks");
        next += node == next;
        CHECK(cco_node_rank(map, node, map->place[i]) == i, "rank %d", i);
        CHECK(map->place[i] < cco_node_ranks(map, node), "place of rank %d", i);
        for (int j = 0; j < i; j++)
            CHECK((map->node[j] == node) == (nodes[j] == nodes[i]), "ranks %d and %d", j, i);
    }
    CHECK(cco_node_map_keep(map) == map, "kept");
    cco_node_map_drop(map);
    CHECK(map->size == size, "still there");
    cco_node_map_drop(map);
}

int main(void)
{
    texts();
    setting();
    check_map("0", 1, 1, 1, true);
    check_map("3333", 1, 4, 4, true);
    check_map("2100", 3, 1, 2, true);
    check_map("0101", 2, 2, 2, false);
    check_map("90019", 3, 1, 2, false);
    check_map("5566778899", 5, 2, 2, true);
    return testing_end("test_node_map");
}
