/* SPDX-License-Identifier: BSD-3-Clause */
/* box.c - see box.h. */
#define _GNU_SOURCE
#include "calls/box.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "calls/calls.h"
#include "calls/module.h"
#include "calls/python.h"

enum {
    HEAD = 1 << 16, /* the largest page of a processor: areas are mapped one by one */
    NOTES = 1 << 20,
    NOTES_STEP = 1 << 14,
    MODULES = 1024
};

static struct {
    cco_box_head *head; /* NULL: there is no box */
    char *notes;
    int folder, file;
    char path[512], above[512], name[128];
    bool is_of_run; /* the folder is one that `crestacoll run` has named: empty, it goes */
    uint64_t size, notes_room;
    int why;                    /* there is none: errno */
    uintptr_t modules[MODULES]; /* where those that are noted have been loaded */
    int known;
    unsigned long long loads; /* of the loader, when it was asked last */
    pthread_mutex_t lock;     /* of what changes */
} box = {.folder = -1, .file = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

static bool box_allocate(uint64_t at, uint64_t bytes)
{
    do
        errno = posix_fallocate(box.file, (off_t)at, (off_t)bytes);
    while (errno == EINTR);
    return errno == 0;
}

/* Beyond the limit on files the system would send a signal. */
static bool box_extend(uint64_t to)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur < to) {
        errno = EFBIG;
        return false;
    }
    return ftruncate(box.file, (off_t)to) == 0;
}

