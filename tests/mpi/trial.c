/* SPDX-License-Identifier: BSD-3-Clause */
/* trial.c - runs one problem in every mode and compares whole buffers, guards and gaps included. */
#include "trial.h"

#include "known.h"
#include "testing/testing.h"

static void check_rc(int rc, const char *mode)
{
    if (rc == MPI_SUCCESS)
        testing_checks++;
    else
        CHECK(rc == MPI_SUCCESS, "%s returned %d", mode, rc);
}

static void reset(const struct trial *t)
{
    if (t->send)
        buffer_reset(t->send);
    if (t->recv)
        buffer_reset(t->recv);
}

static void compare(struct trial *t, const char *mode)
{
    ptrdiff_t at;
    if (t->forgive)
        t->forgive(t);
    if (t->recv && (at = buffer_differs(t->recv)) >= -GUARD)
        CHECK(!"receive buffer",
              "%s: receive buffer (%zu bytes and guards) wrong at byte %td: %02x, not %02x", mode,
              t->recv->size - 2 * GUARD, at, t->recv->now[at + GUARD], t->recv->after[at + GUARD]);
    if (t->send && (at = buffer_differs(t->send)) >= -GUARD)
        CHECK(!"send buffer", "%s: send buffer changed at byte %td", mode, at);
    testing_checks++;
}

static void run_reference(struct trial *t)
{
    reset(t);
    check_rc(call_reference(&t->call), "the MPI itself");
    compare(t, "the MPI itself");
}

/* All ranks know that a call is refused, so that nobody waits for it. */
static bool was_refused(int rc, const struct plan *plan)
{
    if (plan->tally == NULL)
        return false;
    plan->tally->tried++;
    plan->tally->refused += rc == MPI_ERR_UNSUPPORTED_OPERATION;
    return rc == MPI_ERR_UNSUPPORTED_OPERATION;
}

static void run_once(struct trial *t, const struct plan *plan, enum mode mode)
{
    MPI_Request request;
    reset(t);
    const int rc = call_make(mode, &t->call, &request);
    if (was_refused(rc, plan))
        return;
    check_rc(rc, mode_names[mode]);
    if (mode_split(mode) && plan->protected && t->send)
        memset(t->send->now, 0x77, t->send->size);
    if (request != MPI_REQUEST_NULL)
        check_rc(call_end(mode, &request), mode_names[mode]);
    if (mode_split(mode) && plan->protected && t->send)
        buffer_reset(t->send);
    CHECK(request == MPI_REQUEST_NULL, "%s: request left", mode_names[mode]);
    compare(t, mode_names[mode]);
}

static void run_persistent(struct trial *t, enum mode mode)
{
    MPI_Request request;
    const int rc = call_make(mode, &t->call, &request);
    check_rc(rc, mode_names[mode]);
    for (int start = 0; rc == MPI_SUCCESS && start < 2; start++) {
        reset(t);
        check_rc(MPI_Start(&request), "MPI_Start");
        check_rc(wait_politely(&request), mode_names[mode]);
        compare(t, mode_names[mode]);
    }
    if (rc == MPI_SUCCESS)
        check_rc(MPI_Request_free(&request), "MPI_Request_free");
}

/* The modes take turns: together they try every problem, if there are modes enough. */
static bool its_turn(long number, const struct plan *plan, int mode)
{
    return (plan->modes & 1U << mode) && mode_exists((enum mode)mode) &&
           (number + 3 * mode) % plan->every == 0;
}

static bool references_turn(long number, const struct plan *plan)
{
    return plan->reference && number % plan->every == 0;
}

bool trial_due(long number, const struct plan *plan)
{
    bool due = references_turn(number, plan);
    for (int mode = 0; mode < MODES; mode++)
        due = due || its_turn(number, plan, mode);
    return due;
}

/* True if the MPI itself fails here. */
static bool excused(const struct trial *t, const struct plan *plan, enum mode mode)
{
    const char *why = plan->tally ? NULL : known_bug(&t->call, mode, t->in_place);
    if (why)
        known_report(why);
    return why != NULL;
}

void trial_run(struct trial *t, const struct plan *plan)
{
    if (references_turn(t->number, plan) && !excused(t, plan, NONBLOCKING))
        run_reference(t);
    for (enum mode mode = 0; mode < MODES; mode++) {
        if (!its_turn(t->number, plan, mode) || excused(t, plan, mode))
            continue;
        if (mode_persistent(mode))
            run_persistent(t, mode);
        else
            run_once(t, plan, mode);
    }
}
