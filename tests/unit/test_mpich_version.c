/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mpich_version.c - which MPICH an MPI descends from, by what it says of itself. */
#include "mpi/quirks.h"

#include <limits.h>

#include "testing/testing.h"

int main(void)
{
    static const struct {
        const char *text;
        cco_mpich_version is;
    } known[] = {
        {"MPICH Version:      4.0.2\nMPICH Release date: x", {CCO_MPICH, 400, false}},
        {"MPICH Version:\t5.0.0rc1", {CCO_MPICH, 500, false}},
        {"MPICH Version:      4.0.2\nMPICH Device: ch4:ucx", {CCO_MPICH, 400, true}},
        {"Intel(R) MPI Library 2021.11 for Linux* OS", {CCO_MPICH_OF_INTEL, 400, false}},
        {"MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date: x",
         {CCO_MPICH_OF_OSU, 400, false}},
        {"MVAPICH Version      :\t3.0", {CCO_MPICH_OF_OSU, 400, false}},
        {"MPI VERSION    : CRAY MPICH version 8.1.28.15 (ANL base 3.4a2)",
         {CCO_MPICH_OF_CRAY, 304, false}},
        {"MPI VERSION    : CRAY MPICH version 9.9.1.2 (ANL base 5.1)",
         {CCO_MPICH_OF_CRAY, 501, false}},
        {"MPI VERSION    : CRAY MPICH version 8", {CCO_MPICH_OF_CRAY, 400, false}},
        {"Open MPI v4.1.4, package: Debian OpenMPI", {CCO_MPICH, INT_MAX, false}},
        {"", {CCO_MPICH, INT_MAX, false}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const cco_mpich_version got = cco_mpich_version_of(known[i].text);
        CHECK(got.kind == known[i].is.kind && got.number == known[i].is.number &&
                  got.ch4 == known[i].is.ch4,
              "%s: %d, %d, %d", known[i].text, (int)got.kind, got.number, got.ch4);
    }
    return testing_end("mpich_version");
}
