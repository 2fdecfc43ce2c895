/* SPDX-License-Identifier: BSD-3-Clause */
/* config.h - the environment, read once.  The only place that calls getenv. */
#ifndef CCO_CONFIG_H
#define CCO_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

/* A program that is linked to us may ask for something later, and begin calls; one with the library
 * preloaded into it does not know us. */
#if defined(CRESTA_PRELOAD)
enum { CCO_PRELOADED = 1 };
#else
enum { CCO_PRELOADED = 0 };
#endif

/* The rules that the build chose (`make DFLAGS_LIB=...`). */
#if !defined(CCO_DEFAULT_IMPL)
#define CCO_DEFAULT_IMPL ""
#endif

/* What happens when an implementation that was asked for cannot do a collective here. */
typedef enum cco_fallback_policy {
    CCO_FALLBACK_ERROR,
    CCO_FALLBACK_WARN,
    CCO_FALLBACK_SILENT
} cco_fallback_policy;

/* CRESTA_ASYNC: whether there is a progress thread. */
typedef enum cco_async_setting {
    CCO_ASYNC_AUTO, /* where the program has asked for MPI_THREAD_MULTIPLE */
    CCO_ASYNC_THREAD,
    CCO_ASYNC_OFF
} cco_async_setting;

/* CRESTA_WAIT: how blocking calls of the program wait (wait/polite.h). */
typedef enum cco_wait_setting {
    CCO_WAIT_AUTO, /* politely where a node has more ranks than cores */
    CCO_WAIT_POLITE,
    CCO_WAIT_MPI,
    CCO_WAIT_UNSET /* auto where an implementation is chosen, else mpi */
} cco_wait_setting;

/* CRESTA_SHM_DISTANCE: what shm?copy=auto takes the cores of a node for. */
typedef enum cco_shm_distance {
    CCO_DISTANCE_AUTO, /* it measures */
    CCO_DISTANCE_NEAR,
    CCO_DISTANCE_FAR
} cco_shm_distance;

/* CRESTA_NODE_SHAPE: memories of a node, caches of a memory, cores of a cache; zeros: auto. */
typedef struct cco_node_shape {
    int memories, caches, cores;
} cco_node_shape;

/* CRESTA_DEVICE_MEMORY */
typedef enum cco_device_memory { CCO_DEVICE_AUTO, CCO_DEVICE_YES, CCO_DEVICE_NO } cco_device_memory;

/* CRESTA_WATCHDOG: what ranks tell of themselves in a job that hangs (src/rollcall). */
typedef struct cco_watchdog {
    bool on;          /* they can be asked; */
    unsigned seconds; /* in one call, after which they tell by themselves; 0: never, */
    bool ends;        /* and end the job */
} cco_watchdog;

enum { CCO_MATCH_PATIENCE = 10 /* seconds, of CRESTA_DEBUG=match */ };

/* CRESTA_ATOMICS: whether accumulates on windows whose ranks share memory are ours. */
typedef enum cco_atomics_setting {
    CCO_ATOMICS_AUTO, /* where the MPI's are messages */
    CCO_ATOMICS_ON,
    CCO_ATOMICS_OFF
} cco_atomics_setting;

/* CRESTA_DEBUG; zero for nothing. */
typedef struct cco_debug {
    bool check, trace;
    unsigned long match;        /* seconds of patience (src/match) */
    unsigned long delay;        /* seed */
    unsigned long fail;         /* number of the operation */
    unsigned long disagree;     /* seed (comm/facts.h) */
    double clock_us, clock_ppm; /* by which clocks of the nodes differ (profile/common_clock.h) */
} cco_debug;

/* CRESTA_VALIDATE */
typedef struct cco_validate_setting {
    double rate; /* of calls that are checked, 0 to 1 */
    bool on;
} cco_validate_setting;

/* Memory for one-sided operations: CRESTA_OS_WINDOW, CRESTA_CAF_BUFFER. */
typedef struct cco_store {
    bool given;   /* by the user; otherwise a program may say what it wants */
    bool dynamic; /* made for each call; otherwise kept */
    size_t bytes; /* of each process; at most, if dynamic */
} cco_store;

typedef struct cco_config {
    bool off;              /* CRESTA_OFF; the rest is preset then */
    unsigned reads;        /* how often the environment was read */
    char *impl;            /* the text of CRESTA_IMPL, or of the file it names; never NULL */
    char impl_source[256]; /* what to call that text in messages: "CRESTA_IMPL" or
                              "CRESTA_IMPL=@file" */
    char *tuning;          /* the text of CRESTA_TUNING, NULL = none */
    char tuning_read[96];  /* what was read there (tune/tuning_file.h); "" = nothing */
    char *profile;         /* file name, NULL = no recording */
    char *io;              /* file name, NULL = MPI-IO is not counted */
    char *race;            /* text of the file that CRESTA_RACE names, NULL = none */
    char *loaded;          /* file name or NULL */
    /* One that no other user can open, the same for the ranks of the job on this node; that of Open
     * MPI's daemon, which it removes with the job, if there is one.  NULL if none is known. */
    char *private_directory;
    unsigned profile_wait;  /* one sample in this many calls at most; 0 = never */
    unsigned profile_every; /* seconds between snapshots; 0 = never */
    cco_log_level log;
    cco_fallback_policy fallback;
    cco_async_setting async;
    cco_wait_setting wait;
    size_t shm_memory; /* bytes for each process */
    cco_shm_distance shm_distance;
    cco_node_shape node_shape;
    char *nodes; /* as base/imposed_nodes.h reads it; NULL: auto */
    bool online; /* CRESTA_ONLINE */
    bool guard;  /* CRESTA_GUARD */
    cco_validate_setting validate;
    size_t validate_memory; /* bytes for each process */
    bool validate_stop;
    char *validate_files, *validate_summary; /* NULL = none */
    bool reproducible;                       /* CRESTA_REPRODUCIBLE */
    bool protect;                            /* send buffers of CRESTA_x_begin */
    cco_store os_window, caf_buffer;
    cco_device_memory device_memory;
    cco_atomics_setting atomics;
    cco_debug debug;
    cco_watchdog watchdog;
    int watchdog_signal; /* 0: none */
    char *watchdog_at;   /* file name or NULL */
    char *blackbox;      /* folder, for src/calls, or NULL */
    char error[1024];    /* what is wrong with the environment of this rank; "" if nothing */
} cco_config;

extern cco_config cco_configured;

typedef struct cco_env_kind cco_env_kind; /* config/env_kinds.h */

/* One row of env.def. */
typedef struct cco_env_row {
    const char *name, *preset, *help;
    const cco_env_kind *kind;
    size_t at; /* of its member in cco_config */
    bool same; /* on all ranks */
} cco_env_row;
extern const cco_env_row cco_env_rows[];
extern const int cco_env_row_count;

/* Reads the environment into cco_configured.  Errors are kept in it, to be reported when all ranks
 * have met. */
void cco_config_read(void);

/* True for CRESTA_OFF=1, and for CRESTA_ASYNC=thread without that; may be asked before. */
bool cco_config_off(void);
bool cco_config_wants_thread(void);

/* What the environment tells Open MPI of yielding the core: its parameter, or else what the
 * launcher of Open MPI 4 finds out.  NULL: nothing. */
const char *cco_config_open_mpi_yields(void);

/* 64-bit FNV-1a of a string, continued from `hash` (start with 0). */
uint64_t cco_hash(uint64_t hash, const char *text);

#endif
