/* SPDX-License-Identifier: BSD-3-Clause */
/* arguments.h - the arguments of each collective as the call `q` has them. */
#ifndef CHECK_ARGUMENTS_H
#define CHECK_ARGUMENTS_H

#define SEND q->sendbuf, q->sendcount, q->sendtype
#define SENDV q->sendbuf, q->sendcounts, q->senddispls, q->sendtype
#define SENDW q->sendbuf, q->sendcounts, q->senddispls, q->sendtypes
#define RECV q->recvbuf, q->recvcount, q->recvtype
#define RECVV q->recvbuf, q->recvcounts, q->recvdispls, q->recvtype
#define RECVW q->recvbuf, q->recvcounts, q->recvdispls, q->recvtypes
#define REDUCE q->sendbuf, RECV, q->op

#define ARGS_Barrier q->comm
#define ARGS_Bcast RECV, q->root, q->comm
#define ARGS_Gather SEND, RECV, q->root, q->comm
#define ARGS_Gatherv SEND, RECVV, q->root, q->comm
#define ARGS_Scatter SEND, RECV, q->root, q->comm
#define ARGS_Scatterv SENDV, RECV, q->root, q->comm
#define ARGS_Allgather SEND, RECV, q->comm
#define ARGS_Allgatherv SEND, RECVV, q->comm
#define ARGS_Alltoall SEND, RECV, q->comm
#define ARGS_Alltoallv SENDV, RECVV, q->comm
#define ARGS_Alltoallw SENDW, RECVW, q->comm
#define ARGS_Reduce REDUCE, q->root, q->comm
#define ARGS_Allreduce REDUCE, q->comm
#define ARGS_Reduce_scatter q->sendbuf, q->recvbuf, q->recvcounts, q->recvtype, q->op, q->comm
#define ARGS_Reduce_scatter_block REDUCE, q->comm
#define ARGS_Scan REDUCE, q->comm
#define ARGS_Exscan REDUCE, q->comm

#endif
