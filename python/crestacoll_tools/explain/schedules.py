# SPDX-License-Identifier: BSD-3-Clause
"""How `crestacoll explain` shows what crestacoll-explain counted: one schedule, or many beside each
other.
"""

from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import out, show, table

MODEL = "p2p"  # the model whose algorithms are schedules, and
NODE_MODEL = "hier"  # where nodes are said


def print_found(data, one):
    root = "" if data["root"] is None else f", root {data['root']}"
    nodes = data.get("nodes")
    model = NODE_MODEL if nodes else MODEL
    on = f" on nodes {nodes}" if nodes else ""
    on += f", {data['topology']}" if data.get("topology") else ""
    size = f" of {format_size(data['bytes'])} bytes" if data["bytes"] else ""
    if data["element"] > 1:
        size += f" in elements of {data['element']} bytes"
        if data["bytes"] != data["bytes_asked"]:
            size += f" (rounded up from {data['bytes_asked']})"
    ranks = counted(data["processes"], "rank")
    out.print(f"{data['collective']}{size}, {ranks}{on}{root}", style="bold")
    if one:
        print_one(data["algorithms"][0], model)
    else:
        print_comparison(data["algorithms"], model)
    if data.get("node"):
        print_node(data["node"])


def print_node(node):
    """What a small allreduce moves through shared memory, which is no schedule of messages."""
    shm, flat = node["shm"], node["without_groups"]
    groups = f", in {node['groups']} groups of ranks" if node["groups"] > 1 else ""
    told = (
        f"shm, for small data on {node['shape']}: {shm['lines']} cache lines{groups},"
        f" {shm['to_another_cache']} to another cache, of these {shm['to_another_memory']} to"
        " another memory"
    )
    if node["groups"] > 1:
        several = [str(flat[k]) for k in ("lines", "to_another_cache", "to_another_memory")]
        told += f"; without groups {', '.join(several)}"
    out.print(told, soft_wrap=True)


def full_name(algorithm, model):
    params = "&".join(f"{p['name']}={p['value']}" for p in algorithm["params"])
    return f"{model}:{algorithm['name']}" + (f"?{params}" if params else "")


def print_comparison(algorithms, model=MODEL):
    far = [k for k in FAR if any(k in a for a in algorithms)]
    made = table(
        "implementation",
        ">rounds",
        ">chain",
        ">busiest: messages",
        ">busiest: bytes",
        ">all: messages",
        ">all: bytes",
        *(HEADERS[k] for k in far),
        ">scratch",
        "what it is",
    )
    for a in algorithms:
        if not has_figures(a):
            none = "-" * (7 + len(far))
            made.add_row(full_name(a, model), *none, refusal(a), style="yellow")
            continue
        made.add_row(
            full_name(a, model),
            str(a["rounds"]),
            str(a["chain"]),
            str(a["busiest"]["messages"]),
            format_size(a["busiest"]["bytes_sent"]),
            str(a["messages"]),
            format_size(a["bytes"]),
            *(amount(k, a[k]) for k in far),
            format_size(a["scratch"]),
            a["doc"],
        )
    show(made)


def has_figures(algorithm):
    return algorithm["usable"] and not algorithm["error"]


def refusal(algorithm):
    return algorithm["error"] or algorithm["reason"]


def amount(key, value):
    return format_size(value) if key.startswith("bytes") else str(value)


def print_one(algorithm, model=MODEL):
    out.print(f"{full_name(algorithm, model)}: {algorithm['doc']}\n", soft_wrap=True)
    if not algorithm["usable"]:
        out.print(f"{algorithm['name']} {refusal(algorithm)}", style="yellow")
    if not has_figures(algorithm):
        return
    rank = algorithm.get("rank")
    if rank:
        print_steps(rank)
    print_summary(algorithm, rank)


FAR = {
    "to_another_cache": "messages to another cache",
    "to_another_memory": "messages to another memory",
    "messages_between_nodes": "messages between nodes",
    "bytes_between_nodes": "bytes between nodes",
}
HEADERS = {
    "to_another_cache": ">all: to another cache",
    "to_another_memory": ">all: to another memory",
    "messages_between_nodes": ">between nodes: messages",
    "bytes_between_nodes": ">between nodes: bytes",
}
LABELS = {
    "rounds": "rounds with messages",
    "messages_sent": "messages sent",
    "messages_received": "messages received",
    "bytes_sent": "bytes sent",
    "bytes_received": "bytes received",
    "bytes_copied": "bytes copied",
    "bytes_reduced": "bytes reduced",
    "scratch": "scratch",
}


def print_summary(algorithm, rank):
    """Each figure of the rank that was asked for, of a rank at least and at most, and of all."""
    made = table("", *([f">rank {rank['rank']}"] if rank else []), ">each rank", ">all ranks")
    whole = {
        "rounds": str(algorithm["rounds"]),
        "messages_sent": str(algorithm["messages"]),
        "bytes_sent": format_size(algorithm["bytes"]),
    }
    for key, label in LABELS.items():
        write = format_size if "bytes" in key or key == "scratch" else str
        low, high = (write(algorithm["ranks"][key][end]) for end in ("min", "max"))
        mine = [write(rank[key])] if rank else []
        made.add_row(label, *mine, low if low == high else f"{low}..{high}", whole.get(key, ""))
    for key, label in FAR.items():
        if key in algorithm:
            made.add_row(label, *([""] if rank else []), "", amount(key, algorithm[key]))
    made.add_row("longest chain of messages", *([""] if rank else []), "", str(algorithm["chain"]))
    show(made)


def print_steps(rank):
    made = table(">round", "step", "what", ">bytes", title=f"schedule of rank {rank['rank']}")
    for s in rank["steps"]:
        made.add_row(str(s["round"]), s["kind"], what(s), str(s["bytes"]))
    show(made)
    out.print()


def what(step):
    """As simulator/print.c shows it; places are bytes from the begin of a buffer."""
    source, target = (place(step[end]) if end in step else "" for end in ("from", "to"))
    return {
        "send": f"{source} -> {step.get('peer')}",
        "recv": f"{target} <- {step.get('peer')}",
        "copy": f"{source} to {target}",
        "reduce": f"{source} into {target}",
        "expose": f"{source} as slot {step.get('slot')}",
        "put": f"{source} -> {step.get('peer')} slot {step.get('slot')} at {step.get('at')}",
        "get": f"{target} <- {step.get('peer')} slot {step.get('slot')} at {step.get('at')}",
        "notify": f"-> {step.get('peer')}",
        "await": f"<- {step.get('peer')}",
    }[step["kind"]]


def place(span):
    return f"{span['base']}[{span['begin']}..{span['end']}]"
