/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c - crestacoll.Request: a collective that has begun, and its buffers.
 *
 * mpi4py's Request has the handle, and keeps the buffers of some collectives, of reductions not.
 * So ours keeps the arguments of the call too, and exports of the buffers in them, which may then
 * be neither freed nor resized.  Of an array of numpy a reference is enough: numpy does not resize
 * it while somebody refers to it, and an export takes longer than all the rest here.  A request
 * that is dropped before its end goes to a list, with a ResourceWarning, and is ended later: at the
 * latest when the interpreter ends.  The GIL guards both lists. */
#include "native.h"

enum { BUFFERS = 2 }; /* arguments after the communicator that may be buffers */

typedef struct request {
    PyObject_HEAD
    PyObject *theirs; /* mpi4py's; NULL once it has ended */
    PyObject *kept;   /* the arguments, or a list of what has to stay of them */
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
static PyTypeObject *array_type; /* numpy.ndarray; NULL until there is one */

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

/* Asked while numpy is not loaded, which costs a look-up each time; then never again. */
static void find_array_type(void)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed, as are its items */
    PyObject *numpy = modules != NULL ? PyDict_GetItemString(modules, "numpy") : NULL;
    PyObject *found = numpy != NULL ? PyObject_GetAttrString(numpy, "ndarray") : NULL;
    if (found != NULL && PyType_Check(found))
        array_type = (PyTypeObject *)found; /* for good */
    else
        Py_XDECREF(found);
    PyErr_Clear();
}

/* Whether a reference keeps the memory of an argument where it is. */
static int stays(PyObject *argument)
{
    return Py_IS_TYPE(argument, array_type) || argument == Py_None || PyLong_Check(argument);
}

static int all_stay(PyObject *arguments, PyObject *keywords)
{
    const Py_ssize_t n = PyTuple_Size(arguments);
    if (array_type == NULL)
        find_array_type();
    if (array_type == NULL || keywords != NULL)
        return 0;
    for (Py_ssize_t i = 1; i < n && i <= BUFFERS; i++)
        if (!stays(PyTuple_GetItem(arguments, i)))
            return 0;
    return 1;
}

/* An argument, or the first item of a list [buffer, ...].  What has no buffer of Python (memory of
 * other devices) is kept as it is. */
static int keep(PyObject *kept, PyObject *argument)
{
    PyObject *buffer = argument;
    if (PyList_Check(argument) && PyList_Size(argument) > 0)
        buffer = PyList_GetItem(argument, 0);
    else if (PyTuple_Check(argument) && PyTuple_Size(argument) > 0)
        buffer = PyTuple_GetItem(argument, 0);
    if (buffer == Py_None || PyLong_Check(buffer))
        return 0;
    PyObject *view = PyMemoryView_FromObject(buffer);
    if (view == NULL)
        PyErr_Clear();
    const int rc = PyList_Append(kept, view != NULL ? view : buffer);
    Py_XDECREF(view);
    return rc;
}

/* Buffers come right after the communicator, or by name. */
static int keep_all(PyObject *kept, PyObject *arguments, PyObject *keywords)
{
    PyObject *name, *value;
    Py_ssize_t at = 0, n = PyTuple_Size(arguments);
    int rc = 0;
    for (Py_ssize_t i = 1; rc == 0 && i < n && i <= BUFFERS; i++)
        rc = keep(kept, PyTuple_GetItem(arguments, i));
    while (rc == 0 && keywords != NULL && PyDict_Next(keywords, &at, &name, &value))
        rc = keep(kept, value);
    return rc;
}

static PyObject *what_to_keep(PyObject *arguments, PyObject *keywords)
{
    if (all_stay(arguments, keywords))
        return Py_NewRef(arguments);
    PyObject *kept = PyList_New(0);
    if (kept != NULL && keep_all(kept, arguments, keywords) != 0)
        Py_CLEAR(kept);
    return kept;
}

PyObject *cresta_request_prepare(PyObject *arguments, PyObject *keywords, const char *collective)
{
    request *r = (request *)allocate(type, 0);
    if (r == NULL)
        return NULL;
    r->collective = collective;
    r->kept = what_to_keep(arguments, keywords);
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
            over = 1; /* nobody is left to be told of its error */
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
    Py_BEGIN_ALLOW_THREADS
    rc = cresta_request_calls.end(1, handle);
    Py_END_ALLOW_THREADS
    r->ending = 0;
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
    Py_BEGIN_ALLOW_THREADS
    rc = cresta_request_calls.test(1, handle, &over);
    Py_END_ALLOW_THREADS
    r->ending = 0;
    if (rc != 0 || over)
        let_go(r);
    return rc != 0 ? cresta_raise(rc) : PyBool_FromLong(over);
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
        Py_BEGIN_ALLOW_THREADS
        cresta_request_calls.end(1, handle);
        Py_END_ALLOW_THREADS
        Py_DECREF(last);
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
