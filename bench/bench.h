/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h - what the files of crestacoll-bench share.
 *
 * One job measures every implementation: each has its own duplicate of MPI_COMM_WORLD, and the
 * samples of all of them are interleaved, so that whatever disturbs the machine disturbs all of
 * them alike. */
#ifndef BENCH_H
#define BENCH_H

#include <mpi.h>
#include <stddef.h>

#include "quantile.h"

enum bench_timing { BENCH_BACK_TO_BACK, BENCH_SYNCHRONISED };

/* The data of a call: the same in every call, other buffers in every call, or the same buffers, in
 * which each rank that gives data writes to every cache line before the call. */
enum bench_buffers { BENCH_HOT, BENCH_COLD, BENCH_WRITTEN, BENCH_BUFFERS };

enum { BENCH_RULES = 8 }; /* sets of rules that take part */

struct bench_options {
    char **collectives;
    int n_collectives;
    char **impls;
    int n_impls;
    const char *rules[BENCH_RULES]; /* NAME=SPEC: a set of rules that takes part as NAME */
    int n_rules;
    size_t *sizes;
    int n_sizes;
    enum bench_timing timing;
    int samples;                /* wanted for each implementation */
    double budget;              /* seconds for everything */
    double end;                 /* when they are over */
    double skew_us;             /* synchronised: ranks start up to so much later, at random */
    double batch_us;            /* a back-to-back sample lasts at least this long */
    int rotate;                 /* the root of rooted calls goes round */
    enum bench_buffers buffers; /* now, */
    enum bench_buffers each_buffers[BENCH_BUFFERS]; /* and those that are measured in turn */
    int n_buffers;
    int begun;            /* crestacoll-bench: begins that end at once in place of blocking calls */
    int rounds;           /* crestacoll-bench: print each sample, too */
    double work;          /* crestacoll-overlap: computation, in times of the communication */
    const char *async;    /* crestacoll-overlap: CRESTA_ASYNC */
    const char *procs;    /* crestacoll-harness: ROWSxCOLUMNS, NULL for its own choice */
    const char *topology; /* crestacoll-bench: of the communicators (topology.c), or NULL */
    const char *label;    /* what the records call this MPI */
};

/* Where the ranks are and how they wait for each other. */
struct bench_world {
    int rank, size, hosts;
    int cores;                       /* fewest allowed cores of a host */
    int cores_each;                  /* most cores that one rank may use */
    int oversubscribed;              /* some host has more ranks than cores */
    MPI_Comm control;                /* the benchmark's own messages */
    MPI_Comm near;                   /* with the topology, if there is one: what is right there */
    int in, out, degree;             /* neighbours there; the most that a rank has */
    double offset;                   /* this rank's clock minus rank 0's, seconds */
    double lead;                     /* rank 0: how far ahead the next agreed start lies */
    struct bench_exchange *exchange; /* exchange.c; NULL: the ranks share no memory, or one core */
};

/* The same calls from several sources: the MPI itself, crestacoll, and its begins. */
struct bench_calls {
#define BENCH_COLLECTIVE(name, Name, send, recv, where, rooted, reduces, parameters, ...)          \
    int(*name) parameters;
#include "bench/collectives.inc"
#undef BENCH_COLLECTIVE
};
extern const struct bench_calls bench_plain, bench_cresta;

/* Begins; begin.c keeps the one request, which bench_end completes, or the begin itself if it is to
 * end at once. */
extern const struct bench_calls bench_begins;
void bench_begin_ends_at_once(int yes);
int bench_end(void);

/* How much of a buffer one rank uses. */
enum bench_part {
    BENCH_NOTHING,
    BENCH_BLOCK,     /* b bytes */
    BENCH_BLOCKS,    /* p b bytes */
    BENCH_MINE,      /* uneven: this rank's block */
    BENCH_EVERYONES, /* uneven: all of them */
    BENCH_SHARE,     /* this rank's share of a vector of b bytes */
    BENCH_NEIGHBORS  /* b bytes for each neighbour, or from each */
};
/* Which ranks have a result. */
enum bench_where { BENCH_ALL, BENCH_AT_ROOT, BENCH_NOT_FIRST };

struct bench_problem;
struct bench_coll {
    const char *name;
    enum bench_part send, recv;
    enum bench_where result;
    int rooted, reduction;
    int (*call)(const struct bench_calls *, const struct bench_problem *, MPI_Comm, int root,
                int slot);
};
const struct bench_coll *bench_coll_named(const char *name);
int bench_is_near(const struct bench_coll *coll); /* blocks are those of neighbours */
int bench_call(const struct bench_calls *f, const struct bench_problem *q, MPI_Comm comm, int root,
               int slot);

