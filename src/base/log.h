/* SPDX-License-Identifier: BSD-3-Clause */
/* log.h - messages to the user: one line each on stderr, beginning with "crestacoll:". */
#ifndef CCO_LOG_H
#define CCO_LOG_H

typedef enum cco_log_level { CCO_LOG_OFF, CCO_LOG_WARN, CCO_LOG_INFO } cco_log_level;

/* Prints if CRESTA_LOG is at least `level`.  The caller sees to it that one rank speaks. */
__attribute__((format(printf, 2, 3))) void cco_log(cco_log_level level, const char *format, ...);

/* Prints whatever CRESTA_LOG is: for what stops the job. */
__attribute__((format(printf, 1, 2))) void cco_say(const char *format, ...);

/* cco_say, then MPI_Abort with exit code 2: the job stops. */
__attribute__((format(printf, 1, 2), noreturn)) void cco_fatal(const char *format, ...);

/* For "%d rank%s": 1 rank, 2 ranks. */
static inline const char *cco_plural(long long count)
{
    return count == 1 ? "" : "s";
}

#endif
