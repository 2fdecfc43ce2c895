/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning.c - crestacoll-tuning [FILE]: what ranks of this build, on this machine, make of a tuning
 * file, as JSON; without a file only what machine and MPI this is.  Needs no MPI_Init and no
 * launcher. */
#include "tune/tuning_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "tune/tuning.h"

static void put_machine(const char *key, const cco_machine *machine)
{
    printf("\"%s\": {", key);
    json_field("cpu", machine->cpu, ", ");
    json_number("cores", (unsigned long long)machine->cores, ", ");
    json_field("mpi", machine->mpi, "}");
}

/* The rules are tried even if they are not used: `force:FILE` would use them. */
static void put_tuning(cco_tuning *tuning, const cco_machine *here, const char *error)
{
    char why[1400];
    const bool used = cco_machine_same(&tuning->made, here, why, sizeof why);
    cco_rules *rules = cco_tuning_rules(tuning, "");
    printf(",\n ");
    put_machine("made", &tuning->made);
    printf(",\n \"used\": %s, ", used ? "true" : "false");
    json_field("why", why, ", ");
    json_number("rules", rules != NULL ? (unsigned long long)rules->count : 0, ", ");
    json_field("error", error, "");
    free(rules);
}

static void put_file(const char *path, const cco_machine *here)
{
    char error[1024];
    size_t length;
    cco_tuning tuning;
    char *text = cco_tuning_text(path, &length);
    if (text == NULL) {
        snprintf(error, sizeof error, "%.500s: cannot read this file: %s", path, strerror(errno));
        printf(",\n ");
        json_field("error", error, "");
    } else if (!cco_tuning_read(&tuning, text, length, path, error, sizeof error)) {
        printf(",\n ");
        json_field("error", error, "");
    } else {
        put_tuning(&tuning, here, error);
    }
    if (text != NULL)
        cco_json_free(&tuning.json);
    free(text);
}

int main(int count, char **words)
{
    cco_machine here = {.cores = 0};
    cco_machine_here(&here);
    printf("{");
    put_machine("here", &here);
    if (count > 1)
        put_file(words[1], &here);
    printf("}\n");
    return 0;
}
