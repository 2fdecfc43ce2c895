# SPDX-License-Identifier: BSD-3-Clause
"""What tools/scale.py simulates: the runs of the documents of docs/lab/scale.md, as jobs of
crestacoll-simulate.
"""

import dataclasses

from crestacoll_tools.simulate import jobs, machines

# Bytes a second that MPI sees on the links that a cut through the torus crosses, for each Gemini
# of the cut and each direction: K. Pedretti et al.: Using the Cray Gemini performance counters,
# SAND2013-0216C (as quoted in github.com/lanl/PPT, cielo_config.py).
GEMINI_LINK = 5.8e9
XE, XE_PUTS, XC, XC_PUTS = "cray-xe6", "cray-xe6-puts", "cray-xc30", "cray-xc30-puts"
MANY = 1024  # messages of a rank at once, more than the network ever holds
BRUCK_UP_TO, LINEAR_UP_TO = 256, 32768  # bytes of a block, in MPICH's MPI_Alltoall

# Latencies of messages that were measured, in seconds, by bytes. Aries: osu_latency of Open MPI on
# a Cray XC40, gist.github.com/hppritcha/6a3acd0c192fcfd082bd543fc98e6fe6. Gemini: Cray's MPI, from
# Gutierrez et al., HOTI 2012: 1 byte, 1 KiB, and 5.32 GB/s at 8 MiB.
MEASURED = {
    XC: {8: 1.20e-6, 64: 1.20e-6, 256: 1.24e-6, 1024: 1.49e-6, 2048: 1.81e-6, 4096: 2.42e-6,
         8192: 4.97e-6, 16384: 5.76e-6, 32768: 11.60e-6, 65536: 15.03e-6, 262144: 35.14e-6,
         1048576: 114.59e-6, 4194304: 435.60e-6},
    XE: {1: 1.20e-6 / 0.9, 1024: 4.13e-6 / 0.6029, 8 << 20: (8 << 20) / 5.32e9},
}


