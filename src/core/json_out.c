/* SPDX-License-Identifier: BSD-3-Clause */
/* json_out.c - see json_out.h. */
#include "core/json_out.h"

#include <errno.h>
#include <string.h>

#include "core/mpi_compat.h"

/* The character at `c`, if it is one in UTF-8; how many bytes it has, or 0. */
static int decode(const unsigned char *c, unsigned *code)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const int bytes = *c >= 0xf0 ? 4 : *c >= 0xe0 ? 3 : *c >= 0xc2 ? 2 : 0;
    if (bytes == 0 || *c > 0xf4)
        return 0;
    *code = *c & (0xffu >> (bytes + 1));
    for (int i = 1; i < bytes; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (c[i] & 0x3f);
    }
    const bool surrogate = *code >= 0xd800 && *code < 0xe000;
    return *code < least[bytes] || *code > 0x10ffff || surrogate ? 0 : bytes;
}

/* A character beyond ASCII, and how many bytes it has.  A byte that is none becomes what Python
 * makes of it (surrogateescape), so that it comes out again as it was. */
static int put_wide(FILE *file, const unsigned char *c)
{
    unsigned code;
    const int bytes = decode(c, &code);
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

FILE *cco_open_output(char *path, size_t room, const char *asked, bool spawned)
{
    FILE *file = NULL;
    snprintf(path, room, "%s", asked);
    if (!spawned)
        return fopen(path, "w");
    for (double now = 1e6 * PMPI_Wtime(); file == NULL; now += 1) {
        snprintf(path, room, "%s.spawned-%.0f", asked, now);
        file = fopen(path, "wx"); /* a new file, whoever else tries */
        if (file == NULL && errno != EEXIST)
            break;
    }
    return file;
}

int cco_close_output(FILE *file)
{
    const int failed = ferror(file) ? EIO : 0;
    return fclose(file) != 0 ? errno : failed;
}
