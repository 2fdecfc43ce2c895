/* SPDX-License-Identifier: BSD-3-Clause */
/* json_out.c - see json_out.h. */
#include "base/json_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "mpi/mpi_compat.h"

/* A character beyond ASCII, and how many bytes it has.  A byte that is none becomes what Python
 * makes of it (surrogateescape), so that it comes out again as it was. */
static int put_wide(FILE *file, const unsigned char *c)
{
    unsigned code;
    const int bytes = cco_utf8_decode((const char *)c, (const char *)c + 4, &code);
    if (bytes == 0)
        fprintf(file, "\\udc%02x", *c);
    else if (code < 0x10000)
        fprintf(file, "\\u%04x", code);
    else
        fprintf(file, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
    return bytes > 0 ? bytes : 1;
}

void cco_put_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        if (*c >= 0x80) {
            c += put_wide(file, c);
            continue;
        }
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if (*c < 0x20 || *c == 0x7f)
            fprintf(file, "\\u%04x", *c);
        else
            fputc(*c, file);
        c++;
    }
    fputc('"', file);
}

void cco_put_library(FILE *file)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(text, &length);
    text[strcspn(text, "\n")] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '\t')
            *c = ' ';
    cco_put_string(file, text);
}

/* The name of a file of a spawned world, which no other has: an empty file. */
static int json_out_reserve(char *path, const char *asked)
{
    FILE *file = NULL;
    for (double now = 1e6 * PMPI_Wtime(); file == NULL; now += 1) {
        snprintf(path, CCO_PATH, "%s.spawned-%.0f", asked, now);
        file = fopen(path, "wx"); /* a new file, whoever else tries */
        if (file == NULL && errno != EEXIST)
            return errno;
    }
    fclose(file);
    return 0;
}

/* The file itself in place of a link to it, so that the link stays. */
static void json_out_follow(char *path)
{
    struct stat found;
    char *real = lstat(path, &found) == 0 && S_ISLNK(found.st_mode) ? realpath(path, NULL) : NULL;
    if (real != NULL)
        snprintf(path, CCO_PATH, "%s", real);
    free(real);
}

int cco_output_open(cco_output *output, const char *asked, bool spawned)
{
    struct stat found;
    const int error = spawned ? json_out_reserve(output->path, asked) : 0;
    output->made[0] = '\0';
    if (error)
        return error;
    if (!spawned)
        snprintf(output->path, CCO_PATH, "%s", asked);
    json_out_follow(output->path);
    if (stat(output->path, &found) != 0 || S_ISREG(found.st_mode))
        snprintf(output->made, sizeof output->made, "%s.new", output->path);
    output->file = fopen(output->made[0] != '\0' ? output->made : output->path, "w");
    if (output->file == NULL && output->made[0] != '\0' && errno == EACCES) {
        output->made[0] = '\0'; /* a folder that takes no new file may have one to write */
        output->file = fopen(output->path, "w");
    }
    return output->file == NULL ? errno : 0;
}

int cco_output_close(cco_output *output)
{
    int error = ferror(output->file) ? EIO : 0;
    const char *made = output->made;
    if (fclose(output->file) != 0)
        error = errno;
    if (made[0] != '\0' && !error && rename(made, output->path) != 0)
        error = errno;
    if (made[0] != '\0' && error)
        unlink(made);
    return error;
}

int cco_output_try(const char *asked)
{
    char folder[CCO_PATH];
    struct stat found;
    if (stat(asked, &found) == 0 && S_ISDIR(found.st_mode))
        return EISDIR;
    if (access(asked, W_OK) == 0)
        return 0;
    if (errno != ENOENT)
        return errno;
    snprintf(folder, sizeof folder, "%s", asked);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder ? 1 : 0] = '\0';
    return access(slash != NULL ? folder : ".", W_OK | X_OK) == 0 ? 0 : errno;
}
