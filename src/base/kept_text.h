/* SPDX-License-Identifier: BSD-3-Clause */
/* kept_text.h - texts of which many communicators have the same: each is kept once, until the
 * process ends. */
#ifndef CCO_KEPT_TEXT_H
#define CCO_KEPT_TEXT_H

/* Three texts in a row, up to 255 bytes; "" when memory runs out.  From any thread.  Not by printf:
 * making a communicator takes dozens of them. */
const char *cco_kept_text(const char *first, const char *second, const char *third);

#endif
