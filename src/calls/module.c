/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c - see module.h. */
#define _GNU_SOURCE
#include "calls/module.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calls/python.h"

typedef struct sought {
    uintptr_t address, base;
    cco_calls_module *found;
    bool is_there;
} sought;

static void module_read_id(const struct dl_phdr_info *info, const ElfW(Phdr) * note,
                           cco_calls_module *m)
{
    const char *at = (const char *)(info->dlpi_addr + note->p_vaddr), *end = at + note->p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *n = (const void *)at;
        const char *name = at + sizeof *n, *data = name + ((n->n_namesz + 3u) & ~3u);
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            m->id_bytes = n->n_descsz < sizeof m->id ? n->n_descsz : sizeof m->id;
            memcpy(m->id, data, m->id_bytes);
            return;
        }
        at = data + ((n->n_descsz + 3u) & ~3u);
    }
}

void cco_calls_module_read(const struct dl_phdr_info *info, cco_calls_module *module)
{
    memset(module, 0, sizeof *module);
    if (info->dlpi_name[0] != '\0')
        strncpy(module->path, info->dlpi_name, sizeof module->path - 1);
    else if (readlink("/proc/self/exe", module->path, sizeof module->path - 1) < 0)
        module->path[0] = '\0';
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE && module->id_bytes == 0)
            module_read_id(info, &info->dlpi_phdr[i], module);
}

static int module_seek(struct dl_phdr_info *info, size_t size, void *what)
{
    sought *s = what;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && !s->is_there; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t from = info->dlpi_addr + p->p_vaddr;
        s->is_there = p->p_type == PT_LOAD && s->address >= from && s->address - from < p->p_memsz;
    }
    if (!s->is_there)
        return 0;
    s->base = info->dlpi_addr;
    cco_calls_module_read(info, s->found);
    return 1;
}

bool cco_calls_module_of(const void *site, cco_calls_module *module, uint64_t *offset)
{
    memset(module, 0, sizeof *module);
    const cco_calls_line *line = cco_calls_line_of(site);
    if (line != NULL) {
        snprintf(module->path, sizeof module->path, "%s", line->path);
        snprintf(module->function, sizeof module->function, "%s", line->function);
        *offset = line->shown > 0 ? (uint64_t)line->shown : 0;
        return true;
    }
    sought s = {.address = (uintptr_t)site, .found = module};
    if (site == NULL || dl_iterate_phdr(module_seek, &s) == 0)
        return false;
    *offset = (uintptr_t)site - s.base;
    return true;
}
