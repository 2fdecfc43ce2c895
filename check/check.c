/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c - crestacoll-check: every implementation of every collective on real ranks, against what
 * MPI says must come out, and against the MPI itself.  `crestacoll check` runs it.
 *
 *     mpiexec -n 2 crestacoll-check [--collectives LIST] [--impl LIST] [--all] [--list]
 *                                   [--seconds S] [--timeout S] [--progress] [--stop]
 *
 * --all adds every algorithm of each model; --list only names what would be tried.  --seconds
 * bounds what each takes (about), --timeout is when it is given up.  --stop ends after what is
 * wrong, since the job may suffer from it.  Exit code 1 if something is wrong, 2 for a wrong
 * option. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cells.h"
#include "groups.h"
#include "kinds.h"
#include "run.h"
#include "tell.h"

struct options {
    const char *collectives, *impls;
    bool all, list, progress, stop;
    double seconds;
    unsigned timeout;
};

static bool read_flag(struct options *o, const char *word)
{
    bool *const flags[] = {&o->all, &o->list, &o->progress, &o->stop};
    static const char *const names[] = {"--all", "--list", "--progress", "--stop"};
    for (int i = 0; i < 4; i++)
        if (strcmp(word, names[i]) == 0)
            return *flags[i] = true;
    return false;
}

static bool read_value(struct options *o, const char *word, const char *value)
{
    if (strcmp(word, "--collectives") == 0)
        o->collectives = value;
    else if (strcmp(word, "--impl") == 0)
        o->impls = value;
    else if (strcmp(word, "--seconds") == 0)
        o->seconds = atof(value);
    else if (strcmp(word, "--timeout") == 0)
        o->timeout = (unsigned)atoi(value);
    else
        return false;
    return true;
}

static bool read_options(struct options *o, int argc, char **argv)
{
    *o = (struct options){.seconds = 1, .timeout = 60};
    for (int i = 1; i < argc; i++) {
        if (read_flag(o, argv[i]))
            continue;
        if (i + 1 == argc || !read_value(o, argv[i], argv[i + 1])) {
            fprintf(stderr, "crestacoll-check: no option '%s', or its value is missing\n", argv[i]);
            return false;
        }
        i++;
    }
    return true;
}

static void list(const struct cells *cells)
{
    for (int i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->list[i];
        if (cell->way.model->lacking == NULL)
            printf("trying: %s=%s\n", cco_coll_infos[cell->which].name, cell->impl);
        else
            tell_not_here(cell, cell->way.model->lacking, NULL);
    }
}

/* True if all is well, on all ranks alike. */
static bool check(const struct options *o, const struct cells *cells)
{
    bool good = true;
    for (int i = 0; i < GROUPS; i++)
        if (groups[i].comm != MPI_COMM_NULL)
            MPI_Comm_set_errhandler(groups[i].comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < cells->count && (good || !o->stop); i++)
        good = cell_run(&cells->list[i], o->seconds) && good;
    return good;
}

/* On real ranks.  What was wrong may have left messages behind that MPI_Finalize would wait for. */
static int run(const struct options *o, const struct cells *cells)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MAX_RANKS) {
        if (rank == 0)
            fprintf(stderr, "crestacoll-check: at most %d ranks\n", MAX_RANKS);
        return 2;
    }
    tell_begin(rank, o->timeout, o->progress);
    layouts_make();
    kinds_make();
    groups_make();
    const bool good = check(o, cells);
    tell_end();
    if (!good)
        _exit(1);
    groups_free();
    kinds_free();
    layouts_free();
    return 0;
}

int main(int argc, char **argv)
{
    struct options o;
    struct cells cells;
    if (!read_options(&o, argc, argv) || !cells_make(&cells, o.collectives, o.impls, o.all))
        return 2;
    int code = 0;
    if (o.list)
        list(&cells);
    else {
        unsetenv("CRESTA_IMPL"); /* it would go before what is checked */
        setenv("CRESTA_FALLBACK", "error", 1);
        MPI_Init(&argc, &argv);
        code = run(&o, &cells);
        MPI_Finalize();
    }
    cells_free(&cells);
    return code;
}
