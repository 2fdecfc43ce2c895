/* SPDX-License-Identifier: BSD-3-Clause */
/* control.c - CRESTA_Set_impl, CRESTA_Comm_prepare. */
#include <stdlib.h>

#include "process/set_up.h"
#include "api/dispatch.h"
#include "config/config.h"
#include "base/log.h"
#include "mpi/mpi_check.h"
#include "call/raise.h"
#include "observe/observe.h"
#include "tune/agree.h"
#include "tune/choose.h"
#include "tune/nodes.h"
#include "tune/topology.h"

int CRESTA_Comm_prepare(MPI_Comm comm)
{
    cco_process_enter();
    if (comm == MPI_COMM_NULL)
        return cco_refuse(MPI_COMM_WORLD, MPI_ERR_COMM);
    if (!cco_is_intra(comm) || cco_process_ignores(comm, cco_topology_kind(comm) != MPI_UNDEFINED))
        return MPI_SUCCESS;
    cco_comm *state = cco_prepare(comm);
    if (state == NULL)
        return cco_refuse(comm, MPI_ERR_INTERN);
    cco_begins_prepare(state);
    return MPI_SUCCESS;
}

/* Which rank says that a spec is wrong: the first where it is, for it may be right elsewhere. */
static int check_everywhere(const cco_comm *state, const char *spec, const char *error)
{
    const uint64_t words[] = {cco_hash(0, spec), error[0] != '\0'};
    uint64_t least[2], most[2];
    if (cco_agree(state->comm, words, 2, least, most) != MPI_SUCCESS)
        return MPI_ERR_INTERN;
    const bool equal = least[0] == most[0];
    if (!equal && state->rank == 0)
        cco_say("CRESTA_Set_impl on communicator '%s': the ranks gave different rules; rank 0 gave "
                "\"%s\"",
                state->name, spec);
    else if (equal && error[0] && state->rank == 0)
        cco_say("%s", error);
    return equal && !most[1] ? MPI_SUCCESS : MPI_ERR_ARG;
}

int CRESTA_Set_impl(MPI_Comm comm, const char *spec)
{
    char error[1024] = "";
    cco_process_enter();
    if (!cco_is_intra(comm))
        return cco_refuse(comm, MPI_ERR_COMM);
    if (cco_configured.off)
        return MPI_SUCCESS;
    cco_comm *state = cco_prepare(comm);
    if (state == NULL)
        return cco_refuse(comm, MPI_ERR_INTERN);
    cco_rules *rules = cco_rules_parse(spec, "CRESTA_Set_impl", error, sizeof error);
    if (check_everywhere(state, spec, error) != MPI_SUCCESS) {
        free(rules);
        return cco_refuse(comm, cco_comm_refuse(state, MPI_ERR_ARG));
    }
    free(state->chosen.program_rules);
    state->chosen.program_rules = rules;
    state->begins.wanted = false;
    cco_nodes_find(state, rules);
    cco_set_up_choices(state);
    CCO_OBSERVE(comm_chosen, (state));
    cco_begins_prepare(state); /* the program may have no other call of ours that could do it */
    cco_process_wake();
    return MPI_SUCCESS;
}
