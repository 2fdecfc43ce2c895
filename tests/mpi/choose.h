/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.h - puts a communicator under an implementation. Programs that are linked say it by
 * CRESTA_Set_impl; those in plain MPI give it the implementation's name, for which CRESTA_IMPL has
 * a rule: `*@shm=shm` (`rules` in CMakeLists.txt). */
#ifndef TESTS_CHOOSE_H
#define TESTS_CHOOSE_H

#include <mpi.h>
#ifndef PLAIN_MPI
#include <cresta_sp_coll.h>
#endif

#include "testing/testing.h"

static void choose(MPI_Comm comm, const char *impl)
{
#ifdef PLAIN_MPI
    MPI_Comm_set_name(comm, impl);
#else
    char spec[256];
    snprintf(spec, sizeof spec, "*=%s", impl);
    CHECK(CRESTA_Set_impl(comm, spec) == MPI_SUCCESS, "CRESTA_Set_impl %s", spec);
#endif
}

#endif
