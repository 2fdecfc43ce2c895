/* SPDX-License-Identifier: BSD-3-Clause */
/* services.c - what Python calls besides collectives: CRESTA_Set_impl, memory, profiles. */
#include "native.h"

#include <stdint.h>
#include <stdlib.h>

enum { WRITABLE = 0x200 }; /* PyBUF_WRITE, the same in all versions of Python */

int cresta_handles_are_ints;

/* A communicator comes as a Python int, from mpi4py's _handleof. */
PyObject *cresta_set_impl(PyObject *self, PyObject *args)
{
    unsigned long long comm;
    const char *spec;
    (void)self;
    if (!PyArg_ParseTuple(args, "Ks", &comm, &spec))
        return NULL;
    const void *f = cresta_call_of("CRESTA_Set_impl");
    int rc;
    Py_BEGIN_ALLOW_THREADS rc = cresta_handles_are_ints
                                    ? ((int (*)(int, const char *))f)((int)comm, spec)
                                    : ((int (*)(void *, const char *))f)((void *)(uintptr_t)comm,
                                                                         spec);
    Py_END_ALLOW_THREADS return rc != 0 ? cresta_raise(rc) : Py_NewRef(Py_None);
}

PyObject *cresta_prepare(PyObject *self, PyObject *args)
{
    unsigned long long comm;
    (void)self;
    if (!PyArg_ParseTuple(args, "K", &comm))
        return NULL;
    const void *f = cresta_call_of("CRESTA_Comm_prepare");
    int rc;
    Py_BEGIN_ALLOW_THREADS rc = cresta_handles_are_ints
                                    ? ((int (*)(int))f)((int)comm)
                                    : ((int (*)(void *))f)((void *)(uintptr_t)comm);
    Py_END_ALLOW_THREADS return rc != 0 ? cresta_raise(rc) : Py_NewRef(Py_None);
}

PyObject *cresta_repair(PyObject *self, PyObject *args)
{
    unsigned long long comm;
    union {
        int number;
        void *address;
    } made = {.address = NULL};
    (void)self;
    if (!PyArg_ParseTuple(args, "K", &comm))
        return NULL;
    const void *f = cresta_call_of("CRESTA_Comm_repair");
    int rc;
    Py_BEGIN_ALLOW_THREADS rc = cresta_handles_are_ints
                                    ? ((int (*)(int, int *))f)((int)comm, &made.number)
                                    : ((int (*)(void *, void **))f)((void *)(uintptr_t)comm,
                                                                    &made.address);
    Py_END_ALLOW_THREADS if (rc != 0) return cresta_raise(rc);
    return PyLong_FromUnsignedLongLong(cresta_handles_are_ints ? (unsigned)made.number
                                                               : (uintptr_t)made.address);
}

PyObject *cresta_alloc_mem(PyObject *self, PyObject *args)
{
    unsigned long long comm;
    Py_ssize_t bytes;
    void *base = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "Kn", &comm, &bytes))
        return NULL;
    const void *f = cresta_call_of("CRESTA_Alloc_mem");
    int rc;
    Py_BEGIN_ALLOW_THREADS rc = cresta_handles_are_ints
                                    ? ((int (*)(intptr_t, int, void *))f)(bytes, (int)comm, &base)
                                    : ((int (*)(intptr_t, void *, void *))f)(
                                          bytes, (void *)(uintptr_t)comm, &base);
    Py_END_ALLOW_THREADS return rc != 0 ? cresta_raise(rc)
                                        : PyMemoryView_FromMemory(base, bytes, WRITABLE);
}

/* Communicator and datatype as Python ints; the addresses of the numbers and of the result. */
PyObject *cresta_repro_sum(PyObject *self, PyObject *args)
{
    unsigned long long comm, type, x, result;
    long long n; /* MPI_Count */
    (void)self;
    if (!PyArg_ParseTuple(args, "KLKKK", &x, &n, &type, &result, &comm))
        return NULL;
    const void *f = cresta_call_of("CRESTA_Repro_sum_type");
    void *from = (void *)(uintptr_t)x, *to = (void *)(uintptr_t)result;
    int rc;
    Py_BEGIN_ALLOW_THREADS rc =
        cresta_handles_are_ints
            ? ((int (*)(void *, long long, int, void *, int))f)(from, n, (int)type, to, (int)comm)
            : ((int (*)(void *, long long, void *, void *, void *))f)(
                  from, n, (void *)(uintptr_t)type, to, (void *)(uintptr_t)comm);
    Py_END_ALLOW_THREADS return rc != 0 ? cresta_raise(rc) : Py_NewRef(Py_None);
}

PyObject *cresta_free_mem(PyObject *self, PyObject *args)
{
    unsigned long long base;
    (void)self;
    if (!PyArg_ParseTuple(args, "K", &base))
        return NULL;
    int (*f)(void *) = (int (*)(void *))cresta_call_of("CRESTA_Free_mem");
    const int rc = f((void *)(uintptr_t)base);
    return rc != 0 ? cresta_raise(rc) : Py_NewRef(Py_None);
}

/* Not of a program that is linked to an older version. */
static void *profile_function(const char *name)
{
    void *found = cresta_call_of(name);
    if (found == NULL)
        PyErr_Format(PyExc_RuntimeError,
                     "crestacoll: the library in this process has no %s: it is an older version",
                     name);
    return found;
}

PyObject *cresta_profile_starts(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    int (*f)(void) = (int (*)(void))profile_function("cresta_profile_start");
    int rc;
    if (f == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS rc = f();
    Py_END_ALLOW_THREADS return rc != 0 ? cresta_raise(rc) : Py_NewRef(Py_None);
}

/* A str, of JSON. */
PyObject *cresta_profile_stops(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    int (*f)(char **) = (int (*)(char **))profile_function("cresta_profile_stop");
    char *json = NULL;
    int rc;
    if (f == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS rc = f(&json);
    Py_END_ALLOW_THREADS if (rc != 0) return cresta_raise(rc);
    PyObject *text = PyUnicode_FromString(json);
    free(json);
    return text;
}
