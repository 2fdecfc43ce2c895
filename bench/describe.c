/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c - crestacoll-describe: what this build is and can, as JSON, from the tables of the
 * library.  Needs no MPI_Init and no launcher. */
#include <stdio.h>
#include <string.h>

#include "core/config.h"
#include "core/mpi_compat.h"
#include "model/registry.h"

#include "json.h"

#if !defined(CCO_DEFAULT_IMPL)
#define CCO_DEFAULT_IMPL ""
#endif

#if defined(I_MPI_VERSION)
#define FAMILY "intelmpi"
#elif defined(OPEN_MPI)
#define FAMILY "openmpi"
#else
#define FAMILY "mpich"
#endif

static void put_mpi(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", standard[16];
    int length = 0;
    PMPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    snprintf(standard, sizeof standard, "%d.%d", MPI_VERSION, MPI_SUBVERSION);
    printf(" \"mpi\": {");
    json_field("family", FAMILY, ", ");
    json_field("library", library, ", ");
    json_field("standard", standard, "},\n");
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
    printf("],\n \"models\": [");
    for (int i = 0; cco_models[i] != NULL; i++) {
        printf(i ? ",\n  {" : "\n  {");
        json_field("name", cco_models[i]->name, ", ");
        json_field("doc", cco_models[i]->doc, ", ");
        printf("\"works\": %s, ", cco_models[i]->lacking == NULL ? "true" : "false");
        json_field("why", cco_models[i]->lacking != NULL ? cco_models[i]->lacking : "", "}");
    }
    printf("],\n \"environment\": [");
    for (int i = 0; i < cco_env_row_count; i++) {
        printf(i ? ",\n  {" : "\n  {");
        json_field("name", cco_env_rows[i].name, ", ");
        json_field("default", cco_env_rows[i].preset, ", ");
        json_field("help", cco_env_rows[i].help, "}");
    }
    printf("],\n ");
    json_field("default_impl", CCO_DEFAULT_IMPL, "}\n");
    return 0;
}
