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
#include "calls/next.h"
#include "calls/python.h"

enum {
    HEAD = 1 << 16, /* the largest page of a processor: areas are mapped one by one */
    NOTES = 1 << 20,
    NOTES_STEP = 1 << 14,
    MODULES = 1024,
    TRIES = 10
};

static struct {
    cco_box_head *head; /* NULL: there is no box */
    char *notes;
    char folder[512], above[512], file[700];
    bool is_of_run; /* `crestacoll run` has named the folder: empty, it goes */
    dev_t device;   /* with this number, the file */
    ino_t number;
    uint64_t size, notes_room;
    int why;                    /* there is none: errno */
    uintptr_t modules[MODULES]; /* where those that are noted have been loaded */
    int known;
    unsigned long long loads; /* of the loader, when it was asked last */
    pthread_mutex_t lock;     /* of what changes */
} box = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool cco_box_is_open(void)
{
    return box.head != NULL;
}

/* The file, for a moment: a program may close all descriptors, or need the last one. */
static int box_open(void)
{
    struct stat is;
    const int file = open(box.file, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0 || (fstat(file, &is) == 0 && is.st_dev == box.device && is.st_ino == box.number))
        return file;
    close(file);
    errno = ESTALE;
    return -1;
}

static bool box_allocate(int file, uint64_t at, uint64_t bytes)
{
    do
        errno = posix_fallocate(file, (off_t)at, (off_t)bytes);
    while (errno == EINTR);
    return errno == 0;
}

/* Beyond the limit on files the system would send a signal. */
static bool box_extend(int file, uint64_t to)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur < to) {
        errno = EFBIG;
        return false;
    }
    return ftruncate(file, (off_t)to) == 0;
}

/* Whether nobody else has made a folder, or may write there. */
static bool box_is_own(const char *folder)
{
    struct stat is;
    if (lstat(folder, &is) != 0)
        return false;
    errno = S_ISDIR(is.st_mode) ? EPERM : ENOTDIR;
    return S_ISDIR(is.st_mode) && is.st_uid == geteuid() && (is.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool box_make_folder(const char *path)
{
    if (strlen(path) >= sizeof box.folder) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(box.above, path);
    dirname(box.above);
    const char *slash = strrchr(box.above, '/');
    box.is_of_run = slash != NULL && strncmp(slash, "/crestacoll-", 12) == 0;
    for (int i = 0; i < TRIES; i++) { /* another job that ends may remove the one above */
        mkdir(box.above, S_IRWXU);
        if (box.is_of_run && !box_is_own(box.above) && errno != ENOENT)
            return false;
        if (mkdir(path, S_IRWXU) == 0 || errno != ENOENT)
            break;
    }
    char *whole = realpath(path, NULL);
    if (whole == NULL)
        return false;
    snprintf(box.folder, sizeof box.folder, "%s", whole);
    free(whole);
    return box_is_own(box.folder);
}

static void *box_map(int file, uint64_t at, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)at);
    return memory != MAP_FAILED ? memory : NULL;
}

/* Both clocks at one moment: of some readings, that with the fewest ticks around it. */
static cco_clock_mark box_clocks(void)
{
    enum { READINGS = 5 };
    cco_clock_mark best = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        const uint64_t before = cco_ticks();
        const double seconds = cco_seconds();
        const uint64_t around = cco_ticks() - before;
        if (around < least) {
            least = around;
            best = (cco_clock_mark){before + around / 2, seconds};
        }
    }
    return best;
}

static void box_begin_head(const cco_box_head *like, const char *host)
{
    const cco_clock_mark now = box_clocks();
    cco_box_head *head = box.head;
    *head = *like;
    memcpy(head->magic, CCO_BOX_MAGIC, sizeof head->magic);
    head->version = CCO_BOX_VERSION;
    head->pid = (uint32_t)getpid();
    head->rank = head->ranks = -1;
    head->one = 1;
    head->notes_at = HEAD;
    head->areas_at = HEAD + NOTES;
    head->first_ticks = head->now_ticks = now.ticks;
    head->first_s = head->now_s = now.seconds;
    head->began_s = 1e-9 * (double)cco_ns(CLOCK_REALTIME);
    snprintf(head->host, sizeof head->host, "%s", host);
}

