/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c - crestacoll._native: the functions that Python calls; see native.h. */
#include "native.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

static const char *const names[] = {
#define CRESTA_WAY(way, method, doc) [WAY_##way] = #way,
#include "python/ways.inc"
#undef CRESTA_WAY
};

enum { FIRST_BEGIN = WAYS / 2 }; /* ways.inc has all blocking ones first */

static PyObject *theirs[WAYS];  /* mpi4py's methods, once attached */
static PyTypeObject *comm_base; /* MPI.Comm, */
static PyTypeObject *topo_type; /* MPI.Topocomm */
static void *library; /* handle of dlopen; RTLD_DEFAULT where CRESTA_x is for all to see */

static void *note_use(void *data, const char *name)
{
    const cresta_entry entry = cresta_route_of(name);
    if (entry != ENTRIES)
        ((char *)data)[entry] = 1;
    return NULL;
}

static void *replace(void *data, const char *name)
{
    const char *used = data;
    const cresta_entry entry = cresta_route_of(name);
    return entry != ENTRIES && used[entry] ? cresta_route_function(entry) : NULL;
}

static PyObject *fail_to_load(const char *what)
{
    const char *why = dlerror();
    if (why == NULL)
        why = strerror(errno);
    PyErr_Format(PyExc_RuntimeError, "crestacoll: cannot load %s: %s", what, why);
    return NULL;
}

void *cresta_call_of(const char *name)
{
    return dlsym(library, name);
}

static int route_calls(void *extension)
{
    char used[ENTRIES] = {0};
    cresta_slots(extension, note_use, used);
    const char *missing = cresta_routes_find(cresta_handles_are_ints, library, extension, used);
    if (memchr(used, 1, sizeof used) == NULL)
        missing = "any call of an MPI through a slot of mpi4py's extension";
    if (missing != NULL) {
        PyErr_Format(PyExc_RuntimeError,
                     "crestacoll: cannot be linked with this mpi4py: there is no %s", missing);
        return -1;
    }
    if (cresta_slots(extension, replace, used) < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        return -1;
    }
    return 0;
}

static int is_near(cresta_way way)
{
    return strncmp(names[way], "Neighbor_", 9) == 0;
}

/* Those of neighbours are methods of communicators that have a topology. */
static int take_methods(PyObject *comm_type)
{
    static const char *const methods[] = {
#define CRESTA_WAY(way, method, doc) #method,
#include "python/ways.inc"
#undef CRESTA_WAY
    };
    for (int way = 0; way < WAYS; way++) {
        PyObject *of = is_near((cresta_way)way) ? (PyObject *)topo_type : comm_type;
        theirs[way] = PyObject_GetAttrString(of, methods[way]);
        if (theirs[way] == NULL)
            return -1;
    }
    return 0;
}

static int is_attached(void)
{
    return theirs[WAYS - 1] != NULL;
}

