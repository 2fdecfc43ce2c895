/* SPDX-License-Identifier: BSD-3-Clause */
/* freed_attributes.c - delete functions of the program's attributes call collectives on the
 * communicator that is being freed.  The attribute is older than the library's state on some ranks,
 * and younger on others.  One of them frees another communicator, too.  What fails makes
 * MPI_Comm_free fail, as without the library.
 *
 *     freed_attributes IMPL,... */
#include "crestacoll.h"

#include <cresta_sp_coll.h>

#include "testing/testing.h"

enum { ROUNDS = 4 };

static int key = MPI_KEYVAL_INVALID, calls, rank, size;

static void add(MPI_Comm comm, const char *where)
{
    int one = rank + 1, sum = 0, root = rank == size - 1 ? 42 : -1;
    CRESTA_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size + 1) / 2, "%s: the sum is %d", where, sum);
    CRESTA_Bcast(&root, 1, MPI_INT, size - 1, comm);
    CHECK(root == 42, "%s: the root's value is %d", where, root);
    CRESTA_Barrier(comm);
}

static int delete_attribute(MPI_Comm comm, int k, void *other, void *extra)
{
    (void)k, (void)extra;
    calls++;
    add(comm, "in a delete function");
    if (other != NULL) {
        MPI_Comm_free(other);
        add(comm, "in a delete function that has freed another communicator");
    }
    return MPI_SUCCESS;
}

static void make_round(const char *impl, int round)
{
    MPI_Comm comm, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    const int older = round == 0 || (round > 1 && (rank + round) % 2);
    if (older)
        MPI_Comm_set_attr(comm, key, &other);
    CRESTA_Set_impl(comm, impl);
    CRESTA_Set_impl(other, impl);
    add(comm, "before");
    if (!older)
        MPI_Comm_set_attr(comm, key, &other);
    add(comm, "after");
    add(other, "on the other one");
    MPI_Comm_set_attr(other, key, NULL);
    if (round == ROUNDS - 1)
        MPI_Comm_disconnect(&comm);
    else
        MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL && other == MPI_COMM_NULL, "%s", "handles are left");
}

static int refuse_to_delete(MPI_Comm comm, int k, void *again, void *extra)
{
    (void)comm, (void)k, (void)extra;
    return (*(int *)again)++ == 0 ? MPI_ERR_ARG : MPI_SUCCESS;
}

/* The error of a delete function is returned, and the communicator is there as before. */
static void fail_to_free(const char *rules)
{
    int refuses = MPI_KEYVAL_INVALID, again = 0, twice = 0;
    MPI_Comm comm, copy;
    snprintf(testing_label, sizeof testing_label, "a delete function that fails");
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_to_delete, &refuses, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CRESTA_Set_impl(comm, rules);
    add(comm, "before");
    MPI_Comm_set_attr(comm, refuses, &again);
    CHECK(MPI_Comm_free(&comm) != MPI_SUCCESS && comm != MPI_COMM_NULL, "%s", "it is freed");
    add(comm, "after the error");
    MPI_Comm_dup(comm, &copy);
    add(copy, "on a duplicate made after the error");
    MPI_Comm_set_attr(copy, refuses, &twice);
    PMPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_free(&copy) != MPI_SUCCESS, "%s", "the duplicate is freed");
    CHECK(MPI_Comm_free(&copy) == MPI_SUCCESS, "%s", "the duplicate is not freed");
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL, "%s", "it is not freed");
    MPI_Comm_free_keyval(&refuses);
}

static void run(const char *impl)
{
    char rules[64];
    calls = 0;
    snprintf(rules, sizeof rules, "*=%s", impl);
    for (int round = 0; round < ROUNDS; round++) {
        snprintf(testing_label, sizeof testing_label, "round %d", round);
        make_round(rules, round);
    }
    CHECK(calls == 2 * ROUNDS, "%d delete functions were called", calls);
    fail_to_free(rules);
}

int main(int argc, char **argv)
{
    testing_watchdog(30);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    testing_each(argc > 1 ? argv[1] : "p2p", run);
    MPI_Comm_free_keyval(&key);
    snprintf(testing_label, sizeof testing_label, "MPI_Finalize");
    const int failed = testing_end("freed_attributes");
    MPI_Finalize();
    return failed;
}