static bool box_make_file(const cco_box_head *like)
{
    struct stat is;
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    snprintf(box.file, sizeof box.file, "%s/%s.%ld.%llx", box.folder, host, (long)getpid(),
             (unsigned long long)cco_ticks());
    const int file = open(box.file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          S_IRUSR | S_IWUSR);
    if (file < 0)
        return false;
    if (fstat(file, &is) == 0 && box_extend(file, HEAD + NOTES) &&
        box_allocate(file, 0, sizeof *like) && box_allocate(file, HEAD, NOTES_STEP))
        box.head = box_map(file, 0, HEAD + NOTES);
    const int why = errno;
    close(file);
    errno = why;
    if (box.head == NULL)
        return false;
    box.device = is.st_dev;
    box.number = is.st_ino;
    box.notes = (char *)box.head + HEAD;
    box.notes_room = NOTES_STEP;
    box.size = HEAD + NOTES;
    box_begin_head(like, host);
    return true;
}

static void box_remove(void)
{
    if (box.file[0] != '\0')
        unlink(box.file);
    if (box.is_of_run && rmdir(box.folder) == 0)
        rmdir(box.above);
    box.file[0] = '\0';
}

static bool box_more(uint64_t place, uint64_t bytes)
{
    const int file = box.head != NULL ? box_open() : -1;
    const bool more = file >= 0 && box_allocate(file, place, bytes);
    if (file >= 0)
        close(file);
    return more;
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
        if (!box_more(HEAD + box.notes_room, NOTES_STEP))
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
    cco_calls_line *line = cco_calls_line_of(site);
    pthread_mutex_lock(&box.lock);
    if (box.head != NULL && line != NULL && !line->noted)
        box_note("line %llx %d %s %s\n", (unsigned long long)(uintptr_t)line, line->shown,
                 line->function, line->path);
    else if (box.head != NULL && line == NULL)
        box_note_modules();
    if (line != NULL)
        __atomic_store_n(&line->noted, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&box.lock);
}

void cco_box_begin(const cco_box_head *like)
{
    const char *off = secure_getenv("CRESTA_OFF"), *folder = secure_getenv("CRESTA_BLACKBOX");
    if (off != NULL && strcmp(off, "1") == 0)
        return;
    if (box.head != NULL || folder == NULL || folder[0] == '\0' || strcmp(folder, "off") == 0)
        return;
    if (!box_make_folder(folder) || !box_make_file(like)) {
        box.why = errno;
        box_remove();
        return;
    }
    pthread_mutex_lock(&box.lock);
    for (int i = 0; i < CCO_CALLS_FUNCTIONS; i++)
        box_note("function %s %s\n", cco_calls_names[i], cco_calls_parts[i]);
    box_note_modules();
    const char *ahead = cco_calls_ahead();
    if (ahead != NULL)
        box_note("ahead %s\n", ahead);
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
        fprintf(stderr, "crestacoll: no black box in CRESTA_BLACKBOX=%s: %s\n",
                secure_getenv("CRESTA_BLACKBOX"), strerror(box.why));
}

void cco_box_end(void)
{
    pthread_mutex_lock(&box.lock);
    if (box.head != NULL)
        box_remove();
    box.head = NULL;
    pthread_mutex_unlock(&box.lock);
}

void *cco_box_area(size_t bytes, uint64_t *place)
{
    void *at = NULL;
    pthread_mutex_lock(&box.lock);
    const int file = box.head != NULL ? box_open() : -1;
    if (file >= 0) {
        const uint64_t room = box.head->area_bytes;
        *place = box.size;
        if (box_extend(file, *place + room) && box_allocate(file, *place, bytes))
            at = box_map(file, *place, room);
        box.size += at != NULL ? room : 0;
        close(file);
    }
    pthread_mutex_unlock(&box.lock);
    return at;
}

bool cco_box_more(uint64_t place, size_t bytes)
{
    pthread_mutex_lock(&box.lock);
    const bool more = box_more(place, bytes);
    pthread_mutex_unlock(&box.lock);
    return more;
}

void cco_box_mark(void)
{
    pthread_mutex_lock(&box.lock);
    if (box.head != NULL) {
        const cco_clock_mark now = box_clocks();
        box.head->now_s = now.seconds;
        box.head->now_ticks = now.ticks;
    }
    pthread_mutex_unlock(&box.lock);
}
