/* SPDX-License-Identifier: BSD-3-Clause */
/* slots.c - the slots through which a shared object calls functions of others (ELF gABI, "Global
 * Offset Table"; "Procedure Linkage Table" of the processor's supplement).
 *
 * The loader fills them by relocations, which name symbols: those of the procedure linkage table
 * (DT_JMPREL), and those of addresses that are read from the global offset table (DT_RELA), for
 * objects compiled by -fno-plt.  Where the loader has made them read-only (PT_GNU_RELRO), they are
 * writable while one is changed. */
#include "native.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#elif defined(__powerpc64__)
#define IS_SLOT(type) ((type) == R_PPC64_JMP_SLOT || (type) == R_PPC64_GLOB_DAT)
#elif defined(__riscv)
#define IS_SLOT(type) ((type) == R_RISCV_JUMP_SLOT || (type) == R_RISCV_64)
#else
#error "slots.c: how this processor's loader fills slots is not known"
#endif

/* A shared object in memory. */
typedef struct object {
    const struct link_map *map;
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * tables[2]; /* DT_JMPREL, DT_RELA */
    size_t counts[2];
    uintptr_t relro, relro_end; /* read-only after relocation; both 0 if nothing is */
} object;

/* glibc has added the address of the object, other loaders have not. */
static const void *at(const struct link_map *map, ElfW(Addr) value)
{
    return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

static void read_dynamic(object *o)
{
    for (const ElfW(Dyn) *d = o->map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            o->symbols = at(o->map, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            o->names = at(o->map, d->d_un.d_ptr);
        else if (d->d_tag == DT_JMPREL)
            o->tables[0] = at(o->map, d->d_un.d_ptr);
        else if (d->d_tag == DT_PLTRELSZ)
            o->counts[0] = d->d_un.d_val / sizeof(ElfW(Rela));
        else if (d->d_tag == DT_RELA)
            o->tables[1] = at(o->map, d->d_un.d_ptr);
        else if (d->d_tag == DT_RELASZ)
            o->counts[1] = d->d_un.d_val / sizeof(ElfW(Rela));
    }
}

static int read_relro(struct dl_phdr_info *info, size_t size, void *data)
{
    object *o = data;
    (void)size;
    bool is_it = false;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            is_it = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr == (uintptr_t)o->map->l_ld;
    for (int i = 0; is_it && i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_GNU_RELRO)
            continue;
        o->relro = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        o->relro_end = o->relro + info->dlpi_phdr[i].p_memsz;
    }
    return is_it;
}

/* The loader protects whole pages, from the first one on, as far as they are full. */
static int put(const object *o, void **slot, void *value)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), here = (uintptr_t)slot;
    const uintptr_t start = here & ~(page - 1);
    const bool fixed = (o->relro & ~(page - 1)) <= here && here < (o->relro_end & ~(page - 1));
    if (fixed && mprotect((void *)start, page, PROT_READ | PROT_WRITE) != 0)
        return -1;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    return fixed ? mprotect((void *)start, page, PROT_READ) : 0;
}

int cresta_slots(void *handle, cresta_visit *visit, void *data)
{
    object o = {0};
    int changed = 0;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &o.map) != 0) {
        errno = ENOTSUP;
        return -1;
    }
    read_dynamic(&o);
    dl_iterate_phdr(read_relro, &o);
    for (int t = 0; t < 2; t++) {
        for (size_t i = 0; o.tables[t] != NULL && i < o.counts[t]; i++) {
            const ElfW(Rela) *r = &o.tables[t][i];
            if (!IS_SLOT(ELF64_R_TYPE(r->r_info)))
                continue;
            const char *name = o.names + o.symbols[ELF64_R_SYM(r->r_info)].st_name;
            void *value = visit(data, name);
            if (value != NULL && put(&o, (void **)(o.map->l_addr + r->r_offset), value) != 0)
                return -1;
            changed += value != NULL;
        }
    }
    return changed;
}
