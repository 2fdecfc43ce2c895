/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - the part of report.h that is the same for all. */
#include "report.h"

#include <stdio.h>

const char reference_mode[] = "by the MPI itself";

void report_code(enum coll coll, const char *mode, int rc)
{
    struct wrong wrong = {coll, mode, "return code", NOWHERE, "MPI_SUCCESS", ""};
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (rc == MPI_SUCCESS) {
        report_good();
        return;
    }
    PMPI_Error_string(rc, text, &length);
    snprintf(wrong.found, sizeof wrong.found, "%d, %.50s", rc, text);
    report_wrong(&wrong);
}
