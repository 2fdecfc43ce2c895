/* SPDX-License-Identifier: BSD-3-Clause */
/* module.h - the place in a program that the address of a site is: a file and an offset in it,
 * which all ranks have alike. */
#ifndef CCO_CALLS_MODULE_H
#define CCO_CALLS_MODULE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* A file that the loader has mapped, or a function of a Python file; the offsets in the latter are
 * line numbers. */
typedef struct cco_calls_module {
    char path[1024], function[64];
    uint8_t id[20];
    uint32_t id_bytes; /* 0: it has none */
} cco_calls_module;

/* What the loader has mapped, as its function dl_iterate_phdr tells. */
void cco_calls_module_read(const struct dl_phdr_info *info, cco_calls_module *module);

/* false: the site is NULL, or in no file. */
bool cco_calls_module_of(const void *site, cco_calls_module *module, uint64_t *offset);

#endif
