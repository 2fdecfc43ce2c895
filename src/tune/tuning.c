/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning.c - see tuning.h. */
#include "tune/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuning_rule.h"

static void read_head(cco_tuning *tuning, int head)
{
    enum { MACHINE, MPI, CPU = 0, CORES };
    static const char *const about[] = {"machine", "mpi", NULL}, *const cores[] = {"cpu", "cores",
                                                                                   NULL};
    static const cco_json_members head_has = {"the head", about, 3, true};
    static const cco_json_members machine_has = {"the machine", cores, 3, true};
    cco_json *json = &tuning->json;
    int of_head[2], of_machine[2];
    cco_json_object(json, head, &head_has, of_head);
    cco_json_object(json, of_head[MACHINE], &machine_has, of_machine);
    cco_json_string(json, of_machine[CPU], "cpu", tuning->made.cpu, sizeof tuning->made.cpu);
    cco_json_whole(json, of_machine[CORES], "cores", &tuning->made.cores);
    cco_json_string(json, of_head[MPI], "mpi", tuning->made.mpi, sizeof tuning->made.mpi);
}

bool cco_tuning_read(cco_tuning *tuning, const char *text, size_t length, const char *source,
                     char *error, size_t room)
{
    enum { SCHEMA, HEAD, RULES, PARTS };
    static const char *const parts[] = {"schema", "head", "rules", NULL};
    static const cco_json_members any_has = {"a tuning file", parts, 1, true};
    static const cco_json_members file_has = {"a tuning file", parts, 7, false};
    char schema[64];
    int part[PARTS];
    cco_json *json = &tuning->json;
    *tuning = (cco_tuning){.made.cores = 0};
    cco_json_parse(json, text, length, source, error, room);
    cco_json_object(json, 0, &any_has, part);
    cco_json_string(json, part[SCHEMA], "schema", schema, sizeof schema);
    if (strcmp(schema, CCO_TUNING_SCHEMA) != 0)
        cco_json_fail(json, part[SCHEMA], "this is \"%s\"; this version of crestacoll reads \"%s\"",
                      schema, CCO_TUNING_SCHEMA);
    cco_json_object(json, 0, &file_has, part);
    read_head(tuning, part[HEAD]);
    cco_json_array(json, part[RULES], "rules");
    tuning->rules = part[RULES];
    return !cco_json_failed(json);
}

cco_rules *cco_tuning_rules(cco_tuning *tuning, const char *name)
{
    cco_json *json = &tuning->json;
    const int count = cco_json_array(json, tuning->rules, "rules");
    cco_rules *rules = calloc(1, sizeof *rules + (size_t)count * sizeof rules->list[0]);
    if (rules == NULL)
        cco_json_fail(json, tuning->rules, "no memory for these rules");
    else
        snprintf(rules->source, sizeof rules->source, "%s", name);
    for (int at = tuning->rules + 1; rules != NULL && rules->count < count;
         at = cco_json_next(json, at))
        if (!cco_tuning_rule(json, at, &rules->list[rules->count++]))
            break;
    if (!cco_json_failed(json))
        return cco_rules_keep_texts(rules);
    free(rules);
    return NULL;
}
