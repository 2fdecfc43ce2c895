/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - see report.h. */
#include "validate/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "call/data.h"
#include "config/env_kinds.h"
#include "base/hold_signals.h"
#include "reduce/kernels.h"
#include "base/log.h"
#include "wait/wait.h"
#include "validate/part.h"

enum { PATH = 600, PIECE = 1 << 30, MOST_FILES = 1000 };

/* Rank 0: a new file; NULL, and errno, if there can be none. */
static FILE *open_new(const cco_check *k, char path[PATH])
{
    const char *begins = cco_configured.validate_files;
    for (int i = 1; begins != NULL && i < MOST_FILES; i++) { /* other jobs may write beside us */
        snprintf(path, PATH, "%.500s-%s-%d", begins, cco_coll_infos[k->call.coll].name, i);
        const int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (file >= 0)
            return fdopen(file, "w");
        if (errno != EEXIST)
            return NULL;
    }
    return NULL;
}

static const char *name_of_op(MPI_Op op)
{
    static const char *const names[] = {"MPI_SUM",  "MPI_PROD", "MPI_MAX",    "MPI_MIN",
                                        "MPI_LAND", "MPI_LOR",  "MPI_LXOR",   "MPI_BAND",
                                        "MPI_BOR",  "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC"};
    return cco_op_predefined(op) ? names[cco_loop_of(op)] : "program";
}

/* Settings on which it may depend what an implementation does. */
static void write_settings(FILE *file, const cco_check *k)
{
    static const char *const names[] = {"CRESTA_SHM_MEMORY", "CRESTA_SHM_DISTANCE",
                                        "CRESTA_NODE_SHAPE", "CRESTA_NODES", "CRESTA_DEBUG"};
    char value[CCO_VALUE];
    int world = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world);
    for (int i = 0; i < cco_env_row_count; i++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            const cco_env_row *row = &cco_env_rows[i];
            if (strcmp(row->name, names[n]) != 0 ||
                (strcmp(row->name, "CRESTA_NODES") == 0 && k->of->state->size != world))
                continue;
            row->kind->show((const char *)&cco_configured + row->at, value);
            if (value[0] != '\0')
                fprintf(file, "setting %s=%s\n", row->name, value);
        }
}

static void write_head(FILE *file, const cco_check *k, const char *text)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    const cco_call *c = &k->call;
    const int properties = cco_coll_infos[c->coll].properties;
    fprintf(file, "crestacoll reproducer 1\nversion %d.%d.%d\nmpi %s\n", CRESTA_VERSION_MAJOR,
            CRESTA_VERSION_MINOR, CRESTA_VERSION_PATCH, version);
    fprintf(file, "collective %s\nimplementation %s\ncommunicator %s\nranks %d\n",
            cco_coll_infos[c->coll].name, k->choice->impl, k->of->state->name, k->of->state->size);
    fprintf(file, "root %d\noperation %s\n", properties & CCO_ROOTED ? c->root : 0,
            properties & CCO_REDUCTION ? name_of_op(c->op) : "none");
    write_settings(file, k);
    fprintf(file, "difference %s\n", text);
}

/* The part of a rank, in pieces that an int can count. */
static void send_part(const cco_content *mine, MPI_Comm comm, int tag)
{
    const uint64_t n = mine->failed ? 0 : mine->used;
    cco_transfer_to(comm, 0, tag, &n, sizeof n);
    for (uint64_t done = 0; done < n; done += PIECE)
        cco_transfer_to(comm, 0, tag, mine->data + done, n - done < PIECE ? n - done : PIECE);
}

static void take_part(cco_content *part, MPI_Comm comm, int rank, int tag)
{
    uint64_t n = 0;
    cco_transfer_from(comm, rank, tag, &n, sizeof n);
    char *to = n > 0 ? cco_content_add(part, n) : NULL;
    if (n > 0 && to == NULL)
        cco_fatal("no memory for what rank %d gives to a reproducer", rank);
    part->failed = n == 0;
    for (uint64_t done = 0; done < n; done += PIECE)
        cco_transfer_from(comm, rank, tag, to + done, n - done < PIECE ? n - done : PIECE);
}

/* Rank 0: true if all parts are in the file. */
static bool write_parts(FILE *file, const cco_content *mine, const cco_check *k, MPI_Comm comm,
                        int tag)
{
    bool fine = file != NULL;
    for (int rank = 0; rank < k->of->state->size; rank++) {
        cco_content other = {.data = NULL};
        if (rank > 0)
            take_part(&other, comm, rank, tag);
        const cco_content *part = rank > 0 ? &other : mine;
        fine = fine && !part->failed;
        if (fine)
            fine = fprintf(file, "part %d %zu\n", rank, part->used) > 0 &&
                   fwrite(part->data, 1, part->used, file) == part->used;
        cco_content_free(&other);
    }
    return fine;
}