@dataclasses.dataclass(frozen=True)
class Point:
    """One simulation, which becomes one line of the table."""

    curve: str
    line: str
    nodes: int
    ranks: int
    bytes: int
    machine: dict
    steps: tuple  # calls, and seconds of computation
    layout: str = ""  # nodes, as CRESTA_NODES, of the ranks that are simulated
    simulated: int = 0  # ranks that are simulated, if not all
    parts: int = 1  # the run is so often what is simulated

    def job(self):
        ranks = self.simulated or self.ranks
        layout = self.layout or jobs.nodes_words(ranks, -(-self.ranks // self.nodes))
        return jobs.text(self.machine, ranks, layout, list(self.steps))


def changed(machine, **levels):
    """A machine with other costs at some levels."""
    return machine | {"levels": machine["levels"] | levels}


def torus(name, nodes, share=1, eager=None):
    """A machine of Geminis, of which a job has a cube; the longest messages cross its middle.

    Each half of the nodes is a group, whose link is the cut between the halves. `share`: so many
    ranks of a node are simulated as one, which takes so much longer at interfaces and at the cut.
    """
    machine = machines.load(name)
    near = dict(machine["levels"]["network"])
    if eager is not None and "eager" in near:
        near["eager"] = eager
    cut = (nodes / 2) ** (2 / 3) * GEMINI_LINK
    far = near | {"gap": 0.0, "byte": share / cut}
    near |= {"nodes": max(1, nodes // 2), "gap": share * near["gap"], "byte": share * near["byte"]}
    return changed(machine, group=near, network=far)


def plain(name, share, eager=None):
    """That machine without its torus."""
    machine = machines.load(name)
    costs = dict(machine["levels"]["network"])
    if eager is not None and "eager" in costs:
        costs["eager"] = eager
    costs |= {"gap": share * costs["gap"], "byte": share * costs["byte"]}
    return changed(machine, network=costs)


HARNESS = {  # how the ALGs exchange their blocks: machine, algorithm, bytes of a block, parts
    "MPI_Alltoall": (XE, "p2p:pairwise", 4096, 1),
    "MPI_Ialltoall": (XE, "p2p:linear", 4096, 1),
    "gets": (XE_PUTS, f"p2p:linear?window={MANY}", 4096, 1),
    "chunks of 512 bytes": (XE_PUTS, f"p2p:linear?window={MANY}", 512, 8),
}
EAGER = 1536  # MPICH_GNI_MAX_EAGER_MSG_SIZE of the runs


def exchange(name, size, stride=1):
    """The steps of one part of it: chunks are copied, and have a barrier on either side."""
    machine, how, length, _ = HARNESS[name]
    call = jobs.Call("alltoall", length, how, size, stride)
    if machine == XE:
        return (call,)
    sync = jobs.Call("barrier", 0, "p2p:dissemination", size, stride)
    copied = machines.load(machine)["copy"]["byte"] * length * size
    return (copied, sync, call, sync) if length < 4096 else (sync, call, sync)


def harness(sizes, short=16):
    """Columns of a grid with a row of 16 ranks on each node. A column is simulated, and its ranks
    stand for all 16 of their nodes: the short cut that `harness_exact` checks.
    """
    for nodes, names in sizes.items():
        for name in names:
            machine, _, length, parts = HARNESS[name]
            yield Point("harness", name, nodes, nodes * short, 4096,
                        torus(machine, nodes, short, EAGER), exchange(name, nodes),
                        f"{nodes}x1", nodes, parts)


def harness_exact(nodes, per_node=16):
    """All columns at once; and what one of them takes without the torus."""
    for name in HARNESS:
        machine, _, _, parts = HARNESS[name]
        yield Point("harness, all columns", name, nodes, nodes * per_node, 4096,
                    torus(machine, nodes, 1, EAGER), exchange(name, nodes, per_node),
                    parts=parts)


def harness_plain(nodes, per_node=16):
    for name in ("MPI_Alltoall", "MPI_Ialltoall", "gets"):
        yield Point("harness, no torus", name, nodes, nodes * per_node, 4096,
                    plain(HARNESS[name][0], per_node, EAGER), exchange(name, nodes),
                    f"{nodes}x1", nodes)


def placement(nodes, edge, per_node=16):
    """A grid of per_node x nodes ranks: rows on a node each, or columns on nodes side by side."""
    ranks = nodes * per_node
    row, column = (8 * edge**3 // ranks // n for n in (per_node, nodes))  # bytes of a block
    some = nodes // per_node  # nodes of a column that is contiguous
    pairwise = "p2p:pairwise"
    yield Point("placement", "row on a node", nodes, ranks, row, machines.load(XE),
                (jobs.Call("alltoall", row, pairwise, per_node),),
                f"1x{per_node}", per_node)
    yield Point("placement", "column across nodes", nodes, ranks, column,
                torus(XE, nodes, per_node), (jobs.Call("alltoall", column, pairwise, nodes),),
                f"{nodes}x1", nodes)
    # Rows that use the same nodes are alike; the cut is shared by `some` sets of them.
    wide = torus(XE, nodes)
    cut = wide["levels"]["network"] | {"byte": some * wide["levels"]["network"]["byte"]}
    half = wide["levels"]["group"] | {"nodes": per_node // 2}
    yield Point("placement", "row across nodes", nodes, ranks, row,
                changed(wide, group=half, network=cut),
                (jobs.Call("alltoall", row, pairwise, per_node, per_node),),
                f"{per_node}x{per_node}", per_node**2)
    yield Point("placement", "column on neighbouring nodes", nodes, ranks, column,
                torus(XE, some), (jobs.Call("alltoall", column, pairwise, nodes),),
                f"{some}x{per_node}", nodes)


def alltoall(ranks, per_node, sizes):
    """Cray's alltoall: messages of the MPI in pairs, or puts below the MPI."""
    nodes = -(-ranks // per_node)
    ways = {"send and receive": (XC, "p2p:pairwise"),
            "uGNI": (XC_PUTS, f"p2p:linear?window={MANY}")}
    for size in sizes:
        for line, (machine, how) in ways.items():
            yield Point("alltoall", line, nodes, ranks, size, machines.load(machine),
                        (jobs.Call("alltoall", size, how, ranks),),
                        jobs.nodes_words(ranks, per_node))


def allreduce(nodes, per_node, sizes):
    """Cray's allreduce: leaders of nodes, with messages in the nodes; with buffers in shared
    memory, which are taken as free; and with a network that takes no processor.
    """
    ways = {
        "messages": machines.load(XC),
        "shared memory": changed(machines.load(XC), node={}),
        "shared memory, engine": changed(machines.load(XC_PUTS), node={}),
    }
    for size in sizes:
        for line, machine in ways.items():
            yield Point("allreduce", line, nodes, nodes * per_node, size, machine,
                        (jobs.Call("allreduce", size, "hier:leaders", nodes * per_node),))


def mpi_alltoall(size):
    """What MPICH does."""
    name = "bruck" if size <= BRUCK_UP_TO else "linear" if size <= LINEAR_UP_TO else "pairwise"
    return f"p2p:{name}"


def cresta(sizes, per_node=16):
    """Figures 3 and 4 of D4.5.3; `sizes` by ranks."""
    for ranks, some in sizes.items():
        sync = jobs.Call("barrier", 0, "p2p:dissemination", ranks)
        for size in some:
            nodes, own = ranks // per_node, machines.load(XC_PUTS)["copy"]["byte"] * size * ranks
            gets = jobs.Call("alltoall", size, f"p2p:linear?window={MANY}", ranks)
            every = (
                ("cresta alltoall", "MPI", XC,
                 (jobs.Call("alltoall", size, mpi_alltoall(size), ranks),)),
                ("cresta alltoall", "coarrays", XC_PUTS, (own, sync, gets, sync, own)),
                ("cresta allreduce", "MPI", XC, (jobs.Call("allreduce", size, "hier", ranks),)),
                ("cresta allreduce", "coarrays", XC_PUTS,
                 (jobs.Call("reduce", size, "p2p:linear", ranks),
                  jobs.Call("bcast", size, "p2p:linear", ranks))),
            )
            for curve, line, machine, steps in every:
                yield Point(curve, line, nodes, ranks, size, machines.load(machine), steps)


def overlap_calls(ranks, size):
    return {"alltoall": jobs.Call("alltoall", size, mpi_alltoall(size), ranks),
            "allreduce": jobs.Call("allreduce", size, "hier", ranks)}


def overlap(ranks, sizes, per_node=16):
    """Figure 5 of D4.5.3: the calls alone."""
    for size in sizes:
        for name, call in overlap_calls(ranks, size).items():
            yield Point(f"overlap {name}", "alone", ranks // per_node, ranks, size,
                        machines.load(XC), (call,))


def beside(rows):
    """Once it is known how long calls take alone: the same with as long a computation beside them;
    and the harness where nothing progresses the messages.
    """
    for r in rows:
        nodes, ranks, size = int(r["nodes"]), int(r["ranks"]), int(r["bytes"])
        if r["curve"].startswith("overlap ") and r["line"] == "alone":
            call = overlap_calls(ranks, size)[r["curve"].split()[1]]
            for line, driven in (("nobody drives", False), ("a thread drives", True)):
                both = dataclasses.replace(call, overlap=float(r["seconds"]), driven=driven)
                yield Point(r["curve"], line, nodes, ranks, size, machines.load(XC), (both,))


def latencies():
    """Messages between two nodes, to compare machine files with measured ones."""
    for name, measured in MEASURED.items():
        for size in measured:
            yield Point("latency", name, 2, 2, size, machines.load(name),
                        (jobs.Call("bcast", size, "p2p:binomial", 2),), "2x1")


MOST = ("MPI_Alltoall", "MPI_Ialltoall", "gets")
SMALL = [8, 16, 32, 64, 128, 256, 512, 1024, 4096, 32768, 65536]


def first(small):
    """All that can be simulated at once, what takes longest first; `small`: for tests."""
    if small:
        return [*harness({16: HARNESS}), *harness_exact(16), *harness_plain(16),
                *placement(32, 64), *alltoall(100, 24, [8, 4096]), *allreduce(5, 32, [8]),
                *cresta({32: [8, 4096]}), *overlap(32, [8]), *latencies()]
    return [*harness({8192: reversed(MOST), 4096: reversed(MOST), 2048: HARNESS, 1024: HARNESS,
                      512: HARNESS, 256: HARNESS}),
            *cresta({4096: [8, 64, 512, 4096], 1024: SMALL, 256: SMALL}),
            *alltoall(4096, 24, [8, 256, 4096]), *placement(3072, 6144), *harness_exact(256),
            *harness_plain(2048), *allreduce(3739, 32, [8, 64, 512, 2048]),
            *overlap(1024, SMALL), *latencies()]
