/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c - crestacoll.Request: a collective that has begun, and its buffers.
 *
 * mpi4py's Request has the handle, and keeps the buffers of some collectives, of reductions not.
 * So ours keeps what has to stay until the end, too (keep.c).  A request that is dropped before its
 * end goes to a list, with a ResourceWarning, and is ended later: at the latest when the
 * interpreter ends.  The GIL guards both lists. */
#include "native.h"

#include <string.h>

typedef struct request {
    PyObject_HEAD PyObject *theirs; /* mpi4py's; NULL once it has ended */
    PyObject *kept;                 /* the arguments, or a list of what has to stay of them */
    const char *collective;
    int ending; /* a thread waits for it */
    struct request *previous, *next;
} request;

cresta_requests cresta_request_calls;

static request *under_way; /* all that have not ended */
static PyObject *dropped;  /* a list of pairs: mpi4py's Request, and what is kept for it */
static PyTypeObject *type;
static allocfunc allocate;
static freefunc release;

static void *handle_of(PyObject *theirs)
{
    return (char *)theirs + cresta_request_calls.offset;
}

PyObject *cresta_raise(int code)
{
    PyObject *exception = PyObject_CallFunction(cresta_request_calls.exception, "i", code);
    if (exception != NULL) {
        PyErr_SetObject(cresta_request_calls.exception, exception);
        Py_DECREF(exception);
    }
    return NULL;
}

static void link_in(request *r)
{
    r->previous = NULL;
    r->next = under_way;
    if (under_way != NULL)
        under_way->previous = r;
    under_way = r;
}

static void take_out(request *r)
{
    if (r->previous != NULL)
        r->previous->next = r->next;
    else
        under_way = r->next;
    if (r->next != NULL)
        r->next->previous = r->previous;
    r->previous = r->next = NULL;
}

PyObject *cresta_request_prepare(PyObject *arguments, PyObject *keywords, const char *collective)
{
    request *r = (request *)allocate(type, 0);
    if (r == NULL)
        return NULL;
    r->collective = collective;
    r->kept = cresta_what_to_keep(arguments, keywords);
    if (r->kept == NULL) {
        Py_DECREF(r);
        return NULL;
    }
    return (PyObject *)r;
}

void cresta_request_begun(PyObject *self, PyObject *theirs)
{
    request *r = (request *)self;
    r->theirs = theirs;
    link_in(r);
}