static void validate_report_describe(const cco_check *k, const cco_difference *d, char *text,
                                     size_t room)
{
    const cco_comm *state = k->of->state;
    const bool near = cco_is_neighbor(k->call.coll);
    int used = snprintf(text, room,
                        "Error in CRESTA_%s: %s%s and %s differ: communicator '%s' of %d rank%s,"
                        " rank %d, %scall %llu there",
                        cco_coll_infos[k->call.coll].mpi_name, k->begun ? "begun " : "",
                        k->choice->impl, cco_reference_name(&k->reference), state->name,
                        state->size, cco_plural(state->size), (int)d->rank,
                        k->begun ? "begun " : "", (unsigned long long)k->number);
    if (d->gap)
        used += snprintf(text + used, room - (size_t)used, ", a gap between the data of");
    else
        used += snprintf(text + used, room - (size_t)used, ", element %lld of",
                         (long long)d->element);
    used += snprintf(text + used, room - (size_t)used,
                     " block %lld (offset %lld bytes in the"
                     " receive buffer)",
                     (long long)d->block, (long long)d->offset);
    if (cco_coll_infos[k->call.coll].properties & CCO_SIZED && !near)
        used += snprintf(text + used, room - (size_t)used, ", %lld byte%s", (long long)k->bytes,
                         cco_plural(k->bytes));
    snprintf(text + used, room - (size_t)used, ": expected %s, found %s; %lld element%s there",
             d->expected, d->found, (long long)d->wrong, d->wrong == 1 ? " differs" : "s differ");
}

/* What it was called with, for readers of the message on another rank. */
static void validate_report_bring(const cco_check *k, cco_difference *d, int who, MPI_Comm comm,
                                  int tag)
{
    const int rank = k->of->state->rank;
    if (who == 0 || (rank != 0 && rank != who))
        return;
    if (rank == who)
        cco_transfer_to(comm, 0, tag, d, sizeof *d);
    else
        cco_transfer_from(comm, who, tag, d, sizeof *d);
}

/* Rank 0 writes the file and tells what `how` the call is made again. */
static void write_file(const cco_check *k, const char *text, const cco_content *mine, MPI_Comm comm,
                       int tag, char *how, size_t room)
{
    char path[PATH] = "";
    cco_held_signals held;
    cco_hold_signals(&held);
    errno = 0;
    FILE *file = open_new(k, path);
    const int error = errno;
    if (file != NULL)
        write_head(file, k, text);
    const bool written = write_parts(file, mine, k, comm, tag);
    if (file == NULL)
        snprintf(how, room, "no file for crestacoll reproduce: %s: %s", path, strerror(error));
    else if (fclose(file) == 0 && written)
        snprintf(how, room, "crestacoll reproduce %s makes the call again", path);
    else {
        unlink(path);
        snprintf(how, room, "no file for crestacoll reproduce: %s cannot be written", path);
    }
    cco_let_signals_go(&held);
}

void cco_report_difference(cco_check *k, const cco_difference *first, int who)
{
    char text[1024], how[PATH + 200] = "";
    cco_comm *state = k->of->state;
    cco_difference told = *first;
    cco_content mine = {.data = NULL};
    const char *begins = cco_configured.validate_files;
    const bool near = cco_is_neighbor(k->call.coll); /* their topology is not written */
    const bool written = !near && begins != NULL && strcmp(begins, "none") != 0;
    cco_channel *channel = cco_comm_channel(state);
    const int tag = channel != NULL ? cco_channel_call(channel) : -1;
    if (tag >= 0)
        validate_report_bring(k, &told, who, channel->comm, tag);
    if (state->rank == (tag >= 0 ? 0 : who))
        validate_report_describe(k, &told, text, sizeof text);
    if (tag >= 0 && written) {
        cco_part_write(&mine, k);
        if (state->rank != 0)
            send_part(&mine, channel->comm, tag);
        else
            write_file(k, text, &mine, channel->comm, tag, how, sizeof how);
        cco_content_free(&mine);
    }
    if (state->rank == (tag >= 0 ? 0 : who))
        cco_say("%s%s%s", text, how[0] ? "; " : "", how);
}

void cco_report_begun(const cco_check *k, const cco_difference *first)
{
    char text[1024];
    validate_report_describe(k, first, text, sizeof text);
    cco_say("%s", text);
}

/* All tags are free there. */
void cco_report_file(const cco_check *k, const cco_difference *first, int who, MPI_Comm comm)
{
    char text[1024], how[PATH + 200] = "";
    cco_difference told = *first;
    cco_content mine = {.data = NULL};
    const char *begins = cco_configured.validate_files;
    if (begins == NULL || strcmp(begins, "none") == 0)
        return;
    validate_report_bring(k, &told, who, comm, 0);
    cco_part_write(&mine, k);
    if (k->of->state->rank != 0) {
        send_part(&mine, comm, 0);
    } else {
        validate_report_describe(k, &told, text, sizeof text);
        write_file(k, text, &mine, comm, 0, how, sizeof how);
        cco_say("validate: CRESTA_%s, begun: %s, as a blocking call",
                cco_coll_infos[k->call.coll].mpi_name, how);
    }
    cco_content_free(&mine);
}
