/* SPDX-License-Identifier: BSD-3-Clause */
/* trial.c - runs one problem in every mode and compares whole buffers, guards and gaps included. */
#include "trial.h"

#include "known.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

static void reset(const struct trial *t)
{
    if (t->send)
        buffer_reset(t->send);
    if (t->recv)
        buffer_reset(t->recv);
}

/* Some bytes as text, such as "2a 00 00 00". */
static void put_bytes(char *text, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        snprintf(text + 3 * i, 4, "%02x ", bytes[i]);
    text[3 * n - 1] = '\0';
}

/* Good if the buffer is what it must be, guards and gaps included. */
static void compare_buffer(const struct trial *t, const struct buffer *buffer, const char *where,
                           const char *mode)
{
    enum { BYTES_SHOWN = 8 };
    struct wrong wrong = {t->call.coll, mode, where, buffer_differs(buffer), "", ""};
    if (wrong.at < -GUARD) {
        report_good();
        return;
    }
    const size_t first = (size_t)(wrong.at + GUARD), left = buffer->size - first;
    const size_t n = left < BYTES_SHOWN ? left : BYTES_SHOWN;
    put_bytes(wrong.expected, buffer->after + first, n);
    put_bytes(wrong.found, buffer->now + first, n);
    report_wrong(&wrong);
}

static void compare(struct trial *t, const char *mode)
{
    if (t->forgive)
        t->forgive(t);
    if (t->recv)
        compare_buffer(t, t->recv, "receive buffer", mode);
    if (t->send)
        compare_buffer(t, t->send, "send buffer", mode);
}

static void run_reference(struct trial *t)
{
    reset(t);
    report_code(t->call.coll, reference_mode, call_reference(&t->call));
    compare(t, reference_mode);
}

bool trial_refused(int rc, const struct plan *plan)
{
    if (plan->tally == NULL)
        return false;
    plan->tally->tried++;
    plan->tally->refused += rc == MPI_ERR_UNSUPPORTED_OPERATION;
    return rc == MPI_ERR_UNSUPPORTED_OPERATION;
}

/* Whether the call protects its send buffer, and the caller writes there once it has begun. */
static bool overwrites(const struct trial *t, const struct plan *plan, enum mode mode)
{
    return plan->protected && mode_split(mode) && t->send;
}

static void run_once(struct trial *t, const struct plan *plan, enum mode mode)
{
    const struct wrong left = {t->call.coll, mode_names[mode],   "request",
                               NOWHERE,      "MPI_REQUEST_NULL", "another"};
    MPI_Request request;
    reset(t);
    const int rc = call_make(mode, &t->call, &request);
    if (trial_refused(rc, plan))
        return;
    report_code(t->call.coll, mode_names[mode], rc);
    if (overwrites(t, plan, mode))
        memset(t->send->now, 0x77, t->send->size);
    if (request != MPI_REQUEST_NULL)
        report_code(t->call.coll, mode_names[mode], call_end(mode, &request));
    if (overwrites(t, plan, mode))
        buffer_reset(t->send);
    if (request != MPI_REQUEST_NULL)
        report_wrong(&left);
    compare(t, mode_names[mode]);
}

static void run_persistent(struct trial *t, enum mode mode)
{
    MPI_Request request;
    const int rc = call_make(mode, &t->call, &request);
    report_code(t->call.coll, mode_names[mode], rc);
    for (int start = 0; rc == MPI_SUCCESS && start < 2; start++) {
        reset(t);
        report_code(t->call.coll, "MPI_Start", MPI_Start(&request));
        report_code(t->call.coll, mode_names[mode], wait_politely(&request));
        compare(t, mode_names[mode]);
    }
    if (rc == MPI_SUCCESS)
        report_code(t->call.coll, "MPI_Request_free", MPI_Request_free(&request));
}

/* Every n-th number, or half of these: by the digits of the quotient, so that neither half has all
 * the even ones, which may be those in place. */
static bool is_chosen(long number, const struct plan *plan)
{
    if (number % plan->every != 0)
        return false;
    int half = 1;
    for (long digits = number / plan->every; digits > 0; digits /= 2)
        half = digits % 2 ? 3 - half : half;
    return plan->half == 0 || plan->half == half;
}

/* The modes take turns: together they try every problem, if there are modes enough. */
static bool its_turn(long number, const struct plan *plan, int mode)
{
    return (plan->modes & 1U << mode) && mode_exists((enum mode)mode) &&
           is_chosen(number + 3L * mode, plan);
}

static bool references_turn(long number, const struct plan *plan)
{
    return plan->reference && is_chosen(number, plan);
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
    const char *why = plan->strict ? NULL : known_bug(&t->call, mode, t->in_place);
    if (why)
        known_report(why);
    return why != NULL;
}

void trial_run(struct trial *t, const struct plan *plan)
{
    const bool known = !coll_shapes[t->call.coll].ours;
    if (known && references_turn(t->number, plan) && !excused(t, plan, NONBLOCKING))
        run_reference(t);
    for (enum mode mode = 0; mode < MODES; mode++) {
        if (!its_turn(t->number, plan, mode) || !mode_has(mode, &t->call) || excused(t, plan, mode))
            continue;
        if (mode_persistent(mode))
            run_persistent(t, mode);
        else
            run_once(t, plan, mode);
    }
}
