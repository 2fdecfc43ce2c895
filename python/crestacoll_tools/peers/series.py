# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: a series is one job for each MPI and launch."""

from dataclasses import dataclass

from crestacoll_tools.base.sizes import parse_sizes
from crestacoll_tools.bench.benchjob import Plan

ROOTED = ["bcast", "reduce", "gather", "gatherv", "scatter", "scatterv"]
PREFIX = ["scan", "exscan"]
EXCHANGING = [
    *("barrier", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"),
    *("reduce_scatter", "reduce_scatter_block"),
]
# With a root that goes round, nobody only gives or only takes.
SYMMETRIC = EXCHANGING + ROOTED
IMPLEMENTATIONS = ["mpi", "shm"]


@dataclass(frozen=True)
class Series:
    """`batch_us`: how long a sample of calls lasts. `seconds`: how long a job takes about; the time
    that there is is shared out by it. `times`: how often it is launched in each round: where the
    machine changes its speed, each speed needs launches of its own.
    """

    name: str
    title: str
    ranks: int
    collectives: tuple
    sizes: str
    seconds: float
    samples: int = 100
    timing: str = "back_to_back"
    root: str = "rotate"
    buffers: str = "hot"
    skew: float = 0.0
    batch_us: float = 50.0
    calls: str = "blocking"
    times: int = 1

    @property
    def plain(self):
        """What the targets speak of."""
        return self.timing == "back_to_back" and self.buffers != "cold" and not self.begun

    @property
    def begun(self):
        return self.calls == "begun"

    def plan(self, budget, implementations=IMPLEMENTATIONS):
        return Plan(
            list(self.collectives),
            list(implementations),
            parse_sizes(self.sizes),
            self.ranks,
            self.timing,
            self.samples,
            budget,
            self.root,
            self.buffers,
            self.skew,
            ["--batch-us", f"{self.batch_us:g}"],
            self.calls,
        )


EVERY = (*SYMMETRIC, *PREFIX)
SIZES = "8,64,512,4K,32K,256K,2M,8M"
FEW = "8,512,4K,32K,256K,2M,8M"
# Ranks take turns: a short sample is all chance.
CROWDED = {"samples": 40, "batch_us": 500.0}

# As most programs do: what a rank gives is written before each call, within the time.
WRITTEN = {"buffers": "written"}

FULL = [
    Series("pairs", "one after the other", 2, EVERY, SIZES, 12, times=2),
    Series("pairs-written", "data written again", 2, EVERY, SIZES, 14, times=2, **WRITTEN),
    Series("fixed", "root 0", 2, tuple(ROOTED), SIZES, 5, root="fixed"),
    Series("four", "4 ranks", 4, tuple(SYMMETRIC), FEW, 20, **CROWDED),
    Series("four-written", "4 ranks, written", 4, tuple(SYMMETRIC), FEW, 20, **CROWDED, **WRITTEN),
    Series("eight", "8 ranks", 8, tuple(SYMMETRIC), FEW, 20, **CROWDED),
    Series("eight-written", "8 ranks, written", 8, tuple(SYMMETRIC), FEW, 20, **CROWDED, **WRITTEN),
    Series("begun", "begun", 2, EVERY, FEW, 6, samples=50, calls="begun", **WRITTEN),
    Series("cold", "cold buffers", 2, EVERY, SIZES, 14, samples=50, buffers="cold"),
    Series("synchronised", "agreed start", 2, EVERY, SIZES, 7, timing="synchronised"),
    Series(
        *("skew", "start up to 20 us late", 2, EVERY, SIZES, 7),
        timing="synchronised",
        skew=20.0,
    ),
]

QUICK = [
    Series("pairs", "one after the other", 2, EVERY, "8,4K,256K", 3, samples=30),
    Series("pairs-written", "written", 2, EVERY, "8,4K,256K", 3, samples=30, **WRITTEN),
    Series("fixed", "root 0", 2, tuple(ROOTED), "8,4K,256K", 1, samples=30, root="fixed"),
    Series("four", "4 ranks", 4, tuple(SYMMETRIC), "8,4K", 2, samples=10, batch_us=500.0),
    Series("eight", "8 ranks", 8, tuple(SYMMETRIC), "8,4K", 3, samples=10, batch_us=500.0),
]
