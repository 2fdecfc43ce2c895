/* SPDX-License-Identifier: BSD-3-Clause */
/* keep.c - what has to stay of the arguments of a call that has begun: exports of the buffers in
 * them, which may then be neither freed nor resized.  A reference to an array of numpy is enough:
 * it is not resized while somebody refers to it, and an export takes longer than all the rest. */
#include "native.h"

enum { BUFFERS = 2 }; /* arguments after the communicator that may be buffers */

static PyTypeObject *array_type; /* numpy.ndarray; NULL until there is one */

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

PyObject *cresta_what_to_keep(PyObject *arguments, PyObject *keywords)
{
    if (all_stay(arguments, keywords))
        return Py_NewRef(arguments);
    PyObject *kept = PyList_New(0);
    if (kept != NULL && keep_all(kept, arguments, keywords) != 0)
        Py_CLEAR(kept);
    return kept;
}

static _Thread_local PyObject *recorded; /* a list that crestacoll.record has; NULL: none */

PyObject *cresta_keep_in(PyObject *self, PyObject *list)
{
    PyObject *before = recorded != NULL ? recorded : Py_None;
    (void)self;
    recorded = list != Py_None ? list : NULL;
    return Py_NewRef(before);
}

PyObject *cresta_keep_this(PyObject *self, PyObject *object)
{
    (void)self;
    if (recorded != NULL && PyList_Append(recorded, object) != 0)
        return NULL;
    Py_RETURN_NONE;
}

int cresta_keep_call(PyObject *arguments, PyObject *keywords)
{
    if (recorded == NULL)
        return 0;
    PyObject *kept = cresta_what_to_keep(arguments, keywords);
    const int rc = kept != NULL ? PyList_Append(recorded, kept) : -1;
    Py_XDECREF(kept);
    return rc;
}
