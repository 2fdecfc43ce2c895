/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime.c - see runtime.h. */
#include "transport/caf/runtime.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "comm/channel.h"
#include "config/config.h"
#include "comm/free_files.h"
#include "call/reentry.h"
#include "base/log.h"
#include "mpi/service.h"
#include "wait/wait.h"
#include "transport/caf/signals.h"
#include "transport/rma/window.h"

enum {
    NO_MEMORY = 255,   /* instead of a pad */
    LEAST = 64 << 10,  /* of a coarray that is kept: less is of no use */
    STEP = 4 << 10,    /* and its size is a multiple of this */
    SHARE_OF_ROOM = 2, /* it takes one in so many bytes of what is left */
};

typedef enum phase { NEW, USABLE, USELESS, ENDED } phase;

/* Written by one thread, which is in a call on MPI_COMM_WORLD, before `now`. */
static phase now = NEW;
static const char *why = "coarrays begin with a call on all ranks of MPI_COMM_WORLD";
static cco_images images;
static bool runs; /* the runtime, usable or not */
static bool ours; /* the program has no coarrays of its own, which would have started the runtime */
static int node = 1; /* ranks of this node */

static phase phase_now(void)
{
    return __atomic_load_n(&now, __ATOMIC_ACQUIRE);
}

const cco_images *cco_runtime_images(void)
{
    return phase_now() == USABLE ? &images : NULL;
}

const char *cco_runtime_why(void)
{
    return why;
}

unsigned char cco_runtime_pad(const char *base)
{
    return (unsigned char)(-(uintptr_t)base % CCO_IMAGE_ALIGNED);
}

/* How much there is for each rank of this node.  Both MPIs keep windows there, one of them without
 * asking whether they fit: whoever writes first would end by a signal. */
static size_t runtime_room(void)
{
    struct statvfs fs;
    if (statvfs("/dev/shm", &fs) != 0)
        return SIZE_MAX;
    return (size_t)fs.f_bavail * fs.f_frsize / SHARE_OF_ROOM / (size_t)node;
}

bool cco_runtime_has_room(size_t bytes)
{
    return bytes <= runtime_room();
}

static void runtime_count_node(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    if (PMPI_Comm_split_type(images.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm) !=
        MPI_SUCCESS)
        return;
    PMPI_Comm_size(comm, &node);
    PMPI_Comm_free(&comm);
}

/* What all ranks have room for, of what was asked for. */
static size_t size_for_all(size_t wish)
{
    const size_t here = runtime_room();
    uint64_t all = wish < here ? wish : here;
    if (cco_service_allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_MIN, images.comm) !=
        MPI_SUCCESS)
        return 0;
    return (size_t)all / STEP * STEP;
}

static const char *make_kept(void)
{
    int size = 0;
    images.bytes = size_for_all(cco_configured.caf_buffer.bytes);
    if (images.bytes < LEAST)
        return "there is no room for a coarray";
    PMPI_Comm_size(images.comm, &size);
    images.pads = calloc((size_t)size, 1);
    if (images.pads == NULL)
        cco_fatal("no memory for coarrays");
    cco_reentry_enter();
    images.kept = images.plugin->keep(images.bytes);
    cco_reentry_leave();
    const unsigned char pad = images.kept != NULL ? cco_runtime_pad(images.kept) : NO_MEMORY;
    if (cco_service_allgather(&pad, images.pads, 1, images.comm) != MPI_SUCCESS)
        return "the MPI failed";
    for (int i = 0; i < size; i++)
        if (images.pads[i] == NO_MEMORY)
            return "there is no memory for a coarray";
    if (CCO_SIGNALS_PAY && cco_signals_begin(images.comm, images.kept) != MPI_SUCCESS)
        return "the MPI failed";
    return NULL;
}

/* The runtime goes on with windows that it did not get (Open MPI 4 has none of these for a single
 * rank, nor where no transport can do them). */