/* One collective at one size on this rank: counts and buffers. */
struct bench_problem {
    const struct bench_coll *coll;
    int rank, size;
    size_t bytes;
    MPI_Datatype type;
    int count, width;     /* elements of `type` in b bytes; bytes in one element */
    int *counts, *displs; /* uneven calls: one block for each rank */
    MPI_Aint *places;     /* displs in bytes */
    int *totals;          /* reduce_scatter: share of each rank */
    MPI_Datatype *types;
    unsigned char *send, *recv, *expected;
    size_t send_len, recv_len;
    int slots;
};
const char *bench_problem_open(struct bench_problem *q, const struct bench_coll *coll, size_t bytes,
                               const struct bench_world *w, enum bench_buffers buffers);
void bench_problem_close(struct bench_problem *q);
/* Writes to every cache line of what this rank gives in a call; the data stay the same. */
void bench_problem_write(const struct bench_problem *q, int root, int slot);
/* How many roots are worth a check: one that is timed, four when they go round. */
int bench_problem_roots(const struct bench_problem *q, int rotate);
/* The MPI's own result for the `i`th of so many roots. */
void bench_problem_expect(struct bench_problem *q, const struct bench_world *w, int i, int roots);
/* Does this rank get the same? Refused: another implementation would have to run. */
enum bench_verdict { BENCH_RIGHT, BENCH_WRONG, BENCH_REFUSED };
enum bench_verdict bench_problem_check(struct bench_problem *q, const struct bench_calls *f,
                                       MPI_Comm comm, int i, int roots);
void *bench_send(const struct bench_problem *q, int slot);
void *bench_recv(const struct bench_problem *q, int slot);

/* One implementation and its samples of the problem at hand. */
struct bench_series {
    const char *impl;
    char *name; /* what it is called, if that is not a word of the command line */
    const struct bench_coll *only;  /* the one collective that it is for; NULL: all */
    const struct bench_coll *never; /* one that it cannot do here, or NULL */
    struct bench_series *origin;    /* of a copy */
    MPI_Comm comm;
    int batch, next; /* calls in a sample; calls so far (root and buffers follow it) */
    int verified;
    double *us; /* one for each sample: this rank's time, after bench_measure the slowest rank's */
};

struct bench_result {
    int taken; /* samples taken */
    int kept;  /* of these usable (synchronised: all ranks started in time) */
};
struct bench_result bench_measure(const struct bench_problem *q, struct bench_series *series, int n,
                                  struct bench_world *w, const struct bench_options *o,
                                  double deadline);

/* A communicator of all ranks, with a topology: "torus:D" of D dimensions, "stencil:D", the same
 * with all ranks around each, or "random:K", in which each rank sends to K others, the same in
 * every job; NULL: none.  MPI_COMM_NULL: the text says something else. */
MPI_Comm bench_topology_make(const char *topology);

/* Prepares the world for neighbourhood collectives on such communicators.  NULL, or what is wrong.
 */
const char *bench_topology_open(struct bench_world *w, const char *topology);
void bench_topology_close(struct bench_world *w);

/* Makes shared memory for what follows, and frees it; collective. */
void bench_exchange_open(struct bench_world *w);
void bench_exchange_close(struct bench_world *w);
/* What an exchange of a cache line takes now between the cores of two ranks, in us, on rank 0; 0 if
 * that is not known.  Collective. */
double bench_exchange_us(struct bench_world *w);

double bench_now(void);
void bench_world_open(struct bench_world *w);
void bench_world_close(struct bench_world *w);
void bench_finish(const struct bench_world *w, MPI_Request *request);
void bench_barrier(const struct bench_world *w);
void bench_max(const struct bench_world *w, void *values, int n, MPI_Datatype type);
void bench_sync_clocks(struct bench_world *w);
double bench_agree_start(const struct bench_world *w);
int bench_wait_until(const struct bench_world *w, double start); /* 1: it was already too late */

const char *bench_buffers_name(enum bench_buffers buffers);
const char *bench_options_read(struct bench_options *o, int argc, char **argv);
void bench_options_free(struct bench_options *o);

/* JSON lines: the one with which rank 0 begins, `more` being further fields with a comma in front,
 * and what is to be known beside records, which other ranks leave to it. */
void bench_print_header(const struct bench_options *o, const struct bench_world *w,
                        const char *more);
void bench_print_note(const struct bench_world *w, const char *about, const char *text);

#endif
