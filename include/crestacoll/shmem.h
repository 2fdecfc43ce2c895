/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem.h - for programs that include <shmem.h>: -I<prefix>/include/crestacoll. */
#include "../crestacoll_shmem.h"
