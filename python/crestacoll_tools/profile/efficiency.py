# SPDX-License-Identifier: BSD-3-Clause
"""How well the ranks of a run share their work, by the member `calls` of a profile: the standard
metrics of POP (https://co-design.pop-coe.eu/metrics). The useful time of a rank is what its main
thread spends outside the MPI.

    parallel efficiency       mean useful time / elapsed time = load balance * communication
    load balance              mean useful time / largest of a rank = between nodes * within nodes
      between nodes           mean useful time / largest mean of a node
      within nodes            largest mean of a node / largest useful time of a rank
    communication efficiency  largest useful time of a rank / elapsed time

The split by nodes is that of TALP (https://pm.bsc.es/dlb), there `load balance out` and `in`. POP
splits communication efficiency too, into serialization and transfer, by simulating a trace on an
ideal network; a profile is no trace.
"""

from crestacoll_tools.profile.profiles import label, seconds

PARALLEL, COMMUNICATION = "parallel efficiency", "communication efficiency"
BALANCE, BETWEEN, WITHIN = "load balance", "between nodes", "within nodes"
SPLIT, NOT_KNOWN = "serialization, transfer", "not known"
DEPTH = {PARALLEL: 0, BALANCE: 1, BETWEEN: 2, WITHIN: 2, COMMUNICATION: 1, SPLIT: 2}
NAMES = {
    PARALLEL: "parallel",
    BALANCE: "load_balance",
    BETWEEN: "between_nodes",
    WITHIN: "within_nodes",
    COMMUNICATION: "communication",
}
HEADS = ("efficiency (POP)", ">of ideal")
LEGEND = "serialization, transfer: these take a simulation on an ideal network"
MISSED = 0.01  # of the useful time


def metrics(data):
    """{name: value}, without the split by nodes where there is one, or they are not known; empty
    where the useful time is not known.
    """
    useful = data.get("calls", {}).get("useful_us")
    if not useful or not useful["max"] or missed(data):
        return {}
    mean, largest, nodes = useful["mean"], useful["max"], useful["nodes"] or []
    found = {PARALLEL: mean / useful["elapsed"], BALANCE: mean / largest}
    if len(nodes) > 1:
        highest = max(node["mean"] for node in nodes)
        found |= {BETWEEN: mean / highest, WITHIN: highest / largest}
    return found | {COMMUNICATION: largest / useful["elapsed"]}


def missed(data):
    """Whether collectives are recorded that are no counted calls, such as those of a program that
    is linked to libcrestacoll.a: they are no useful time, and whose time they are is not known.
    """
    us, counted = {}, {call["call"] for call in data["calls"]["list"]}
    for r in data["records"]:
        surely = max(0.0, r["time_us"]["mean"] - r["time_us"].get("error", 0.0))
        us[function_of(r)] = us.get(function_of(r), 0.0) + r["ranks"] * surely
        if r["mode"] != "blocking" and function_of(r) not in counted:
            return True
    for call in data["calls"]["list"]:
        if call["call"] in us:
            us[call["call"]] -= call["ranks"] * call["time_us"]["mean"]
    more = sum(max(0.0, left) for left in us.values())
    return more > MISSED * data["ranks"] * data["calls"]["useful_us"]["mean"]


def function_of(record):
    """'MPI_Ialltoall'"""
    return f"MPI_{label(record).capitalize()}"


def cells(data):
    """[(depth, name, value)] as text, what is not known among them."""
    found = metrics(data)
    shown = [(name, f"{100 * value:.1f} %") for name, value in found.items()]
    shown += [(SPLIT, NOT_KNOWN)] if found else []
    return [(DEPTH[name], name, value) for name, value in shown]


def notes(data):
    """Sentences: which rank computes most, and what is left out."""
    if not metrics(data):
        return []
    useful, suspended = data["calls"]["useful_us"], data["calls"]["suspended_us"]
    told = []
    if useful["min_rank"] != useful["max_rank"]:  # one rank, or all alike: none computes most
        told.append(
            f"Rank {useful['max_rank']} computes most ({seconds(useful['max'])}), rank"
            f" {useful['min_rank']} least ({seconds(useful['min'])}); the mean is"
            f" {seconds(useful['mean'])}."
        )
    if suspended:
        told.append(
            f"This is without the {seconds(suspended)} of a rank that MPI_Pcontrol left out."
        )
    return told


def as_json(data):
    """The metrics, and the times that they are made of."""
    found = metrics(data)
    if not found:
        return {}
    named = {key: found.get(name) for name, key in NAMES.items()}
    return {"efficiency": named | {"useful_us": data["calls"]["useful_us"]}}
