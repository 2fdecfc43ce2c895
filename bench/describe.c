/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c - crestacoll-describe: what this build is and can, as JSON, from the tables of the
 * library.  Needs no MPI_Init and no launcher. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/algo.h"
#include "config/config.h"
#include "mpi/mpi_compat.h"
#include "model/registry.h"
#include "tune/rules.h"

#include "json.h"

/* One binary serves MPICH and Intel MPI, of any version: the MPI tells which it is. */
static const char *family_of(const char *library)
{
#if defined(OPEN_MPI)
    (void)library;
    return "openmpi";
#else
    return strstr(library, "Intel(R) MPI") != NULL ? "intelmpi" : "mpich";
#endif
}

static void put_mpi(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", standard[16];
    int length = 0, version = 0, subversion = 0;
    PMPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    PMPI_Get_version(&version, &subversion);
    snprintf(standard, sizeof standard, "%d.%d", version, subversion);
    printf(" \"mpi\": {");
    json_field("family", family_of(library), ", ");
    json_field("library", library, ", ");
    json_field("standard", standard, "},\n");
}

/* "a|b|c" as ["a", "b", "c"]; [] for a number. */
static void put_names(const char *names)
{
    printf("\"names\": [");
    for (const char *name = names; name != NULL;) {
        const int n = (int)strcspn(name, "|");
        printf("%s\"%.*s\"", name != names ? ", " : "", n, name);
        name = name[n] == '|' ? name + n + 1 : NULL;
    }
    printf("], ");
}

static void put_params(const cco_param *list)
{
    for (const cco_param *p = list; p != NULL && p->name != NULL; p++) {
        printf(p != list ? ", {" : "{");
        json_field("name", p->name, ", ");
        printf("\"default\": %ld, \"min\": %ld, \"max\": %ld, ", p->preset, p->min, p->max);
        put_names(p->names);
        json_field("help", p->help, "}");
    }
}

static void put_algorithm(const cco_algo *algo)
{
    printf("{");
    json_field("name", algo->name, ", ");
    json_field("doc", algo->doc, ", \"params\": [");
    put_params(algo->params);
    printf("]}");
}

/* Those of each collective that has some; {} for a model without algorithms. */
static void put_algorithms(const cco_model *model)
{
    const cco_algo *algo;
    const char *before = "\n   ";
    printf("\"algorithms\": {");
    for (int c = 0; c < CCO_COLLECTIVES && model->algorithms != NULL; c++) {
        for (int i = 0; (algo = model->algorithms((cco_coll)c, i)) != NULL; i++) {
            printf("%s", i > 0 ? ",\n    " : before);
            if (i == 0)
                printf("\"%s\": [", cco_coll_infos[c].name);
            put_algorithm(algo);
        }
        if (model->algorithms((cco_coll)c, 0) != NULL) {
            printf("]");
            before = ",\n   ";
        }
    }
    printf("}}");
}

/* What begins of a model run, which thread level of the MPI that takes, and why it is not the model
 * itself. */
static void put_begins(const cco_model *model)
{
    const cco_way way = {.model = model};
    const char *why = NULL;
    const cco_path path = model->path != NULL ? model->path(NULL, &way, &why) : CCO_PATH_NONE;
    json_field("begins",
               path == CCO_PATH_NONE ? "nonblock"
               : why != NULL         ? "p2p"
                                     : model->name,
               ", ");
    json_field("begins_why", why != NULL ? why : "", ", ");
    json_field("begins_level", path == CCO_PATH_MESSAGES ? "MPI_THREAD_MULTIPLE" : "", ", ");
}

static void put_models(void)
{
    printf(" \"models\": [");
    for (int i = 0; cco_models[i] != NULL; i++) {
        printf(i ? ",\n  {" : "\n  {");
        json_field("name", cco_models[i]->name, ", ");
        json_field("doc", cco_models[i]->doc, ", ");
        printf("\"works\": %s, ", cco_models[i]->lacking == NULL ? "true" : "false");
        json_field("why", cco_models[i]->lacking != NULL ? cco_models[i]->lacking : "", ", ");
        json_field("below", cco_models[i]->below != NULL ? cco_models[i]->below->name : "", ", ");
        put_begins(cco_models[i]);
        printf("\"options\": [");
        put_params(cco_models[i]->options);
        printf("], ");
        put_algorithms(cco_models[i]);
    }
    printf("],\n");
}

/* What `auto` knows for this MPI: the text of such a rule has the measured one behind a colon. */
static void put_auto(void)
{
    char wrong[256];
    cco_rules *rules = cco_rules_parse("*=auto", "", wrong, sizeof wrong);
    const char *before = "";
    printf(" \"auto\": [");
    for (int i = 0; rules != NULL && i < rules->count; i++) {
        const char *rule = strchr(rules->list[i].text, ':');
        if (rule == NULL)
            continue;
        printf("%s", before);
        json_text(rule + 2);
        before = ", ";
    }
    printf("],\n");
    free(rules);
}

int main(void)
{
    printf("{\"version\": \"%d.%d.%d\",\n", CRESTA_VERSION_MAJOR, CRESTA_VERSION_MINOR,
           CRESTA_VERSION_PATCH);
    put_mpi();
    printf(" \"collectives\": [");
    for (int i = 0; i < CCO_COLLECTIVES; i++) {
        printf(i ? ", " : "");
        json_text(cco_coll_infos[i].name);
    }
    printf("],\n");
    put_models();
    put_auto();
    printf(" \"environment\": [");
    for (int i = 0; i < cco_env_row_count; i++) {
        printf(i ? ",\n  {" : "\n  {");
        json_field("name", cco_env_rows[i].name, ", ");
        json_field("default", cco_env_rows[i].preset, ", ");
        json_field("help", cco_env_rows[i].help, ", ");
        printf("\"equal\": %s}", cco_env_rows[i].same ? "true" : "false");
    }
    printf("],\n ");
    json_field("default_impl", CCO_DEFAULT_IMPL, "}\n");
    return 0;
}
