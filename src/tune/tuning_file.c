/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning_file.c - see tuning_file.h. */
#include "tune/tuning_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "base/log.h"
#include "mpi/service.h"
#include "base/world.h"
#include "tune/machine.h"
#include "tune/tuning.h"

#define FORCE "force:"

enum { ERROR = sizeof cco_configured.error };

/* The file and what is in it, on the rank that reads, and then on all. */
typedef struct loaded {
    char *text;
    size_t length;
    bool used; /* it was made on what this is, or that does not matter */
    cco_tuning tuning;
    cco_rules *rules; /* NULL if they are not used */
} loaded;

static bool is_forced(void)
{
    return strncmp(cco_configured.tuning, FORCE, strlen(FORCE)) == 0;
}

static const char *file_name(void)
{
    return cco_configured.tuning + (is_forced() ? strlen(FORCE) : 0);
}

/* Its name where errors and choices are reported. */
static void name_source(char source[256])
{
    snprintf(source, 256, "CRESTA_TUNING=%.240s", cco_configured.tuning);
}

static void name_rules(char name[64])
{
    const char *slash = strrchr(file_name(), '/');
    snprintf(name, 64, "CRESTA_TUNING=%.24s", slash != NULL ? slash + 1 : file_name());
}

char *cco_tuning_text(const char *path, size_t *length)
{
    enum { ROOM = CCO_TUNING_MOST + 1 };
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    char *text = malloc(ROOM);
    errno = ENOMEM;
    *length = text != NULL ? fread(text, 1, ROOM, file) : 0;
    const int error = errno;
    if (text != NULL && ferror(file)) {
        free(text);
        text = NULL;
    }
    fclose(file);
    errno = error;
    return text;
}

/* Whether the file is for this machine and this MPI; says so if not. */
static bool is_for_here(const loaded *l, const char *source)
{
    static bool told; /* a process may read it twice: for sessions, and in MPI_Init */
    cco_machine here = {.cores = 0};
    char text[1400];
    cco_machine_here(&here);
    if (cco_machine_same(&l->tuning.made, &here, text, sizeof text))
        return true;
    if (told || !cco_world_reports())
        return is_forced();
    told = true;
    if (is_forced())
        cco_log(CCO_LOG_INFO, "%s is used, although %s", source, text);
    else
        cco_log(CCO_LOG_WARN,
                "%s is not used: %s; CRESTA_TUNING=" FORCE "FILE uses it nevertheless", source,
                text);
    return is_forced();
}

/* The text on the rank that reads; false on an error. */
static bool tuning_file_read_text(loaded *l, const char *source, char error[ERROR])
{
    l->text = cco_tuning_text(file_name(), &l->length);
    if (l->text == NULL)
        snprintf(error, ERROR, "%s: cannot read this file: %s", source, strerror(errno));
    return l->text != NULL;
}

/* The rules of the text, if they are used, which the rank that reads decides; false on an error. */
static bool tuning_file_read_rules(loaded *l, bool decides, const char *source, char error[ERROR])
{
    char name[64];
    const bool good = cco_tuning_read(&l->tuning, l->text, l->length, source, error, ERROR);
    if (good && decides)
        l->used = is_for_here(l, source);
    name_rules(name);
    if (good && l->used)
        l->rules = cco_tuning_rules(&l->tuning, name);
    cco_json_free(&l->tuning.json);
    return good && (!l->used || l->rules != NULL);
}

/* What the ranks of a communicator compare. */
static void tuning_file_remember(const loaded *l)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < l->length; i++)
        hash = (hash ^ (unsigned char)l->text[i]) * 0x100000001b3u;
    snprintf(cco_configured.tuning_read, sizeof cco_configured.tuning_read,
             "%016llx (%zu bytes, %s)", (unsigned long long)hash, l->length,
             l->used ? "used" : "not used");
}

/* The text, and whether it is used: rank 0 decides, for ranks may run on different machines. */
static void send_to_all(loaded *l, int rank, MPI_Comm world)
{
    unsigned long long words[] = {l->length, l->used};
    const bool good = cco_service_bcast(words, sizeof words, world) == MPI_SUCCESS;
    if (good && rank != 0) {
        l->length = (size_t)words[0];
        l->used = words[1];
        l->text = calloc(l->length + 1, 1);
    }
    if (good && l->text == NULL)
        cco_fatal("rank %d: no memory for the tuning file", rank);
    if (!good || cco_service_bcast(l->text, l->length, world) != MPI_SUCCESS)
        cco_fatal("cannot share the tuning file: the MPI's broadcast failed");
}

/* The ranks that read nothing wait in the broadcast until an error of rank 0 has ended the job. */
cco_rules *cco_tuning_share(MPI_Comm world)
{
    char error[ERROR] = "", source[256];
    loaded l = {.text = NULL};
    int rank = 0;
    name_source(source);
    PMPI_Comm_rank(world, &rank);
    bool good = rank != 0 || (tuning_file_read_text(&l, source, error) &&
                              tuning_file_read_rules(&l, true, source, error));
    if (good)
        send_to_all(&l, rank, world);
    if (good && rank != 0)
        good = tuning_file_read_rules(&l, false, source, error);
    if (!good)
        cco_fatal("%s", error);
    tuning_file_remember(&l);
    free(l.text);
    return l.rules;
}

cco_rules *cco_tuning_own(void)
{
    char error[ERROR] = "", source[256];
    loaded l = {.text = NULL};
    name_source(source);
    if (tuning_file_read_text(&l, source, error) && tuning_file_read_rules(&l, true, source, error))
        tuning_file_remember(&l);
    else if (cco_configured.error[0] == '\0')
        memcpy(cco_configured.error, error, sizeof error);
    free(l.text);
    return l.rules;
}
