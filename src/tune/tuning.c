/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning.c - see tuning.h. */
#include "tune/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuning_rule.h"

enum { NAME = 64 }; /* of a member; longer ones are none of ours */

/* One of the members that an object must have, or may have. */
typedef struct member {
    const char *name;
    void (*read)(cco_json *json, cco_tuning *tuning); /* NULL: not for the library */
    bool needed;
} member;

/* Reads the next object; what is no member of the list is an error if the object is `closed`. */
static void read_object(cco_json *json, cco_tuning *tuning, const char *what, const member *list,
                        int count, bool closed)
{
    char name[NAME];
    unsigned seen = 0;
    const char *start = cco_json_place(json);
    cco_json_open(json, CCO_JSON_OBJECT);
    for (;;) {
        int i = 0;
        if (!cco_json_member(json, name, sizeof name))
            break;
        while (i < count && strcmp(list[i].name, name) != 0)
            i++;
        if (i == count && closed)
            cco_json_fail(json, json->name, "%s has no member \"%s\"", what, name);
        if (i < count && seen >> i & 1)
            cco_json_fail(json, json->name, "\"%s\" stands here twice", name);
        if (i < count && list[i].read != NULL)
            list[i].read(json, tuning);
        else
            cco_json_skip(json);
        seen |= i < count ? 1u << i : 0;
    }
    for (int i = 0; i < count; i++)
        if (list[i].needed && !(seen >> i & 1))
            cco_json_fail(json, start, "%s has no \"%s\"", what, list[i].name);
}

static void read_schema(cco_json *json, cco_tuning *tuning)
{
    char text[NAME];
    const char *place = cco_json_place(json);
    (void)tuning;
    if (cco_json_string(json, "schema", text, sizeof text) && strcmp(text, CCO_TUNING_SCHEMA) != 0)
        cco_json_fail(json, place, "this is \"%s\"; this version of crestacoll reads \"%s\"", text,
                      CCO_TUNING_SCHEMA);
}

static void read_cpu(cco_json *json, cco_tuning *tuning)
{
    cco_json_string(json, "cpu", tuning->made.cpu, sizeof tuning->made.cpu);
}

static void read_cores(cco_json *json, cco_tuning *tuning)
{
    cco_json_whole(json, "cores", &tuning->made.cores);
}

static void read_machine(cco_json *json, cco_tuning *tuning)
{
    static const member list[] = {{"cpu", read_cpu, true}, {"cores", read_cores, true}};
    read_object(json, tuning, "the machine", list, 2, false);
}

static void read_mpi(cco_json *json, cco_tuning *tuning)
{
    cco_json_string(json, "mpi", tuning->made.mpi, sizeof tuning->made.mpi);
}

static void read_head(cco_json *json, cco_tuning *tuning)
{
    static const member list[] = {{"machine", read_machine, true}, {"mpi", read_mpi, true}};
    read_object(json, tuning, "the head", list, 2, false);
}

/* Later. */
static void pass_rules(cco_json *json, cco_tuning *tuning)
{
    const char *place = cco_json_place(json);
    tuning->rules = *json;
    if (cco_json_peek(json) != CCO_JSON_ARRAY)
        cco_json_fail(json, place, "rules must be an array");
    cco_json_skip(json);
}

bool cco_tuning_read(cco_tuning *tuning, const char *text, size_t length, const char *source,
                     char *error, size_t room)
{
    static const member list[] = {
        {"schema", read_schema, true}, {"head", read_head, true}, {"rules", pass_rules, true}};
    cco_json json;
    *tuning = (cco_tuning){.made.cores = 0};
    cco_json_start(&json, text, length, source, error, room);
    if (length > CCO_TUNING_MOST)
        cco_json_fail(&json, text + CCO_TUNING_MOST,
                      "here it exceeds the %d bytes that a tuning file may have", CCO_TUNING_MOST);
    else
        read_object(&json, tuning, "a tuning file", list, 3, true);
    return cco_json_finish(&json);
}

/* Room for one more rule; NULL when memory runs out. */
static cco_rules *with_room(cco_rules *rules, int *room)
{
    if (rules != NULL && rules->count < *room)
        return rules;
    const int more = rules != NULL ? 2 * *room : 8;
    cco_rules *larger = realloc(rules, sizeof *rules + (size_t)more * sizeof rules->list[0]);
    if (larger == NULL) {
        free(rules);
        return NULL;
    }
    if (rules == NULL)
        memset(larger, 0, sizeof *larger);
    *room = more;
    return larger;
}

cco_rules *cco_tuning_rules(const cco_tuning *tuning, const char *name)
{
    cco_json json = tuning->rules;
    int room = 0;
    cco_rules *rules = with_room(NULL, &room);
    cco_json_open(&json, CCO_JSON_ARRAY);
    while (rules != NULL && cco_json_element(&json)) {
        rules = with_room(rules, &room);
        if (rules != NULL && cco_tuning_rule(&json, &rules->list[rules->count]))
            rules->count++;
    }
    if (rules == NULL)
        snprintf(json.error, json.room, "%s: no memory for its rules", json.source);
    else
        snprintf(rules->source, sizeof rules->source, "%s", name);
    if (!cco_json_failed(&json))
        return cco_rules_keep_texts(rules);
    free(rules);
    return NULL;
}
