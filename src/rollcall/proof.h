/* SPDX-License-Identifier: BSD-3-Clause */
/* proof.h - how the two ends of a TCP connection show that they know the job's token without
 * sending it.
 *
 *     crestacoll run:  challenge NONCE
 *     rank:            proof proof=HEX nonce=NONCE
 *     crestacoll run:  proof HEX
 *
 * with tabs between the words.  A nonce is 32 hexadecimal digits, drawn anew for each connection. A
 * proof is 16: SipHash-2-4 of "SIDE CHALLENGE NONCE" under the token, where SIDE is rank or run. So
 * what was overheard proves nothing on another connection, nor for the other side.
 * python/crestacoll_tools/rollcall/proof.py is the other end. */
#ifndef CCO_PROOF_H
#define CCO_PROOF_H

#include <stdbool.h>

enum { CCO_NONCE = 33, CCO_PROOF = 17 };

/* False: the kernel has no random numbers yet. */
bool cco_proof_nonce(char nonce[CCO_NONCE]);

/* False: the token is not one. */
bool cco_proof_make(const char *token, const char *side, const char *challenge, const char *nonce,
                    char proof[CCO_PROOF]);

#endif
