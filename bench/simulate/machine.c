/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.c - see machine.h. */
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double second = 1e12; /* in picoseconds */
static const double most_time = 1e3, most_count = 2147483647.0;

typedef struct parameter {
    const char *name;
    double *time; /* of these three one is given */
    double *bytes;
    int *count;
} parameter;

/* Its parameters, by names that end with the one that has none. */
static void list(machine *m, parameter *to)
{
    static const char *const names[LEVELS] = {"cache", "node", "group", "network"};
    static char text[LEVELS][8][32];
    for (int i = 0; i < LEVELS; i++) {
        level *l = &m->levels[i];
        const parameter all[] = {{"latency", .time = &l->latency},
                                 {"send", .time = &l->send},
                                 {"receive", .time = &l->receive},
                                 {"gap", .time = &l->gap},
                                 {"byte", .time = &l->byte},
                                 {"send_byte", .time = &l->send_byte},
                                 {"receive_byte", .time = &l->receive_byte},
                                 {"eager", .bytes = &l->eager}};
        for (int k = 0; k < 8; k++) {
            snprintf(text[i][k], sizeof text[i][k], "%s.%s", names[i], all[k].name);
            *to = all[k];
            to++->name = text[i][k];
        }
    }
    *to++ = (parameter){"cache.ranks", .count = &m->cache_ranks};
    *to++ = (parameter){"group.nodes", .count = &m->group_nodes};
    *to++ = (parameter){"copy.each", .time = &m->copy.each};
    *to++ = (parameter){"copy.byte", .time = &m->copy.byte};
    *to++ = (parameter){"reduce.each", .time = &m->reduce.each};
    *to++ = (parameter){"reduce.byte", .time = &m->reduce.byte};
    *to++ = (parameter){"round", .time = &m->round};
    *to = (parameter){.name = NULL};
}

/* What a value may be. */
static bool is_possible(const parameter *p, double number)
{
    if (p->time != NULL)
        return number <= most_time;
    return p->count == NULL || (number >= 1 && number <= most_count && floor(number) == number);
}

static bool set(const parameter *p, const char *value)
{
    char *end;
    const double number = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(number) || number < 0) {
        fprintf(stderr, "machine: %s: '%s' is no number from 0 on\n", p->name, value);
        return false;
    }
    if (!is_possible(p, number)) {
        fprintf(stderr, "machine: %s: %s is not possible, only %s\n", p->name, value,
                p->time != NULL ? "up to 1000 seconds" : "whole numbers from 1 to 2147483647");
        return false;
    }
    if (p->time != NULL)
        *p->time = number * second;
    else if (p->bytes != NULL)
        *p->bytes = number;
    else
        *p->count = (int)number;
    return true;
}

static bool read_one(const parameter *all, char *text)
{
    char *value = strchr(text, '=');
    if (value != NULL)
        *value++ = '\0';
    while (all->name != NULL && strcmp(all->name, text) != 0)
        all++;
    if (all->name != NULL && value != NULL)
        return set(all, value);
    fprintf(stderr, "machine: no parameter '%s'\n", text);
    return false;
}

bool machine_read(machine *m, const char *text)
{
    parameter all[8 * LEVELS + 8];
    char *copy = strdup(text), *rest = NULL;
    bool fine = copy != NULL;
    *m = (machine){.round = 0};
    for (int i = 0; i < LEVELS; i++)
        m->levels[i].eager = HUGE_VAL;
    list(m, all);
    for (char *one = fine ? strtok_r(copy, ",", &rest) : NULL; one != NULL && fine;
         one = strtok_r(NULL, ",", &rest))
        fine = read_one(all, one);
    free(copy);
    return fine;
}
