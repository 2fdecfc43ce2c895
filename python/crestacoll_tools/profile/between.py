# SPDX-License-Identifier: BSD-3-Clause
"""What a profile says of nodes: on how many its communicators are, and what goes between them."""

from crestacoll_tools.base.sizes import format_amount
from crestacoll_tools.base.text import counted, word

MOST = 6  # communicators named
LEGEND = (
    "between nodes: messages and bytes in one call, of all ranks together;"
    " ?: the MPI's own call, which does not say"
)


def spans_nodes(data):
    """Whether some calls of a profile were on communicators of several nodes."""
    return any((r["nodes"] or 0) > 1 for r in data["records"])


def each_call(record):
    """(messages, bytes) between nodes in a call, of all ranks; None if that is not known."""
    sent = record["between_nodes"]
    if sent is None:
        return None
    calls = sent["calls"] / record["processes"]
    return sent["messages"] / calls, sent["bytes"] / calls


def cells(record):
    """What each_call returns, as two texts."""
    sent = each_call(record)
    if sent is None:
        return "?", "?"
    return f"{sent[0]:.3g}", format_amount(sent[1])


def added(one, other):
    """Two sums of what was sent; None stands for nothing known."""
    if one is None or other is None:
        return one or other
    return {name: one[name] + other[name] for name in one}


def where(communicator):
    """'row (4) on 2 nodes with 2 ranks each'."""
    nodes = communicator["nodes"]
    least, most = nodes["ranks_min"], nodes["ranks_max"]
    each = str(least) if least == most else f"{least} to {most}"
    name = f"{word(communicator['communicator']) or '-'} ({communicator['processes']})"
    return f"{name} on {counted(nodes['count'], 'node')} with {counted(each, 'rank')} each"


def sentence(data):
    """Which communicators are on several nodes; empty if none is known to be."""
    several = [c for c in data["communicators"] or [] if c["nodes"] and c["nodes"]["count"] > 1]
    told = list(dict.fromkeys(map(where, several)))
    more = f" and {len(told) - MOST} more kinds" if len(told) > MOST else ""
    return "; ".join(told[:MOST]) + more
