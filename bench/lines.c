/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - JSON lines that all benchmarks print. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "json.h"

void bench_print_header(const struct bench_options *o, const struct bench_world *w,
                        const char *more)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    printf("{\"type\": \"header\", ");
    json_field("mpi", o->label, ", ");
    json_field("mpi_library", library, "");
    printf(", \"ranks\": %d, \"hosts\": %d, \"cores\": %d, \"cores_each\": %d, "
           "\"oversubscribed\": %s%s}\n",
           w->size, w->hosts, w->cores, w->cores_each, w->oversubscribed ? "true" : "false", more);
    fflush(stdout);
}

void bench_print_note(const struct bench_world *w, const char *about, const char *text)
{
    if (w->rank != 0)
        return;
    printf("{\"type\": \"note\", ");
    json_field("about", about, ", ");
    json_field("text", text, "}\n");
    fflush(stdout);
}
