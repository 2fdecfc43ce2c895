/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin.h - libcrestacoll-caf.so: coarrays in Fortran, and OpenCoarrays to which it is linked.
 *
 * Loaded when a program first wants coarrays, so that all others need neither. */
#ifndef CCO_PLUGIN_H
#define CCO_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is done with a coarray; `image` counts from 1, `at` is a place in bytes.  Over when they
 * return; OpenCoarrays stops the job on errors. */
typedef struct cco_coarray {
    void (*put)(int image, size_t at, const void *from, size_t n);
    void (*get)(int image, size_t at, void *to, size_t n);
    void (*tell)(int image, size_t at, uint32_t word); /* a word, in one piece */
} cco_coarray;

typedef struct cco_plugin {
    /* The coarray for the whole run and the one for a call; all images make them together.  Where
     * this image's is, aligned to 8 bytes or more; NULL if there is no memory. */
    void *(*keep)(size_t bytes);
    void *(*pass)(size_t bytes);
    void (*drop)(void); /* ends `pass` */
    cco_coarray kept, passing;
    /* Functions of OpenCoarrays, which adopts an MPI that runs; image 0 before `init`. */
    void (*init)(int *argc, char ***argv);
    void (*finalize)(void);
    int (*this_image)(int distance);
    int (*communicator)(void *team); /* its own one of all images, as Fortran's handle */
} cco_plugin;

/* Whether the program has coarrays of its own: then it is OpenCoarrays that calls MPI_Init. */
bool cco_plugin_program_has_coarrays(void);

/* Loads the plug-in in the first call.  NULL if it is not there or will not do, and `*why` says
 * why, until the process ends; local. */
const cco_plugin *cco_plugin_load(const char **why);

#endif
