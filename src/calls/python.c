/* SPDX-License-Identifier: BSD-3-Clause */
/* python.c - see python.h.
 *
 * mpi4py calls the MPI without the interpreter's lock, and takes it again afterwards.  The frame is
 * read with the lock, after the call, so that no message waits for it.  A line is found by code
 * object and line number; beyond LINES, calls count for mpi4py's own place. */
#define _GNU_SOURCE
#include "calls/python.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { LINES = 4096, MOST_LINES = LINES / 4 * 3, PLACES = 64 };

bool cco_calls_python;

typedef struct place {
    const void *site;
    int calls_python; /* 1: it is in mpi4py, or in what ctypes calls by */
} place;

static struct {
    int (*initialized)(void);
    void *(*this_thread)(void);
    int (*take)(void);
    void (*give)(int);
    void *(*frame)(void);
    void *(*back)(void *frame);
    void *(*code)(void *frame);
    int (*line)(void *frame);
    void *(*attribute)(void *object, const char *name);
    const char *(*text)(void *object);
    void (*release)(void *object);
    void *(*interpreter)(void *thread);
    void *(*first_thread)(void *interpreter);
    void *(*next_thread)(void *thread);
    void *(*error)(void);
    void (*forget_error)(void);
    pthread_mutex_t lock; /* of what follows */
    place places[PLACES];
    int known, used;       /* so many places, and lines */
    cco_calls_line *lines; /* LINES of them */
} python = {.lock = PTHREAD_MUTEX_INITIALIZER};

void cco_calls_python_begin(void)
{
    const struct {
        const char *name;
        void *to;
    } functions[] = {
        {"Py_IsInitialized", &python.initialized},
        {"PyGILState_GetThisThreadState", &python.this_thread},
        {"PyGILState_Ensure", &python.take},
        {"PyGILState_Release", &python.give},
        {"PyEval_GetFrame", &python.frame},
        {"PyFrame_GetBack", &python.back}, /* since 3.9 */
        {"PyFrame_GetCode", &python.code},
        {"PyFrame_GetLineNumber", &python.line},
        {"PyObject_GetAttrString", &python.attribute},
        {"PyUnicode_AsUTF8", &python.text},
        {"Py_DecRef", &python.release},
        {"PyThreadState_GetInterpreter", &python.interpreter}, /* since 3.9 */
        {"PyInterpreterState_ThreadHead", &python.first_thread},
        {"PyThreadState_Next", &python.next_thread},
        {"PyErr_Occurred", &python.error},
        {"PyErr_Clear", &python.forget_error},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(RTLD_DEFAULT, functions[i].name);
        if (found == NULL)
            return;
        memcpy(functions[i].to, &found, sizeof found);
    }
    python.lines = mmap(NULL, LINES * sizeof *python.lines, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cco_calls_python = python.lines != MAP_FAILED;
}

static bool python_calls_at(const void *site)
{
    Dl_info info;
    if (dladdr(site, &info) == 0 || info.dli_fname == NULL)
        return false;
    return strstr(info.dli_fname, "mpi4py") != NULL || strstr(info.dli_fname, "libffi") != NULL ||
           strstr(info.dli_fname, "_ctypes") != NULL;
}

/* Asked once for each place, as long as there is room. */
static bool python_is_place(const void *site)
{
    const int known = __atomic_load_n(&python.known, __ATOMIC_ACQUIRE);
    for (int i = 0; i < known; i++)
        if (python.places[i].site == site)
            return python.places[i].calls_python;
    const bool is = python_calls_at(site);
    pthread_mutex_lock(&python.lock);
    if (python.known < PLACES) {
        python.places[python.known] = (place){site, is};
        __atomic_store_n(&python.known, python.known + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&python.lock);
    return is;
}

static void python_copy_text(char *to, size_t room, void *object, const char *name)
{
    void *value = python.attribute(object, name);
    const char *text = value != NULL ? python.text(value) : NULL;
    if (text != NULL)
        strncpy(to, text, room - 1);
    else
        python.forget_error();
    if (value != NULL)
        python.release(value);
}

/* Where the program is: what imports modules is skipped. */
static void python_describe(void *frame, cco_calls_line *line)
{
    void *at = frame, *mine = NULL; /* mine: a reference of ours */
    for (bool imports = true; imports;) {
        void *code = python.code(at);
        python_copy_text(line->path, sizeof line->path, code, "co_filename");
        python_copy_text(line->function, sizeof line->function, code, "co_name");
        python.release(code);
        line->shown = python.line(at);
        imports = strncmp(line->path, "<frozen importlib", 17) == 0;
        void *back = imports ? python.back(at) : NULL;
        if (mine != NULL)
            python.release(mine);
        mine = at = back;
        imports = back != NULL;
    }
}

/* The place of a line, or that of a free one; NULL: no room. */
static cco_calls_line *python_find(const void *code, int line)
{
    const uint64_t mixed = ((uintptr_t)code + (uint64_t)line) * 0x9e3779b97f4a7c15u;
    for (unsigned i = 0; i < LINES; i++) {
        cco_calls_line *l = &python.lines[((mixed >> 40) + i) & (LINES - 1)];
        if (l->code == code && l->line == line)
            return l;
        if (l->code == NULL)
            return python.used < MOST_LINES ? l : NULL;
    }
    return NULL;
}

/* With the interpreter's lock.  The code object stays with a new line, so that its address is not
 * used again. */
static const cco_calls_line *python_line_now(void)
{
    void *frame = python.error() == NULL ? python.frame() : NULL;
    if (frame == NULL)
        return NULL;
    void *code = python.code(frame);
    pthread_mutex_lock(&python.lock);
    cco_calls_line *found = python_find(code, python.line(frame));
    const bool known = found == NULL || found->code != NULL;
    if (!known) {
        python_describe(frame, found);
        found->line = python.line(frame);
        found->code = code;
        python.used++;
    }
    pthread_mutex_unlock(&python.lock);
    if (known)
        python.release(code);
    return found;
}

const void *cco_calls_python_site(const void *site)
{
    if (!python_is_place(site) || !python.initialized() || python.this_thread() == NULL)
        return site;
    const int state = python.take();
    const cco_calls_line *line = python_line_now();
    python.give(state);
    return line != NULL ? line : site;
}

/* Looks at the state of this thread alone: those of others may end meanwhile. */
static bool python_is_alone(void)
{
    void *mine = python.initialized() ? python.this_thread() : NULL;
    return mine != NULL && python.first_thread(python.interpreter(mine)) == mine &&
           python.next_thread(mine) == NULL;
}

const void *cco_calls_python_site_before(const void *site)
{
    return python_is_alone() ? cco_calls_python_site(site) : site;
}

cco_calls_line *cco_calls_line_of(const void *site)
{
    cco_calls_line *line = (cco_calls_line *)site;
    const bool is = cco_calls_python && line >= python.lines && line < python.lines + LINES;
    return is ? line : NULL;
}
