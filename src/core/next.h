/* SPDX-License-Identifier: BSD-3-Clause */
/* next.h - the definition of an MPI function that comes after ours in this process: a profiling
 * tool's, or the MPI's own.  What the program calls by its public name goes on there, so that a
 * tool behind us sees it once; what crestacoll calls itself it never sees (PMPI_x). */
#ifndef CCO_NEXT_H
#define CCO_NEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef void (*cco_function)(void);

/* The next definition of `name` that is a tool's: neither the MPI's own nor that of another copy of
 * crestacoll (linked and preloaded).  NULL if there is none. */
cco_function cco_next_tool(const char *name);

/* The first definition in the process that is a tool's, before us or behind: what a call of the
 * program by that name would come to without us.  For what the program calls by another name;
 * `ours` if every copy of crestacoll defines it, not only the preload library. */
cco_function cco_first_tool(const char *name, bool ours);

/* The same, looked up once; the first one of what every copy defines. */
cco_function cco_next(const char *name, cco_function *found);
cco_function cco_first(const char *name, cco_function *found);

/* The MPI's own, of PMPI_x for MPI_x; NULL if the loader knows none. */
cco_function cco_own_definition(const char *name);

/* The tool's as a function of the type of `own`, PMPI_x, whose address is not taken: it need not be
 * there before it is called (a preloaded shell). */
#define CCO_TOOL(name, own)                                                                        \
    ({                                                                                             \
        static cco_function cco_found;                                                             \
        (__typeof__(&(own)))cco_next(name, &cco_found);                                            \
    })

/* Calls MPI_x of the tool, or PMPI_x; `arguments` in parentheses. */
#define CCO_CALL_NEXT(x, arguments)                                                                \
    ({                                                                                             \
        __typeof__(&PMPI_##x) cco_tool = CCO_TOOL("MPI_" #x, PMPI_##x);                            \
        cco_tool != NULL ? cco_tool arguments : PMPI_##x arguments;                                \
    })

#endif
