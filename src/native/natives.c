/* SPDX-License-Identifier: BSD-3-Clause */
/* natives.c - see natives.h. */
#include "native/natives.h"

#include <pthread.h>
#include <string.h>

#include "base/next.h"

/* PMPI_x by the loader's table, which asks for it when it is called: a preloaded shell has none. */
#define CCO_NATIVE(name, own, theirs, parameters, arguments)                                       \
    static int own_##name parameters                                                               \
    {                                                                                              \
        return own arguments;                                                                      \
    }
#include "native/natives.inc"
#undef CCO_NATIVE

#define CCO_NATIVE(name, own, theirs, parameters, arguments) .name = own_##name,
cco_natives cco_native[CCO_BYS] = {
    [CCO_CALLER_CRESTA] =
        {
#include "native/natives.inc"
        },
    [CCO_CALLER_MPI] =
        {
#include "native/natives.inc"
        },
    [CCO_CALLER_INTERNAL] =
        {
#include "native/natives.inc"
        },
};
#undef CCO_NATIVE

/* In the order of the members. */
#define TEXT(name) #name
#define CCO_NATIVE(name, own, theirs, parameters, arguments) TEXT(theirs),
static const char *const names[] = {
#include "native/natives.inc"
};
#undef CCO_NATIVE

enum { NAMES = sizeof names / sizeof *names };
_Static_assert(sizeof(cco_natives) == NAMES * sizeof(cco_function), "nothing but pointers");

static void natives_set(cco_caller by, int i, cco_function function)
{
    if (function != NULL)
        memcpy((char *)&cco_native[by] + (size_t)i * sizeof function, &function, sizeof function);
}

/* Where the loader does not know PMPI_x (a static MPI), what calls it stays. */
static void natives_look_up(void)
{
    for (int i = 0; i < NAMES; i++) {
        cco_definitions are;
        cco_definitions_of(names[i], &are);
        natives_set(CCO_CALLER_CRESTA, i, are.first != NULL ? are.first : are.own);
        natives_set(CCO_CALLER_MPI, i, are.next != NULL ? are.next : are.own);
        natives_set(CCO_CALLER_INTERNAL, i, are.own);
    }
}

void cco_natives_look_up(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, natives_look_up);
}
