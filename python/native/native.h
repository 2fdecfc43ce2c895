/* SPDX-License-Identifier: BSD-3-Clause */
/* native.h - crestacoll._native: mpi4py's own methods, routed to CRESTA_x.
 *
 * crestacoll.Allreduce(comm, ...) is mpi4py's Comm.Allreduce, called with a way chosen: the thread
 * says that the next MPI_Allreduce of mpi4py is to be CRESTA_Allreduce.  mpi4py reads arguments,
 * keeps buffers and raises exceptions; nothing of that is repeated here.  For this, the slots of
 * mpi4py's extension through which it calls MPI_x point to functions of ours (slots.c), which go on
 * to MPI_x or to CRESTA_x (routes.c).  Calls of mpi4py that were not chosen go on as ever.
 *
 * No MPI is needed to compile this, and none to load it. */
#ifndef CRESTA_NATIVE_H
#define CRESTA_NATIVE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030a0000
#endif
#include <Python.h>

/* WAY_Allreduce, WAY_Allreduce_begin: what a call of Python comes to. */
#define CRESTA_WAY(way, method, doc) WAY_##way,
typedef enum cresta_way {
#include "python/ways.inc"
    WAYS
} cresta_way;
#undef CRESTA_WAY

/* ENTRY_Allreduce, ENTRY_Iallreduce_c: the functions MPI_x that are routed. */
#define CRESTA_ENTRY(mpi, way, cresta, parameters, arguments) ENTRY_##mpi,
typedef enum cresta_entry {
#include "python/entries.inc"
    ENTRIES
} cresta_entry;
#undef CRESTA_ENTRY

/* --- routes.c ---------------------------------------------------------------------------- */

/* Makes calls of this thread go `way`, until this is called with what it returns.  WAYS: none. */
cresta_way cresta_route(cresta_way way);

/* Finds CRESTA_x in the object `library` of dlopen, and MPI_x as calls of the object `extension`
 * find it; `ints`: whether handles of this MPI are ints (else pointers).  Clears the flags of
 * functions in `used` (one for each) that this MPI does not have: mpi4py has something else for
 * them.  NULL, or the name of a function that the MPI has and the library lacks. */
const char *cresta_routes_find(int ints, void *library, void *extension, char *used);

/* The number of MPI_x by its name, ENTRIES if it is not routed; the function to call instead. */
cresta_entry cresta_route_of(const char *name);
void *cresta_route_function(cresta_entry entry);

/* --- slots.c ----------------------------------------------------------------------------- */

/* For each slot through which the shared object `handle` (of dlopen) calls a function: visit(name)
 * returns what to put there, or NULL to leave it.  Returns how many were changed, -1 with errno if
 * the system forbids it. */
typedef void *cresta_visit(void *data, const char *name);
int cresta_slots(void *handle, cresta_visit *visit, void *data);

/* --- beside.c ---------------------------------------------------------------------------- */

/* Loads `library` and `extension` as if one shared object needed both, in this order: each finds
 * what it does not define first in the other, then in what they need.  `flags` of dlopen.  NULL
 * with a reason in dlerror(), or in errno if dlerror() has none. */
void *cresta_open_beside(const char *library, const char *extension, int flags);

/* --- services.c -------------------------------------------------------------------------- */

extern int cresta_handles_are_ints; /* else they are pointers */

/* Functions of Python; communicators come as its ints, from mpi4py's _handleof. */
PyObject *cresta_set_impl(PyObject *self, PyObject *args);
PyObject *cresta_prepare(PyObject *self, PyObject *args);
PyObject *cresta_repair(PyObject *self, PyObject *args);
PyObject *cresta_alloc_mem(PyObject *self, PyObject *args);
PyObject *cresta_repro_sum(PyObject *self, PyObject *args);
PyObject *cresta_free_mem(PyObject *self, PyObject *args);
PyObject *cresta_profile_starts(PyObject *self, PyObject *none);
PyObject *cresta_profile_stops(PyObject *self, PyObject *none);

/* A function CRESTA_x of the library, in module.c. */
void *cresta_call_of(const char *name);

/* For calls that Python makes itself (crestacoll/_calls.py): the address of a function of the
 * library; a Request for an mpi4py Request that such a call has begun, with what has to stay. */
PyObject *cresta_address_of(PyObject *self, PyObject *args);
PyObject *cresta_request_for(PyObject *self, PyObject *args);

/* --- keep.c ------------------------------------------------------------------------------ */

/* What has to stay of the arguments of a call until its end; NULL with an exception. */
PyObject *cresta_what_to_keep(PyObject *arguments, PyObject *keywords);

/* Calls of this thread are being recorded: what has to stay of them goes into a list of Python.
 * Functions of Python: sets the list, or None, and returns the one before; adds an object. */
PyObject *cresta_keep_in(PyObject *self, PyObject *list);
PyObject *cresta_keep_this(PyObject *self, PyObject *object);
int cresta_keep_call(PyObject *arguments, PyObject *keywords); /* -1 with an exception */

/* --- request.c --------------------------------------------------------------------------- */

typedef int cresta_coll_end(int, void *);
typedef int cresta_coll_test(int, void *, int *);
typedef int cresta_some_of_int(int, int, int *, int *); /* the handle is an int, */
typedef int cresta_some_of_address(void *, int, int *, int *);
typedef union cresta_coll_some {
    cresta_some_of_int *of_int;
    cresta_some_of_address *of_address;
} cresta_coll_some;
typedef struct cresta_requests {
    cresta_coll_end *end;
    cresta_coll_test *test;
    cresta_coll_some some, testsome;
    int handles_are_ints;
    PyObject *exception; /* MPI.Exception */
    Py_ssize_t offset;   /* of the handle in an mpi4py Request */
} cresta_requests;
extern cresta_requests cresta_request_calls;

/* The type Request; NULL with an exception. */
PyObject *cresta_request_type(void);

/* A Request for a call that is about to begin, with what has to stay until its end; NULL with an
 * exception.  Then mpi4py's request of it, which is taken over. */
PyObject *cresta_request_prepare(PyObject *arguments, PyObject *keywords, const char *collective);
void cresta_request_begun(PyObject *self, PyObject *theirs);

/* Ends all that are under way: those still held, and those dropped.  -1 with an exception. */
int cresta_requests_end_all(void);

/* Lets go of dropped ones that are over. */
void cresta_requests_sweep(void);

/* Raises MPI.Exception; NULL. */
PyObject *cresta_raise(int code);

#endif