/* One that stays. */
static const char *collective_name(const char *name)
{
    static const char *const names[] = {"Exchange_begin", "Neighbor_reduce_begin",
                                        "Neighbor_alltoall_reduce_begin"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return names[i];
    return "a call";
}

PyObject *cresta_request_for(PyObject *self, PyObject *args)
{
    PyObject *theirs, *kept;
    const char *collective;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOs", &theirs, &kept, &collective))
        return NULL;
    request *r = (request *)allocate(type, 0);
    if (r == NULL)
        return NULL;
    r->collective = collective_name(collective);
    r->kept = Py_NewRef(kept);
    cresta_request_begun((PyObject *)r, Py_NewRef(theirs));
    return (PyObject *)r;
}

static void let_go(request *r)
{
    PyObject *theirs = r->theirs;
    r->theirs = NULL;
    take_out(r);
    Py_XDECREF(theirs);
    Py_CLEAR(r->kept);
}

void cresta_requests_sweep(void)
{
    int over = 1;
    while (dropped != NULL && over && PyList_Size(dropped) > 0) {
        PyObject *last = PyList_GetItem(dropped, PyList_Size(dropped) - 1);
        if (cresta_request_calls.test(1, handle_of(PyTuple_GetItem(last, 0)), &over) != 0)
            over = 1; /* nobody is left to hear of its error */
        if (over)
            PyList_SetSlice(dropped, PyList_Size(dropped) - 1, PyList_Size(dropped), NULL);
    }
}

static PyObject *end(request *r)
{
    int rc;
    if (r->theirs == NULL)
        Py_RETURN_NONE;
    if (r->ending) {
        PyErr_Format(PyExc_RuntimeError, "%s: another thread waits for its end", r->collective);
        return NULL;
    }
    r->ending = 1;
    Py_INCREF(r);
    void *handle = handle_of(r->theirs);
    Py_BEGIN_ALLOW_THREADS rc = cresta_request_calls.end(1, handle);
    Py_END_ALLOW_THREADS r->ending = 0;
    let_go(r);
    Py_DECREF(r);
    cresta_requests_sweep();
    if (rc != 0)
        return cresta_raise(rc);
    Py_RETURN_NONE;
}

static PyObject *request_end(PyObject *self, PyObject *none)
{
    (void)none;
    return end((request *)self);
}

static PyObject *request_test(PyObject *self, PyObject *none)
{
    request *r = (request *)self;
    int rc, over = 0;
    (void)none;
    if (r->theirs == NULL)
        Py_RETURN_TRUE;
    if (r->ending)
        Py_RETURN_FALSE;
    r->ending = 1;
    void *handle = handle_of(r->theirs);
    Py_BEGIN_ALLOW_THREADS rc = cresta_request_calls.test(1, handle, &over);
    Py_END_ALLOW_THREADS r->ending = 0;
    if (rc != 0 || over)
        let_go(r);
    return rc != 0 ? cresta_raise(rc) : PyBool_FromLong(over);
}

enum { AT_ONCE = 64 }; /* blocks that one call tells */

static int ask(const cresta_coll_some *function, void *handle, int blocks[AT_ONCE], int *n)
{
    return cresta_request_calls.handles_are_ints
               ? function->of_int(*(int *)handle, AT_ONCE, blocks, n)
               : function->of_address(*(void **)handle, AT_ONCE, blocks, n);
}

/* A list of blocks that have come; `none` if all have been returned. */
static PyObject *blocks_of(request *r, const cresta_coll_some *function, PyObject *none)
{
    int rc, n = 0, blocks[AT_ONCE];
    if (r->theirs == NULL)
        return none;
    if (r->ending) {
        PyErr_Format(PyExc_RuntimeError, "%s: another thread waits for its end", r->collective);
        Py_DECREF(none);
        return NULL;
    }
    r->ending = 1;
    Py_INCREF(r);
    void *handle = handle_of(r->theirs);
    Py_BEGIN_ALLOW_THREADS rc = ask(function, handle, blocks, &n);
    Py_END_ALLOW_THREADS r->ending = 0;
    Py_DECREF(r);
    if (rc == 0 && n < 0)
        return none;
    Py_DECREF(none);
    if (rc != 0)
        return cresta_raise(rc);
    PyObject *list = PyList_New(n);
    for (int i = 0; list != NULL && i < n; i++)
        PyList_SetItem(list, i, PyLong_FromLong(blocks[i]));
    return list;
}

static PyObject *request_some(PyObject *self, PyObject *none)
{
    (void)none;
    PyObject *empty = PyList_New(0);
    return empty != NULL ? blocks_of((request *)self, &cresta_request_calls.some, empty) : NULL;
}

static PyObject *request_testsome(PyObject *self, PyObject *none)
{
    (void)none;
    return blocks_of((request *)self, &cresta_request_calls.testsome, Py_NewRef(Py_None));
}

static PyObject *request_enter(PyObject *self, PyObject *none)
{
    (void)none;
    Py_INCREF(self);
    return self;
}

static PyObject *request_exit(PyObject *self, PyObject *exception)
{
    (void)exception;
    return end((request *)self);
}

static PyObject *request_repr(PyObject *self)
{
    const request *r = (const request *)self;
    return PyUnicode_FromFormat("<crestacoll.Request of %s, %s>", r->collective,
                                r->theirs != NULL ? "under way" : "ended");
}

/* Its buffers may still be read and written, so they stay. */
static void drop(request *r)
{
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    if (dropped == NULL)
        dropped = PyList_New(0);
    PyObject *both = PyTuple_Pack(2, r->theirs, r->kept);
    if (dropped == NULL || both == NULL || PyList_Append(dropped, both) != 0) {
        Py_INCREF(r->theirs); /* kept for good */
        Py_INCREF(r->kept);
    }
    Py_XDECREF(both);
    let_go(r);
    if (PyErr_ResourceWarning(NULL, 1,
                              "crestacoll: the request of %s was dropped before its end: call"
                              " end(), or use it in a with statement",
                              r->collective) != 0)
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(kind, value, trace);
}

static void request_dealloc(PyObject *self)
{
    PyTypeObject *own = Py_TYPE(self);
    request *r = (request *)self;
    if (r->theirs != NULL)
        drop(r);
    Py_XDECREF(r->kept); /* of a call that has not begun */
    release(self);
    Py_DECREF(own);
}

int cresta_requests_end_all(void)
{
    while (under_way != NULL && !under_way->ending) {
        request *r = under_way;
        Py_INCREF(r);
        PyObject *done = end(r);
        Py_DECREF(r);
        if (done == NULL)
            return -1;
        Py_DECREF(done);
    }
    for (Py_ssize_t n; dropped != NULL && (n = PyList_Size(dropped)) > 0;) {
        PyObject *last = PyList_GetItem(dropped, n - 1);
        Py_INCREF(last);
        PyList_SetSlice(dropped, n - 1, n, NULL);
        void *handle = handle_of(PyTuple_GetItem(last, 0));
        Py_BEGIN_ALLOW_THREADS cresta_request_calls.end(1, handle);
        Py_END_ALLOW_THREADS Py_DECREF(last);
    }
    return 0;
}

static PyMethodDef methods[] = {
    {"end", request_end, METH_NOARGS,
     "end($self, /)\n--\n\nWaits until the collective has ended, and lets go of its buffers.\n\n"
     "Other threads of Python run meanwhile.  Does nothing if it has ended before.\n"
     "Raises MPI.Exception if it failed."},
    {"test", request_test, METH_NOARGS,
     "test($self, /)\n--\n\nWhether the collective has ended; if so, lets go of its buffers.\n\n"
     "Does not wait.  Raises MPI.Exception if it failed."},
    {"some", request_some, METH_NOARGS,
     "some($self, /)\n--\n\nThe ranks whose blocks have come since the last time, as a list.\n\n"
     "Waits until there is one; an empty list when all have been returned.  They may be read at\n"
     "once, and written after the end.  For alltoall, alltoallv, alltoallw, allgather,\n"
     "allgatherv, gather, gatherv; for neighbourhood collectives, the places of the neighbours in\n"
     "the list.\n"
     "Raises MPI.Exception for other collectives, and if it failed."},
    {"testsome", request_testsome, METH_NOARGS,
     "testsome($self, /)\n--\n\nLike some(), but does not wait.\n\n"
     "An empty list if no other block has come; None when all have been returned."},
    {"__enter__", request_enter, METH_NOARGS, NULL},
    {"__exit__", request_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A collective that has begun, and its buffers; see docs/python.md.\n\n"
                "Comes from the functions x_begin.  As a context manager it ends with the block."},
    {Py_tp_dealloc, request_dealloc},
    {Py_tp_repr, request_repr},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "crestacoll.Request",
    .basicsize = sizeof(request),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

PyObject *cresta_request_type(void)
{
    if (type == NULL)
        type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (type != NULL) {
        allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
        release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    }
    Py_XINCREF(type);
    return (PyObject *)type;
}
