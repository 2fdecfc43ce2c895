/* SPDX-License-Identifier: BSD-3-Clause */
/* output.h - what a race tells: a line of JSON for each event, appended by one rank.
 * docs/methods.md, "Race". */
#ifndef CCO_RACE_OUTPUT_H
#define CCO_RACE_OUTPUT_H

#include "comm/comm.h"
#include "race/judge.h"
#include "race/turn.h"

/* Calls of one collective and size class on a communicator, which has the number `number` among
 * those of which `lead` is the first rank in the world. */
typedef struct cco_race_point {
    uint64_t number, lead;
    cco_coll coll;
    int size_class, processes;
} cco_race_point;

/* Times count from here. */
void cco_race_output_begin(void);

/* Opens the file unless it is open; without a name, or if that fails, nothing is written. */
void cco_race_output_open(const char *path);
void cco_race_output_close(void);

/* Opens the file of a rank that writes its own times: FILE on rank 0, FILE.RANK on others.  What
 * follows may come from several threads. */
void cco_race_output_open_own(const char *path, int rank);

/* Arms take turns by calls (race/turns.h). */
void cco_race_tell_turns(const cco_race_settings *settings, int ranks);

/* An arm runs such calls for the first time on this rank. */
void cco_race_tell_first_at(const cco_race_point *point, int arm);

/* A round: seconds of all calls that count, of each block. */
void cco_race_tell_turn(const cco_race_point *point, const cco_turn *turn, const double *seconds);

/* The first calls of a communicator, all under one arm, and their seconds. */
void cco_race_note_first_calls(const cco_race_point *point, int arm, int calls, double seconds);

/* The program repeats `period` calls on a communicator, of which this is one. */
void cco_race_tell_start(const cco_race_settings *settings, const cco_comm *anchor, cco_coll coll,
                         MPI_Count bytes, int period);
void cco_race_tell_none(const char *why, bool repeats);

/* An arm runs for the first time: if nothing follows, it broke the program. */
void cco_race_tell_first(int arm);

/* The first step of an arm, in seconds: with what it sets up. */
void cco_race_tell_warm(int arm, double first_s);

/* A round: seconds of a step in each block. */
void cco_race_tell_round(const cco_race_next *next, int blocks, const int8_t *order,
                         const double *step_s);

/* Arms that have been made since, from number `first` on. */
void cco_race_tell_arms(const cco_race_settings *settings, int first);

/* What CRESTA_ONLINE has come to: an arm, its rules, or those of the best so far if it is not
 * certain; logarithms of the ratio of steps; seconds. */
void cco_race_tell_online(int arm, const char *rules, bool certain, const cco_interval *gained,
                          double regret_s, double spent_s);

/* What the judge made of it. */
void cco_race_tell_next(const cco_judge *judge, const cco_race_next *before);
void cco_race_tell_end(const char *why);

#endif
