/* SPDX-License-Identifier: BSD-3-Clause */
/* kept_text.h - texts of which many communicators have the same: each is kept once, until the
 * process ends. */
#ifndef CCO_KEPT_TEXT_H
#define CCO_KEPT_TEXT_H

/* As by printf, up to 255 bytes; "" when memory runs out.  From any thread. */
const char *cco_kept_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
