/* SPDX-License-Identifier: BSD-3-Clause */
/* beside.c - two shared objects loaded as if a third one needed both.
 *
 * Where a name is looked up depends on what was loaded by which dlopen.  The preload library needs
 * names of the MPI and does not say which MPI that is; mpi4py's extension does.  An object that
 * needs both gives the library the extension's MPI, whatever file it comes from, and with
 * RTLD_GLOBAL puts the library before it.  That object has no code: the loader reads a header, a
 * dynamic section and three names, which are written here (ELF gABI, "Program Loading and Dynamic
 * Linking"). */
#include "native.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAMES = 2 * 4096, PAGE = 0x10000 }; /* the largest pages of the processors in question */

typedef struct image {
    ElfW(Ehdr) head;
    ElfW(Phdr) load, dynamic, stack;
    ElfW(Dyn) entries[9];
    ElfW(Sym) none;
    ElfW(Word) hash[4]; /* one bucket, one chain, nothing in them */
    char names[NAMES];
} image;

static size_t add_name(image *im, size_t *used, const char *name)
{
    const size_t place = *used;
    strcpy(im->names + place, name);
    *used += strlen(name) + 1;
    return place;
}

/* What kind of file it is, is copied from an object that this process could load: ours. */
static int fill_head(image *im)
{
    Dl_info info;
    static const char here;
    if (dladdr(&here, &info) == 0)
        return -1;
    const ElfW(Ehdr) *own = info.dli_fbase;
    im->head = *own;
    im->head.e_type = ET_DYN;
    im->head.e_entry = 0;
    im->head.e_phoff = offsetof(image, load);
    im->head.e_phnum = 3;
    im->head.e_shoff = im->head.e_shnum = im->head.e_shstrndx = 0;
    return 0;
}

static void fill_segments(image *im)
{
    im->load = (ElfW(Phdr)){.p_type = PT_LOAD,
                            .p_flags = PF_R | PF_W,
                            .p_align = PAGE,
                            .p_filesz = sizeof *im,
                            .p_memsz = sizeof *im};
    im->dynamic = (ElfW(Phdr)){.p_type = PT_DYNAMIC,
                               .p_flags = PF_R | PF_W,
                               .p_offset = offsetof(image, entries),
                               .p_vaddr = offsetof(image, entries),
                               .p_paddr = offsetof(image, entries),
                               .p_filesz = sizeof im->entries,
                               .p_memsz = sizeof im->entries,
                               .p_align = sizeof(ElfW(Addr))};
    im->stack = (ElfW(Phdr)){.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16};
}

static void fill_dynamic(image *im, const char *library, const char *extension)
{
    size_t used = 1;
    ElfW(Dyn) *d = im->entries;
    *d++ = (ElfW(Dyn)){DT_NEEDED, {add_name(im, &used, library)}};
    *d++ = (ElfW(Dyn)){DT_NEEDED, {add_name(im, &used, extension)}};
    *d++ = (ElfW(Dyn)){DT_SONAME, {add_name(im, &used, "crestacoll-beside.so")}};
    *d++ = (ElfW(Dyn)){DT_STRTAB, {offsetof(image, names)}};
    *d++ = (ElfW(Dyn)){DT_STRSZ, {used}};
    *d++ = (ElfW(Dyn)){DT_SYMTAB, {offsetof(image, none)}};
    *d++ = (ElfW(Dyn)){DT_SYMENT, {sizeof(ElfW(Sym))}};
    *d++ = (ElfW(Dyn)){DT_HASH, {offsetof(image, hash)}};
    *d = (ElfW(Dyn)){DT_NULL, {0}};
    im->hash[0] = im->hash[1] = 1;
}

static int write_all(int file, const void *data, size_t bytes)
{
    for (const char *p = data; bytes > 0;) {
        const ssize_t done = write(file, p, bytes);
        if (done < 0 && errno != EINTR)
            return -1;
        p += done > 0 ? done : 0;
        bytes -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

void *cresta_open_beside(const char *library, const char *extension, int flags)
{
    static image im;
    char path[64];
    void *handle = NULL;
    if (strlen(library) + strlen(extension) + 64 > NAMES) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    memset(&im, 0, sizeof im);
    if (fill_head(&im) != 0)
        return NULL;
    fill_segments(&im);
    fill_dynamic(&im, library, extension);
    const int file = (int)syscall(SYS_memfd_create, "crestacoll-beside.so", 1u);
    if (file < 0)
        return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (write_all(file, &im, sizeof im) == 0)
        handle = dlopen(path, flags);
    close(file);
    return handle;
}
