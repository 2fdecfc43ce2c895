/* SPDX-License-Identifier: BSD-3-Clause */
/* auto.c - see auto.h. */
#include "tune/auto.h"

#include <stdio.h>
#include <string.h>

#include "mpi/mpi_compat.h"
#include "model/registry.h"

static const struct {
    const char *family, *rule;
} measured[] = {
#define CCO_AUTO(family, rule) {#family, rule},
#include "tune/auto.def"
};

enum { ROWS = sizeof measured / sizeof *measured };

int cco_auto_most(void)
{
    return ROWS + 1;
}

const char *cco_auto_family(const char *library)
{
    static const char *const known[][2] = {{"Open MPI", "openmpi"}, {"MPICH", "mpich"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(library, known[i][0], strlen(known[i][0])) == 0)
            return known[i][1];
    return "other";
}

void cco_auto_spec(char *spec, size_t room)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    size_t used = 0;
    PMPI_Get_library_version(library, &length);
    const char *family = cco_auto_family(library);
    spec[0] = '\0';
    for (int i = 0; i < ROWS && used < room; i++)
        if (strcmp(measured[i].family, family) == 0)
            used += (size_t)snprintf(spec + used, room - used, "%s%s", used > 0 ? "," : "",
                                     measured[i].rule);
}

static MPI_Count auto_greater(MPI_Count a, MPI_Count b)
{
    return a > b ? a : b;
}

static void auto_narrow(int *min, int *max, int other_min, int other_max)
{
    *min = *min > other_min ? *min : other_min;
    *max = *max < other_max ? *max : other_max;
}

/* Narrows a measured rule to the calls that the user's rule is for; false if none are left. */
static bool narrow_to(cco_rule *narrowed, const cco_rule *rule)
{
    narrowed->collectives &= rule->collectives;
    narrowed->min = auto_greater(narrowed->min, rule->min);
    narrowed->max = -auto_greater(-narrowed->max, -rule->max);
    narrowed->classes |= rule->classes;
    auto_narrow(&narrowed->processes_min, &narrowed->processes_max, rule->processes_min,
                rule->processes_max);
    auto_narrow(&narrowed->nodes_min, &narrowed->nodes_max, rule->nodes_min, rule->nodes_max);
    auto_narrow(&narrowed->on_node_min, &narrowed->on_node_max, rule->on_node_min,
                rule->on_node_max);
    return narrowed->collectives != 0 && narrowed->min <= narrowed->max &&
           narrowed->processes_min <= narrowed->processes_max &&
           narrowed->nodes_min <= narrowed->nodes_max &&
           narrowed->on_node_min <= narrowed->on_node_max;
}

int cco_auto_expand(const cco_rules *rules, const cco_rule *rule, cco_rule *list)
{
    int count = 0;
    for (int i = 0; rules != NULL && i < rules->count; i++) {
        cco_rule *one = &list[count];
        *one = rules->list[i];
        if (!narrow_to(one, rule))
            continue;
        memcpy(one->pattern, rule->pattern, sizeof one->pattern);
        snprintf(one->text, sizeof one->text, "%.40s: %.50s", rule->text, rules->list[i].text);
        one->automatic = true;
        count++;
    }
    list[count] = *rule;
    list[count].model = cco_models[0];
    snprintf(list[count].impl, sizeof list[count].impl, "%s", cco_models[0]->name);
    return count + 1;
}
