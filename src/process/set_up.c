/* SPDX-License-Identifier: BSD-3-Clause */
/* set_up.c - see set_up.h. */
#include "process/set_up.h"

#include <string.h>

#include "process/outputs.h"
#include "process/process.h"
#include "process/progress.h"
#include "config/config.h"
#include "comm/facts.h"
#include "comm/failure.h"
#include "call/reentry.h"
#include "base/log.h"
#include "mpi/service.h"
#include "config/settings.h"
#include "mpi/ulfm.h"
#include "observe/observe.h"
#include "progress/path.h"
#include "tune/agree.h"
#include "tune/choose.h"
#include "tune/nodes.h"
#include "tune/topology.h"

void cco_set_up_choices(cco_comm *state)
{
    if (!cco_choose_for(state))
        cco_fatal("no memory for the choices of communicator '%s'", state->name);
    cco_topology_find_mates(state);
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        for (int i = 0; i < state->chosen.of[coll].count; i++) {
            const cco_way *way = &state->chosen.of[coll].list[i].way;
            if (way->model->set_up != NULL)
                way->model->set_up(state, way);
        }
}

/* Ranks compare their settings and the communicator's name.  This is the first thing they do
 * together on it.  False if a process of it has failed. */
static bool set_up(cco_comm *state)
{
    enum { CONFIGURATION, NAME, NUMBER, FACTS, WORDS = FACTS + CCO_FACT_WORDS };
    _Static_assert((int)WORDS <= (int)CCO_AGREED, "cco_agree takes so many");
    uint64_t words[WORDS], least[WORDS], most[WORDS];
    cco_comm_read_name(state);
    words[CONFIGURATION] = cco_hash(cco_settings_hash(), cco_configured.error);
    words[NAME] = cco_hash(0, state->name);
    words[NUMBER] = cco_comm_propose_number(state);
    cco_facts_mine(&words[FACTS]);
    cco_service_watch(state->comm, cco_comm_watch(state));
    const int rc = cco_agree(state->comm, words, WORDS, least, most);
    if (cco_ulfm_class(rc) != MPI_SUCCESS || state->failure.error != MPI_SUCCESS)
        return false;
    if (rc != MPI_SUCCESS)
        cco_fatal("cannot set up communicator '%s': the MPI's allreduce failed", state->name);
    if (least[CONFIGURATION] != most[CONFIGURATION] || cco_configured.error[0])
        cco_agree_explain(state->comm);
    if (least[NAME] != most[NAME])
        memset(state->name, 0, sizeof state->name);
    cco_facts_agreed(&state->facts, &least[FACTS], &most[FACTS]);
    state->number = most[NUMBER];
    cco_service_name(state->comm, state->number);
    CCO_OBSERVE(comm_named, (state));
    cco_nodes_find(state, NULL);
    cco_topology_find(state);
    if (state->failure.error != MPI_SUCCESS)
        return false;
    cco_set_up_choices(state);
    state->ready = true;
    if (state->comm == MPI_COMM_WORLD)
        cco_outputs_met_late();
    CCO_OBSERVE(comm_ready, (state));
    cco_comm_update(state);
    if (state->facts.begins)
        cco_begins_prepare(state);
    return true;
}

/* The thread is started before its ranks agree on what it does: it may be refused on one of them.
 * The standard wants what has begun so far to be the same on all ranks.  Where it is not, what is
 * the MPI's on one rank would have to meet an operation of ours on another. */
static void agree_on_progress(cco_comm *state)
{
    enum { BEGINS = CCO_FACT_WORDS, WORDS };
    uint64_t words[WORDS], least[WORDS], most[WORDS];
    cco_progress_start();
    cco_facts_mine(words);
    words[BEGINS] = state->begins.count;
    const int rc = cco_agree(state->comm, words, WORDS, least, most);
    if (rc != MPI_SUCCESS && cco_comm_has_failed(state)) /* the call to come returns the error */
        return;
    if (rc != MPI_SUCCESS)
        cco_fatal("cannot set up communicator '%s': the MPI's allreduce failed", state->name);
    cco_facts_agreed(&state->facts, least, most);
    if (least[BEGINS] == most[BEGINS])
        return;
    state->facts.progress = CCO_PROGRESS_NONE;
    if (state->rank == 0)
        cco_log(CCO_LOG_WARN,
                "communicator '%s': its ranks have not begun equally many collectives: what begins"
                " there stays the MPI's",
                state->name);
}

void cco_begins_prepare(cco_comm *state)
{
    if (cco_paths_possible(state) || cco_observe_may_begin()) {
        if (!state->begins.ready) {
            agree_on_progress(state);
            state->begins.reported = 0; /* another runs from now on */
        }
        state->begins.ready = true;
        cco_paths_prepare(state);
        CCO_OBSERVE(begins_ready, (state));
    }
    state->begins.wanted = false;
    cco_comm_update(state);
}

void cco_begins_want(cco_comm *state)
{
    cco_fact_begins();
    if (state->begins.wanted || state->begins.ready || state->facts.progress == CCO_PROGRESS_NONE)
        return;
    state->begins.wanted = true;
    cco_comm_update(state);
}

void cco_set_up_job(void)
{
    cco_process_begin();
    cco_set_up_made(MPI_COMM_WORLD);
}

/* The name that rules may know it by comes later: the set-up waits for the first call. */
void cco_set_up_made(MPI_Comm comm)
{
    if (comm != MPI_COMM_NULL && !cco_is_reentered() && cco_process_met())
        CCO_OBSERVE(comm_made, (comm));
}

void cco_set_up_duplicates(MPI_Comm comm, MPI_Comm made)
{
    if (!cco_is_reentered() && cco_process_met())
        CCO_OBSERVE(comm_duplicates, (comm, made));
}

cco_comm *cco_prepare(MPI_Comm comm)
{
    cco_process_serve();
    cco_comm *state = cco_comm_find(comm);
    if (state == NULL)
        state = cco_comm_create(comm);
    if (state == NULL || state->inter)
        return NULL;
    if (!state->ready && !set_up(state))
        return NULL; /* the MPI's own call says so */
    return state;
}