/* Nobody else may have made it, or write there. */
static bool box_open_folder(const char *path)
{
    struct stat is;
    if ((size_t)snprintf(box.path, sizeof box.path, "%s", path) >= sizeof box.path) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(box.above, sizeof box.above, "%s", path);
    dirname(box.above);
    const char *slash = strrchr(box.above, '/');
    box.is_of_run = slash != NULL && strncmp(slash, "/crestacoll-", 12) == 0;
    mkdir(box.above, S_IRWXU);
    mkdir(box.path, S_IRWXU);
    box.folder = open(box.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (box.folder < 0 || fstat(box.folder, &is) != 0)
        return false;
    errno = EPERM;
    return is.st_uid == geteuid() && (is.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool box_make_file(const cco_box_head *like)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    snprintf(box.name, sizeof box.name, "%s.%ld.%llx", host, (long)getpid(),
             (unsigned long long)cco_ticks());
    box.file = openat(box.folder, box.name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      S_IRUSR | S_IWUSR);
    if (box.file < 0 || !box_extend(HEAD + NOTES) || !box_allocate(0, sizeof *like) ||
        !box_allocate(HEAD, NOTES_STEP))
        return false;
    void *at = mmap(NULL, HEAD + NOTES, PROT_READ | PROT_WRITE, MAP_SHARED, box.file, 0);
    if (at == MAP_FAILED)
        return false;
    const uint64_t ticks = cco_ticks();
    const double now = 1e-9 * (double)cco_ns(CLOCK_REALTIME);
    cco_box_head *head = at;
    *head = *like;
    memcpy(head->magic, CCO_BOX_MAGIC, sizeof head->magic);
    head->version = CCO_BOX_VERSION;
    head->pid = (uint32_t)getpid();
    head->rank = head->ranks = -1;
    head->one = 1;
    head->notes_at = HEAD;
    head->areas_at = HEAD + NOTES;
    head->first_ticks = head->now_ticks = ticks;
    head->first_s = head->now_s = now;
    memcpy(head->host, host, sizeof head->host);
    box.notes = (char *)at + HEAD;
    box.notes_room = NOTES_STEP;
    box.size = HEAD + NOTES;
    box.head = head;
    return true;
}

static void box_close(void)
{
    if (box.file >= 0) {
        unlinkat(box.folder, box.name, 0);
        close(box.file);
    }
    if (box.folder >= 0)
        close(box.folder);
    if (box.is_of_run && rmdir(box.path) == 0)
        rmdir(box.above);
    box.file = box.folder = -1;
}

/* With the lock. */
__attribute__((format(printf, 1, 2))) static void box_note(const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const uint64_t used = box.head->notes_bytes, need = used + (uint64_t)length;
    if (length < 0 || (size_t)length >= sizeof line || need > NOTES)
        return;
    if (need > box.notes_room) {
        if (!box_allocate(HEAD + box.notes_room, NOTES_STEP))
            return;
        box.notes_room += NOTES_STEP;
    }
    memcpy(box.notes + used, line, (size_t)length);
    __atomic_store_n(&box.head->notes_bytes, need, __ATOMIC_RELEASE);
}

static bool box_knows(uintptr_t base)
{
    for (int i = 0; i < box.known; i++)
        if (box.modules[i] == base)
            return true;
    return box.known == MODULES;
}

static int box_note_module(struct dl_phdr_info *info, size_t size, void *loads)
{
    cco_calls_module m;
    (void)size;
    if (info->dlpi_adds == *(unsigned long long *)loads)
        return 1;
    box.loads = info->dlpi_adds;
    if (box_knows(info->dlpi_addr + 1))
        return 0;
    box.modules[box.known++] = info->dlpi_addr + 1; /* 0 is that of a program */
    cco_calls_module_read(info, &m);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const unsigned long long from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        box_note("module %llx %llx %llx ", (unsigned long long)info->dlpi_addr, from,
                 from + p->p_memsz);
        for (uint32_t k = 0; k < m.id_bytes; k++)
            box_note("%02x", m.id[k]);
        box_note(" %s\n", m.path);
    }
    return 0;
}

static void box_note_modules(void)
{
    unsigned long long loads = box.loads;
    dl_iterate_phdr(box_note_module, &loads);
}

void cco_box_note_site(const void *site)
{
    if (box.head == NULL)
        return;
    const cco_calls_line *line = cco_calls_line_of(site);
    pthread_mutex_lock(&box.lock);
    if (line != NULL)
        box_note("line %llx %d %s %s\n", (unsigned long long)(uintptr_t)line, line->shown,
                 line->function, line->path);
    else
        box_note_modules();
    pthread_mutex_unlock(&box.lock);
}

void cco_box_begin(const cco_box_head *like)
{
    const char *off = secure_getenv("CRESTA_OFF"), *folder = secure_getenv("CRESTA_BLACKBOX");
    if (off != NULL && strcmp(off, "1") == 0)
        return;
    if (box.head != NULL || folder == NULL || folder[0] == '\0' || strcmp(folder, "off") == 0)
        return;
    if (!box_open_folder(folder) || !box_make_file(like)) {
        box.why = errno;
        box_close();
        return;
    }
    pthread_mutex_lock(&box.lock);
    for (int i = 0; i < CCO_CALLS_FUNCTIONS; i++)
        box_note("function %s %s\n", cco_calls_names[i], cco_calls_parts[i]);
    box_note_modules();
    pthread_mutex_unlock(&box.lock);
}

void cco_box_rank(void)
{
    int rank = 0, ranks = 0;
    MPI_Comm parent = MPI_COMM_NULL;
    if (box.head == NULL && box.why == 0)
        return;
    PMPI_Comm_get_parent(&parent);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (box.head != NULL) {
        box.head->spawned = parent != MPI_COMM_NULL;
        box.head->ranks = ranks;
        box.head->rank = rank;
    } else if (rank == 0)
        fprintf(stderr, "crestacoll: no black box in CRESTA_BLACKBOX=%s: %s\n", box.path,
                strerror(box.why));
}

void cco_box_end(void)
{
    if (box.head == NULL)
        return;
    pthread_mutex_lock(&box.lock);
    box_close();
    box.head = NULL;
    pthread_mutex_unlock(&box.lock);
}

void *cco_box_area(size_t bytes, uint64_t *place)
{
    void *at = MAP_FAILED;
    pthread_mutex_lock(&box.lock);
    if (box.head != NULL) {
        const uint64_t room = box.head->area_bytes;
        *place = box.size;
        if (box_extend(*place + room) && box_allocate(*place, bytes))
            at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, box.file, (off_t)*place);
        if (at != MAP_FAILED)
            box.size += room;
    }
    pthread_mutex_unlock(&box.lock);
    return at != MAP_FAILED ? at : NULL;
}

bool cco_box_more(uint64_t place, size_t bytes)
{
    pthread_mutex_lock(&box.lock);
    const bool more = box.head != NULL && box_allocate(place, bytes);
    pthread_mutex_unlock(&box.lock);
    return more;
}

void cco_box_mark(uint64_t ticks)
{
    if (box.head == NULL)
        return;
    box.head->now_s = 1e-9 * (double)cco_ns(CLOCK_REALTIME);
    __atomic_store_n(&box.head->now_ticks, ticks, __ATOMIC_RELEASE);
}
