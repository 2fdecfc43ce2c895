/* SPDX-License-Identifier: BSD-3-Clause */
/* gives_way.c - ranks of MPICH that give their core away while they wait, as those of Open MPI do.
 * Preloaded in the ranks of tests, of which there are more than cores: MPICH asks UCX again and
 * again, and a rank that does so keeps the core from the one that it waits for until the kernel
 * takes it, ten times as long as what is tested. MPICH has no setting for this over UCX. An MPICH
 * that waits for something else is not changed. */
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

typedef unsigned progress(void *worker);
progress ucp_worker_progress;

unsigned ucp_worker_progress(void *worker)
{
    static progress *_Atomic next; /* threads that find it at the same time find the same */
    if (next == NULL)
        next = (progress *)dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (next == NULL) { /* Python opens the MPI, and what that needs, by itself */
        void *ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
        if (ucp == NULL) /* of another name: it is asked for in vain */
            abort();
        next = (progress *)dlsym(ucp, "ucp_worker_progress");
    }
    const unsigned done = next(worker);
    if (done == 0)
        sched_yield();
    return done;
}
