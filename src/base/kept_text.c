/* SPDX-License-Identifier: BSD-3-Clause */
/* kept_text.c - see kept_text.h. */
#include "base/kept_text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

typedef struct kept {
    struct kept *next;
    char text[];
} kept;

enum { BUCKETS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kept *all[BUCKETS];

/* With the lock. */
static const char *kept_text_keep(const char *text)
{
    kept **bucket = &all[cco_hash(0, text) % BUCKETS];
    for (const kept *k = *bucket; k != NULL; k = k->next)
        if (strcmp(k->text, text) == 0)
            return k->text;
    const size_t bytes = strlen(text) + 1;
    kept *made = malloc(sizeof *made + bytes);
    if (made == NULL)
        return "";
    memcpy(made->text, text, bytes);
    made->next = *bucket;
    *bucket = made;
    return made->text;
}

static char *kept_text_append(char *at, const char *end, const char *text)
{
    while (at < end && *text != '\0')
        *at++ = *text++;
    *at = '\0';
    return at;
}

const char *cco_kept_text(const char *first, const char *second, const char *third)
{
    char text[256];
    const char *end = text + sizeof text - 1;
    kept_text_append(kept_text_append(kept_text_append(text, end, first), end, second), end, third);
    pthread_mutex_lock(&lock);
    const char *one = kept_text_keep(text);
    pthread_mutex_unlock(&lock);
    return one;
}
