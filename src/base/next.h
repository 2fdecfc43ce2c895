/* SPDX-License-Identifier: BSD-3-Clause */
/* next.h - the definition of an MPI function that comes after ours in this process: a profiling
 * tool's, or the MPI's own.  What the program calls by its public name goes on there, so that a
 * tool behind us sees it once; what crestacoll calls itself it never sees (PMPI_x). */
#ifndef CCO_NEXT_H
#define CCO_NEXT_H

#include <stddef.h>

typedef void (*cco_function)(void);

/* What `found` is once it is known that there is no tool, and the search that finds out. */
void cco_no_tool(void) __attribute__((visibility("hidden")));
cco_function cco_next_look_up(const char *name, cco_function *found);

/* The next definition of `name` that is a tool's: neither the MPI's own nor that of another copy of
 * crestacoll (linked and preloaded).  NULL if there is none.  Looked up once. */
static inline cco_function cco_next(const char *name, cco_function *found)
{
    const cco_function now = __atomic_load_n(found, __ATOMIC_RELAXED);
    if (now == NULL)
        return cco_next_look_up(name, found);
    return now != cco_no_tool ? now : NULL;
}

/* The first definition in the process that is a tool's, before us or behind: what a call of the
 * program by that name would come to without us.  For what the program calls by another name. */
cco_function cco_first(const char *name, cco_function *found);

/* What comes after this file by that name, of whoever it is. */
void *cresta_next_definition(const char *name);

/* The MPI's own function, PMPI_x for `name` MPI_x. */
cco_function cco_own_definition(const char *name);

/* In MPI_Init of the copy that is linked to the program: one that is preloaded, too, leaves the
 * start to it. */
void cco_first_copy(void);

/* All of a collective, which only the preload library defines: the MPI's own (PMPI_x), the next
 * one (there), the first one; each NULL if the loader knows none. */
typedef struct cco_definitions {
    cco_function own, next, first;
} cco_definitions;
void cco_definitions_of(const char *name, cco_definitions *are);

/* The tool's as a function of the type of `own`, PMPI_x, whose address is not taken: it need not be
 * there before it is called (a preloaded shell). */
#define CCO_TOOL(name, own)                                                                        \
    ({                                                                                             \
        static cco_function cco_direct_buffers;                                                    \
        (__typeof__(&(own)))cco_next(name, &cco_direct_buffers);                                   \
    })

/* Calls MPI_x of the tool, or PMPI_x; `arguments` in parentheses. */
#define CCO_CALL_NEXT(x, arguments)                                                                \
    ({                                                                                             \
        __typeof__(&PMPI_##x) cco_tool = CCO_TOOL("MPI_" #x, PMPI_##x);                            \
        cco_tool != NULL ? cco_tool arguments : PMPI_##x arguments;                                \
    })

#endif