static PyObject *attach(PyObject *self, PyObject *args)
{
    const char *path, *extension_path;
    PyObject *comm_type, *topo, *base;
    cresta_requests calls = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "zspOOOOn", &path, &extension_path, &cresta_handles_are_ints, &base,
                          &comm_type, &topo, &calls.exception, &calls.offset))
        return NULL;
    if (is_attached())
        Py_RETURN_NONE;
    void *extension = dlopen(extension_path, RTLD_LAZY | RTLD_NOLOAD);
    if (extension == NULL)
        return fail_to_load(extension_path);
    library = RTLD_DEFAULT;
    if (path != NULL)
        library = cresta_open_beside(path, extension_path, RTLD_LAZY | RTLD_LOCAL);
    if (path != NULL && library == NULL)
        return fail_to_load(path);
    void *end = cresta_call_of("CRESTA_Coll_end"), *test = cresta_call_of("CRESTA_Coll_test");
    memcpy(&calls.end, &end, sizeof end);
    memcpy(&calls.test, &test, sizeof test);
    void *some = cresta_call_of("CRESTA_Coll_some");
    void *testsome = cresta_call_of("CRESTA_Coll_testsome");
    memcpy(&calls.some, &some, sizeof some);
    memcpy(&calls.testsome, &testsome, sizeof testsome);
    calls.handles_are_ints = cresta_handles_are_ints;
    if (end == NULL || test == NULL || some == NULL || testsome == NULL)
        return fail_to_load("CRESTA_Coll_end");
    if (route_calls(extension) != 0)
        return NULL;
    Py_INCREF(base);
    comm_base = (PyTypeObject *)base;
    Py_INCREF(topo);
    topo_type = (PyTypeObject *)topo;
    Py_INCREF(calls.exception);
    cresta_request_calls = calls;
    if (take_methods(comm_type) != 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *open_global(PyObject *self, PyObject *args)
{
    const char *path, *extension;
    (void)self;
    if (!PyArg_ParseTuple(args, "ss", &path, &extension))
        return NULL;
    if (cresta_open_beside(path, extension, RTLD_LAZY | RTLD_GLOBAL) == NULL)
        return fail_to_load(path);
    Py_RETURN_NONE;
}

static PyObject *is_preloaded(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    int (*fits)(void); /* of a wheel, whose library is preloaded before the MPI is known */
    *(void **)&fits = dlsym(RTLD_DEFAULT, "cresta_front_fits");
    const int is_there = dlsym(RTLD_DEFAULT, "CRESTA_Coll_end") != NULL;
    return PyBool_FromLong(is_there && (fits == NULL || fits() != 0));
}

/* Links by what Python knows of mpi4py: crestacoll._link.link(). */
static int attach_now(void)
{
    PyObject *link = PyImport_ImportModule("crestacoll._link");
    PyObject *done = link != NULL ? PyObject_CallMethod(link, "link", NULL) : NULL;
    Py_XDECREF(link);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

static PyObject *call_routed(cresta_way way, PyObject *args, PyObject *keywords)
{
    if (cresta_keep_call(args, keywords) != 0)
        return NULL;
    const cresta_way before = cresta_route(way);
    PyObject *result = PyObject_Call(theirs[way], args, keywords);
    cresta_route(before);
    return result;
}

static PyObject *begin(cresta_way way, PyObject *args, PyObject *keywords)
{
    PyObject *request = cresta_request_prepare(args, keywords, names[way]);
    if (request == NULL)
        return NULL;
    PyObject *begun = call_routed(way, args, keywords);
    if (begun == NULL)
        Py_CLEAR(request);
    else
        cresta_request_begun(request, begun);
    return request;
}

/* mpi4py's methods take it for granted that they are called on a communicator. */
static int is_on_comm(cresta_way way, PyObject *args)
{
    PyObject *first = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : Py_None;
    if (PyType_IsSubtype(Py_TYPE(first), is_near(way) ? topo_type : comm_base))
        return 1;
    PyErr_Format(PyExc_TypeError,
                 "crestacoll.%s: expected a communicator of mpi4py %sas first argument, got %R",
                 names[way], is_near(way) ? "with a topology " : "", first);
    return 0;
}

static PyObject *call(cresta_way way, PyObject *args, PyObject *keywords)
{
    if (!is_attached() && attach_now() != 0)
        return NULL;
    if (!is_on_comm(way, args))
        return NULL;
    return (int)way < FIRST_BEGIN ? call_routed(way, args, keywords) : begin(way, args, keywords);
}

static PyObject *call_method(cresta_way way, PyObject *self, PyObject *args, PyObject *keywords)
{
    const Py_ssize_t n = PyTuple_Size(args);
    PyObject *all = PyTuple_New(n + 1);
    if (all == NULL)
        return NULL;
    Py_INCREF(self);
    PyTuple_SetItem(all, 0, self);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GetItem(args, i);
        Py_INCREF(item);
        PyTuple_SetItem(all, i + 1, item);
    }
    PyObject *result = call(way, all, keywords);
    Py_DECREF(all);
    return result;
}

#define CRESTA_WAY(way, method, doc)                                                               \
    static PyObject *function_##way(PyObject *self, PyObject *args, PyObject *keywords)            \
    {                                                                                              \
        (void)self;                                                                                \
        return call(WAY_##way, args, keywords);                                                    \
    }                                                                                              \
    static PyObject *method_##way(PyObject *self, PyObject *args, PyObject *keywords)              \
    {                                                                                              \
        return call_method(WAY_##way, self, args, keywords);                                       \
    }
#include "python/ways.inc"
#undef CRESTA_WAY

#define KEYWORDS METH_VARARGS | METH_KEYWORDS
#define FUNCTION(f) (PyCFunction)(void (*)(void))(f)

static PyMethodDef comm_methods[] = {
#define CRESTA_WAY(way, method, doc)                                                               \
    {#way, FUNCTION(method_##way), KEYWORDS, "crestacoll." #way " on this communicator."},
#include "python/ways.inc"
#undef CRESTA_WAY
    {NULL, NULL, 0, NULL},
};

/* Gives a subclass of Intracomm the collectives as methods. */
static PyObject *add_methods(PyObject *self, PyObject *type)
{
    (void)self;
    for (PyMethodDef *m = comm_methods; m->ml_name != NULL; m++) {
        if (is_near((cresta_way)(m - comm_methods)))
            continue;
        PyObject *method = PyDescr_NewMethod((PyTypeObject *)type, m);
        const int rc = method != NULL ? PyObject_SetAttrString(type, m->ml_name, method) : -1;
        Py_XDECREF(method);
        if (rc != 0)
            return NULL;
    }
    Py_RETURN_NONE;
}

PyObject *cresta_address_of(PyObject *self, PyObject *args)
{
    const char *name;
    (void)self;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    void *found = is_attached() ? cresta_call_of(name) : NULL;
    if (found == NULL)
        return PyErr_Format(PyExc_RuntimeError,
                            "crestacoll: the library in this process has no %s: it is an older"
                            " version",
                            name);
    return PyLong_FromUnsignedLongLong((uintptr_t)found);
}

static PyObject *progress(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    if (!is_attached())
        Py_RETURN_NONE;
    int (*f)(void) = (int (*)(void))cresta_call_of("CRESTA_Progress");
    int rc;
    Py_BEGIN_ALLOW_THREADS rc = f();
    Py_END_ALLOW_THREADS cresta_requests_sweep();
    return rc != 0 ? cresta_raise(rc) : Py_NewRef(Py_None);
}

static PyObject *end_all(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    if (!is_attached())
        Py_RETURN_NONE;
    return cresta_requests_end_all() == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef functions[] = {
#define CRESTA_WAY(way, method, doc) {#way, FUNCTION(function_##way), KEYWORDS, doc},
#include "python/ways.inc"
#undef CRESTA_WAY
    {"attach", attach, METH_VARARGS, NULL},
    {"open_global", open_global, METH_VARARGS, NULL},
    {"is_preloaded", is_preloaded, METH_NOARGS, NULL},
    {"add_methods", add_methods, METH_O, NULL},
    {"set_impl", cresta_set_impl, METH_VARARGS, NULL},
    {"prepare", cresta_prepare, METH_VARARGS, NULL},
    {"repair", cresta_repair, METH_VARARGS, NULL},
    {"alloc_mem", cresta_alloc_mem, METH_VARARGS, NULL},
    {"repro_sum", cresta_repro_sum, METH_VARARGS, NULL},
    {"free_mem", cresta_free_mem, METH_VARARGS, NULL},
    {"profile_start", cresta_profile_starts, METH_NOARGS, NULL},
    {"profile_stop", cresta_profile_stops, METH_NOARGS, NULL},
    {"progress", progress, METH_NOARGS, NULL},
    {"end_all", end_all, METH_NOARGS, NULL},
    {"address_of", cresta_address_of, METH_VARARGS, NULL},
    {"request_for", cresta_request_for, METH_VARARGS, NULL},
    {"keep_in", cresta_keep_in, METH_O, NULL},
    {"keep_this", cresta_keep_this, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "_native",
    "mpi4py's collectives, run by crestacoll.",
    -1,
    functions,
    NULL,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);
    PyObject *request = module != NULL ? cresta_request_type() : NULL;
    if (request == NULL || PyModule_AddObject(module, "Request", request) != 0) {
        Py_XDECREF(request);
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
