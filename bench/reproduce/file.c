/* SPDX-License-Identifier: BSD-3-Clause */
/* file.c - see file.h. */
#include "file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 8192, TYPES = 64, BLANK = 0x5a /* in memory whose content is not given */ };

/* A file that is being read. */
struct reader {
    const char *path;
    FILE *file;
    cco_call *call;
    int size;
    MPI_Datatype types[TYPES];
    int count;
    struct place {
        long long offset;
        size_t bytes;
        int given;
        char *memory;
    } send, recv;
};

void reproduce_stop(const char *path, const char *what)
{
    fprintf(stderr, "crestacoll: %s: %s\n", path, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
    abort();
}

static void *memory_for(const struct reader *r, size_t n)
{
    void *memory = malloc(n + 1);
    if (memory == NULL)
        reproduce_stop(r->path, "no memory for its data");
    return memory;
}

static void read_line(const struct reader *r, char line[LINE])
{
    if (fgets(line, LINE, r->file) == NULL)
        reproduce_stop(r->path, "it ends too early");
    line[strcspn(line, "\n")] = '\0';
}

static bool begins(const char *line, const char *word, const char **rest)
{
    const size_t n = strlen(word);
    *rest = line + n + 1;
    return strncmp(line, word, n) == 0 && line[n] == ' ';
}

static MPI_Datatype type_numbered(const struct reader *r, long long i)
{
    if (i == -1)
        return MPI_DATATYPE_NULL;
    if (i < 0 || i >= r->count)
        reproduce_stop(r->path, "it has no such type");
    return r->types[i];
}

/* A type with the same bytes at the same places. */
static MPI_Datatype read_derived(const struct reader *r, const char *text)
{
    char line[LINE];
    long long low, extent;
    size_t size, runs;
    MPI_Datatype bare, type;
    if (sscanf(text, "%zu %lld %lld %zu", &size, &low, &extent, &runs) != 4)
        reproduce_stop(r->path, "a type is not described");
    MPI_Aint *at = memory_for(r, runs * sizeof *at);
    int *n = memory_for(r, runs * sizeof *n);
    for (size_t i = 0; i < runs; i++) {
        long long offset;
        read_line(r, line);
        if (sscanf(line, "%lld %d", &offset, &n[i]) != 2)
            reproduce_stop(r->path, "a type is not described");
        at[i] = (MPI_Aint)offset;
    }
    MPI_Type_create_hindexed((int)runs, n, at, MPI_BYTE, &bare);
    MPI_Type_create_resized(bare, (MPI_Aint)low, (MPI_Aint)extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&bare);
    free(at);
    free(n);
    return type;
}

static void read_type(struct reader *r, const char *text)
{
    const char *derived;
    if (r->count == TYPES)
        reproduce_stop(r->path, "it has too many types");
    const MPI_Datatype type = begins(text, "derived", &derived) ? read_derived(r, derived)
                                                                : reproduce_type_named(text);
    if (type == MPI_DATATYPE_NULL)
        reproduce_stop(r->path, "it names a type that this MPI does not have");
    r->types[r->count++] = type;
}

/* One array of the call, from its line; the numbers may be more than a line holds. */
static bool read_array(struct reader *r, const char *line)
{
    static const char *const names[] = {"sendcounts", "senddispls", "recvcounts",
                                        "recvdispls", "sendtypes",  "recvtypes"};
    cco_call *c = r->call;
    const void **members[] = {&c->sendcounts, &c->senddispls, &c->recvcounts, &c->recvdispls};
    const char *at = NULL;
    size_t which = 0;
    while (which < 6 && !begins(line, names[which], &at))
        which++;
    if (which == 6)
        return false;
    char *end;
    const size_t count = strtoul(at, &end, 10);
    MPI_Count *wide = memory_for(r, count * sizeof *wide);
    MPI_Datatype *types = memory_for(r, count * sizeof(*types));
    int *narrow = memory_for(r, count * sizeof *narrow);
    for (size_t i = 0; i < count; i++) {
        const long long number = strtoll(end, &end, 10);
        wide[i] = (MPI_Count)number;
        narrow[i] = (int)number;
        types[i] = which >= 4 ? type_numbered(r, number) : MPI_DATATYPE_NULL;
    }
    if (which < 4)
        *members[which] = c->large ? (void *)wide : (void *)narrow;
    else
        *(which == 4 ? &c->sendtypes : &c->recvtypes) = types;
    return true;
}

static void read_arguments(cco_call *c, const char *text)
{
    int large;
    long long sent, received;
    char in_place[8] = "0";
    sscanf(text, "%d %lld %lld %7s", &large, &sent, &received, in_place);
    c->large = large;
    c->sendcount = (MPI_Count)sent;
    c->recvcount = (MPI_Count)received;
    if (strcmp(in_place, "send") == 0)
        c->sendbuf = MPI_IN_PLACE;
    else if (strcmp(in_place, "recv") == 0)
        c->recvbuf = MPI_IN_PLACE;
}

/* A line of a part; false for the last one. */
static bool take_line(struct reader *r, const char *line)
{
    const char *rest;
    struct place *place = begins(line, "send", &rest)   ? &r->send
                          : begins(line, "recv", &rest) ? &r->recv
                                                        : NULL;
    if (place != NULL)
        sscanf(rest, "%lld %zu %d", &place->offset, &place->bytes, &place->given);
    else if (begins(line, "arguments", &rest))
        read_arguments(r->call, rest);
    else if (begins(line, "type", &rest))
        read_type(r, rest);
    else if (begins(line, "sendtype", &rest))
        r->call->sendtype = type_numbered(r, atoll(rest));
    else if (begins(line, "recvtype", &rest))
        r->call->recvtype = type_numbered(r, atoll(rest));
    else if (!read_array(r, line))
        return strcmp(line, "data") != 0;
    return true;
}

/* Memory for a buffer with the data that are given; what the call gets for it. */
static void *read_place(struct reader *r, struct place *p)
{
    if (p->bytes == 0)
        return NULL;
    p->memory = memory_for(r, p->bytes);
    memset(p->memory, BLANK, p->bytes);
    if (p->given && fread(p->memory, 1, p->bytes, r->file) != p->bytes)
        reproduce_stop(r->path, "it ends too early");
    return (void *)((uintptr_t)p->memory - (uintptr_t)p->offset);
}

static char *read_text_line(struct reader *r)
{
    char *line = NULL;
    size_t room = 0;
    const ssize_t n = getline(&line, &room, r->file);
    if (n <= 0)
        reproduce_stop(r->path, "it ends too early");
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* The part of this rank, at which the file stands. */
static void read_part(struct reader *r)
{
    bool more = true;
    while (more) {
        char *line = read_text_line(r);
        more = take_line(r, line);
        free(line);
    }
    void *sent = read_place(r, &r->send), *received = read_place(r, &r->recv);
    cco_call *c = r->call;
    if (c->recvbuf != MPI_IN_PLACE)
        c->recvbuf = received;
    if (c->coll == CCO_BCAST)
        c->sendbuf = c->recvbuf;
    else if (c->sendbuf != MPI_IN_PLACE)
        c->sendbuf = sent;
    const int properties = cco_coll_infos[c->coll].properties;
    if (properties & CCO_REDUCTION || c->coll == CCO_BCAST)
        c->sendtype = c->recvtype;
}

static MPI_Op op_named(const char *path, const char *name)
{
    const struct {
        const char *name;
        MPI_Op op;
    } ops[] = {{"none", MPI_OP_NULL},     {"MPI_SUM", MPI_SUM},   {"MPI_PROD", MPI_PROD},
               {"MPI_MAX", MPI_MAX},      {"MPI_MIN", MPI_MIN},   {"MPI_LAND", MPI_LAND},
               {"MPI_LOR", MPI_LOR},      {"MPI_LXOR", MPI_LXOR}, {"MPI_BAND", MPI_BAND},
               {"MPI_BOR", MPI_BOR},      {"MPI_BXOR", MPI_BXOR}, {"MPI_MINLOC", MPI_MINLOC},
               {"MPI_MAXLOC", MPI_MAXLOC}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(ops[i].name, name) == 0)
            return ops[i].op;
    reproduce_stop(path, "its operation is one of the program that made the call: no other program"
                         " has it");
}

static void take_head(struct reader *r, const char *line)
{
    const char *rest;
    cco_call *c = r->call;
    if (begins(line, "collective", &rest)) {
        int i = 0;
        while (i < CCO_COLLECTIVES && strcmp(cco_coll_infos[i].name, rest) != 0)
            i++;
        c->coll = (cco_coll)i;
    } else if (begins(line, "root", &rest))
        c->root = atoi(rest);
    else if (begins(line, "operation", &rest))
        c->op = op_named(r->path, rest);
    else if (begins(line, "ranks", &rest) && atoi(rest) != r->size)
        reproduce_stop(r->path, "its call has another number of ranks");
}

void reproduce_read(cco_call *call, const char *path, int rank, int size, MPI_Comm comm)
{
    struct reader r = {.path = path, .file = fopen(path, "r"), .call = call, .size = size};
    *call = (cco_call){.coll = CCO_COLLECTIVES, .comm = comm};
    if (r.file == NULL)
        reproduce_stop(path, "cannot read this file");
    char *line = read_text_line(&r);
    if (strcmp(line, "crestacoll reproducer 1") != 0)
        reproduce_stop(path, "it is no reproducer of this version");
    for (int part = -1; part != rank;) {
        size_t bytes = 0;
        free(line);
        line = read_text_line(&r);
        if (sscanf(line, "part %d %zu", &part, &bytes) != 2)
            take_head(&r, line);
        else if (part != rank)
            fseek(r.file, (long)bytes, SEEK_CUR);
    }
    free(line);
    if (call->coll == CCO_COLLECTIVES)
        reproduce_stop(path, "it names no collective");
    read_part(&r);
    fclose(r.file);
}
