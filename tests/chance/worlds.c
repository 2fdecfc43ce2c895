/* SPDX-License-Identifier: BSD-3-Clause */
/* worlds.c - see worlds.h. */
#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* docs/mpi-defects.md */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
#define MPICH_5 true
#else
#define MPICH_5 false
#endif
#if defined(PLAIN_MPI) /* which shows it */
#define LOSES_MESSAGES false
#else
#define LOSES_MESSAGES MPICH_5
#endif

enum { CHILDREN = 2, CHILD_ARGUMENTS = 64 };

static bool initialized;
static MPI_Comm across = MPI_COMM_NULL;

#if MPI_VERSION >= 4
static MPI_Session session = MPI_SESSION_NULL;

static MPI_Comm from_session(const char *set)
{
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    if (program.threads)
        MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, "chance", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    return comm;
}

static void end_session(void)
{
    if (session != MPI_SESSION_NULL)
        MPI_Session_finalize(&session);
}
#else
static void end_session(void)
{
}
#endif

static void init(int *argc, char ***argv)
{
    int provided = 0;
    if (program.threads)
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(argc, argv);
    program.threads = provided == MPI_THREAD_MULTIPLE;
    initialized = true;
    program.world = MPI_COMM_WORLD;
}

static int spawn(char **argv)
{
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        across = parent;
        MPI_Intercomm_merge(parent, 1, &program.world);
        return 0;
    }
    if (LOSES_MESSAGES) {
        printf("left out: MPICH 5 loses messages of spawned processes\n");
        MPI_Finalize();
        return WORLD_NONE;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int rc = PMPI_Comm_spawn(argv[0], argv + 1, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                                   &across, MPI_ERRCODES_IGNORE);
    if (rc != MPI_SUCCESS) {
        printf("left out: this MPI cannot spawn here\n");
        MPI_Finalize();
        return WORLD_NONE;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Intercomm_merge(across, 0, &program.world);
    return 0;
}

int world_begin(const char *name, int *argc, char ***argv)
{
    const bool sessions = strcmp(name, "session") == 0, both = strcmp(name, "both") == 0;
    program.sessions = sessions || both;
#if defined(I_MPI_VERSION)
    if (both) {
        printf("left out: Intel MPI refuses MPI_Init beside sessions\n");
        return WORLD_NONE;
    }
#endif
#if MPI_VERSION >= 4
    if (sessions) {
        program.world = from_session("mpi://WORLD");
        return 0;
    }
    if (both && (MPICH_5 || getpid() % 2 == 0)) { /* elsewhere some ranks only */
        MPI_Comm self = from_session("mpi://SELF");
        MPI_Barrier(self);
        MPI_Comm_free(&self);
    }
#else
    if (sessions || both) {
        printf("left out: this MPI has no sessions\n");
        return WORLD_NONE;
    }
#endif
    init(argc, argv);
    return strcmp(name, "spawn") == 0 ? spawn(*argv) : 0;
}

void world_end(void)
{
    if (program.world != MPI_COMM_WORLD)
        MPI_Comm_free(&program.world);
    if (across != MPI_COMM_NULL)
        MPI_Comm_disconnect(&across);
    if (initialized)
        MPI_Finalize();
    end_session();
}