static bool has_windows(void)
{
    static int word;
    MPI_Win window = MPI_WIN_NULL, dynamic = MPI_WIN_NULL;
    MPI_Comm copy = cco_comm_copy(MPI_COMM_WORLD);
    if (copy == MPI_COMM_NULL)
        return false;
    bool all = PMPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, copy, &window) == MPI_SUCCESS;
    all = PMPI_Win_create_dynamic(MPI_INFO_NULL, copy, &dynamic) == MPI_SUCCESS && all;
    if (window != MPI_WIN_NULL)
        PMPI_Win_free(&window);
    if (dynamic != MPI_WIN_NULL)
        PMPI_Win_free(&dynamic);
    PMPI_Comm_free(&copy);
    return cco_service_all(all, MPI_COMM_WORLD);
}

static const char *runtime_start(void)
{
    if (!cco_free_files(MPI_COMM_WORLD))
        return CCO_NO_FREE_FILES;
    if (!has_windows())
        return "the MPI makes no windows";
    ours = images.plugin->this_image(0) == 0;
    cco_reentry_enter();
    images.plugin->init(NULL, NULL);
    cco_reentry_leave();
    runs = true;
    images.comm = PMPI_Comm_f2c(images.plugin->communicator(NULL));
    runtime_count_node();
    return cco_configured.caf_buffer.dynamic ? NULL : make_kept();
}

/* The runtime takes a duplicate of MPI_COMM_WORLD, and with it what happens there on errors: an
 * allocation without success is to be reported, not to stop the job.  Later releases than 2.10.1
 * leave MPI_COMM_WORLD changed. */
static const char *runtime_begin(void)
{
    MPI_Errhandler before;
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const char *problem = runtime_start();
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    PMPI_Errhandler_free(&before);
    return problem;
}

/* The runtime duplicates MPI_COMM_WORLD, on which no other call may be in between: none is where
 * the program itself calls on it, or where no other thread can. */
static bool may_begin(MPI_Comm comm)
{
    int level = MPI_THREAD_MULTIPLE, same = MPI_UNEQUAL;
    if (comm == MPI_COMM_WORLD)
        return true;
    PMPI_Query_thread(&level);
    return PMPI_Comm_compare(comm, MPI_COMM_WORLD, &same) == MPI_SUCCESS && same != MPI_UNEQUAL &&
           cco_service_all(level < MPI_THREAD_MULTIPLE, comm);
}

const char *cco_runtime_begin(MPI_Comm comm)
{
    const char *problem;
    if (phase_now() != NEW || !may_begin(comm))
        return phase_now() == USABLE ? NULL : why;
    images.plugin = cco_plugin_load(&problem);
    if (!cco_service_all(images.plugin != NULL, comm))
        problem = problem != NULL ? problem : "some ranks could not load libcrestacoll-caf.so";
    else
        problem = cco_window_refused(comm);
    if (problem == NULL)
        problem = runtime_begin();
    why = problem != NULL ? problem : "coarrays have ended";
    __atomic_store_n(&now, problem == NULL ? USABLE : USELESS, __ATOMIC_RELEASE);
    return problem;
}

/* Every image tells every other that it ends; nobody would receive that, and UCX would complain of
 * each.  The barrier in `finalize` comes after all have told. */
static void runtime_finalize(void)
{
    int rank, size, n = 0;
    PMPI_Comm_rank(images.comm, &rank);
    PMPI_Comm_size(images.comm, &size);
    MPI_Request *requests = calloc((size_t)size, sizeof *requests);
    int *told = calloc((size_t)size, sizeof *told);
    if (requests == NULL || told == NULL)
        cco_fatal("no memory to end coarrays");
    for (int i = 0; i < size; i++)
        if (i != rank)
            PMPI_Irecv(&told[i], 1, MPI_INT, i, MPI_ANY_TAG, images.comm, &requests[n++]);
    cco_reentry_enter();
    images.plugin->finalize();
    cco_reentry_leave();
    for (int i = 0; i < n; i++)
        cco_wait(&requests[i]);
    free(requests);
    free(told);
}

void cco_runtime_end(void)
{
    __atomic_store_n(&now, ENDED, __ATOMIC_RELEASE);
    cco_signals_end();
    if (runs && ours)
        runtime_finalize();
    runs = false;
    free(images.pads);
    images = (cco_images){0};
}
