# SPDX-License-Identifier: BSD-3-Clause
"""Small made-up results, as commands write them, for tests of reports and explanations."""

import math

BINS, BIN_US = 60, 250000.0
NAMES = ["row", "<script>document.title='gone'</script>", "col $x$ \x1b[31m {0} </svg>\ud83d\ude00"]


def waiting(mean, most):
    """What a profile says of it: 5 % around the mean."""
    interval = {"low": 0.95 * mean, "high": 1.05 * mean}
    return {"samples": 9, "mean": mean, "max": most, "clock_error": 0.0} | interval


def record(collective, communicator, low, us, impl="mpi", share=0.5, **more):
    """One record of a profile; `share` of its time is waiting, None: not measured."""
    wait = None if share is None else waiting(share * us, us)
    return {
        "collective": collective,
        "mode": "blocking",
        "communicator": communicator,
        "processes": 4,
        "bytes_min": low,
        "bytes_max": 2 * low - 1 if low else 0,
        "implementation": impl,
        "rule": "no rule" if impl == "mpi" else f"CRESTA_IMPL: {collective}={impl}",
        "refused": None,
        "ranks": 4,
        "calls": 1000,
        "calls_total": 4000,
        "bytes_total": 4000 * low,
        "time_us": {"min": 0.6 * us, "mean": us, "max": 1.2 * us},
        "wait_us": wait,
        "nodes": None,
        "between_nodes": None,
    } | more


def row(rank):
    """Rank 2 has most to compute; nothing is called in the middle of the run."""
    busy = [
        0.0 if 25 < i < 30 else BIN_US * (0.5 - 0.3 * (rank == 2) + 0.05 * math.sin(i / 5))
        for i in range(BINS)
    ]
    waiting = [None if b == 0 else 0.6 * b for b in busy]
    return {"rank": rank, "ranks": 1, "busy_us": busy, "waiting_us": waiting}


def timeline():
    rows = [row(r) for r in range(4)]
    columns = list(zip(*(r["busy_us"] for r in rows)))
    mean = [sum(c) / 4 for c in columns]
    return {
        "bin_us": BIN_US,
        "bins": BINS,
        "ranks_per_row": 1,
        "busy_us": {"min": list(map(min, columns)), "mean": mean, "max": list(map(max, columns))},
        "waiting_us": [None if m == 0 else 0.6 * m for m in mean],
        "collectives_us": {
            "alltoall": [0.7 * m for m in mean],
            "allreduce": [0.3 * m for m in mean],
        },
        "rows": rows,
    }


def profile():
    records = [record("alltoall", name, 16384, 1e6, "shm") for name in NAMES]
    records += [
        record("allreduce", "MPI_COMM_WORLD", 8, 2e6, "p2p:recursive_doubling", 0.9),
        record("bcast", "MPI_COMM_WORLD", 1 << 26, 2e5, share=None, bytes_max=None),
        record("allgather", "", 64, 30.0, share=None, mode="nonblocking"),
        record("barrier", "a communicator with a name that is far too long for a line", 0, 20.0),
    ]
    return {
        "schema": "crestacoll-profile-5",
        "crestacoll": "0.1.0",
        "mpi": "Open MPI v4.1.4, package: Debian OpenMPI",
        "ranks": 4,
        "wall_s": BINS * BIN_US / 1e6,
        "wait_sampling": 1,
        "clocks": [{"rank": 0, "ahead_us": 0.0, "drift_ppm": 0.0, "error_us": 0.0}],
        "communicators": [],
        "records": records,
        "timeline": timeline(),
    }


def origin(cpus=("0,8", "1,9"), busy=1, threads=3, hosts=1, **variables):
    """What profile() is of: hosts with two sockets of four cores with two hardware threads, and a
    rank on each of them for each of `cpus`.
    """
    each = len(cpus)
    return {
        "command": ["mpirun", "-n", "4", "./app", "it's \x1b[31m ü\n"],
        "start": "2026-11-28T23:59:58+01:00",
        "end": "2026-11-29T00:00:14+01:00",
        "variables": {"SLURM_JOB_ID": "4711"} | variables,
        "hosts": [
            {"name": f"n{i + 1}", "machine": i * each, "ranks": f"{i * each}-{(i + 1) * each - 1}"}
            for i in range(hosts)
        ],
        "machines": [
            {
                "processor": "Some Processor",
                "sockets": ["0-3,8-11", "4-7,12-15"],
                "cores": [f"{core},{core + 8}" for core in range(8)],
                "ranks": ",".join(str(i * each) for i in range(hosts)),
            }
        ],
        "bindings": [
            {
                "cpus": c,
                "threads": threads,
                "busy_threads": busy,
                "ranks": ",".join(str(i * each + place) for i in range(hosts)),
            }
            for place, c in enumerate(cpus)
        ],
    }


MACHINE = {
    "cpu": "Some Processor",
    "cores": 4,
    "allowed_cores": 4,
    "memory_gib": 8,
    "system": "Linux 6",
}


def call(name, part, us, site=None, **more):
    """One row of the list of calls: all four ranks made 1000."""
    return {
        "call": f"MPI_{name}",
        "part": part,
        "requests": "messages",
        "distance": None,
        "main_thread": True,
        "site": site,
        "ranks": 4,
        "calls": 4000,
        "calls_max": 1000,
        "bytes": 0,
        "time_us": {"mean": us, "min": 0.5 * us, "max": 2 * us, "longest": 0.01 * us},
    } | more


def calls():
    """All time in the MPI, for a run of 15 s like that of profile()."""
    return {
        "wall_us": {"mean": 16e6, "min": 15.9e6, "max": 16.1e6},
        "suspended_us": 0.1e6,
        "threads": 3,
        "modules": [{"path": "/nowhere/app", "build_id": "00ff"}],
        "ahead": {
            f"MPI_{name}": "/opt/libtool.so" for name in ("Bsend", "Mprobe", "Probe", "Ssend")
        },
        "list": [
            call("Init", "job", 0.5e6, [0, 4660]),
            call("Finalize", "job", 0.1e6),
            call("Alltoall", "collective", 5e6, [0, 8000]),
            call("Iallreduce", "begin", 0.02e6, [0, 8100]),
            call("Wait", "wait", 0.3e6, [0, 8200], requests="collectives"),
            call("Waitall", "wait", 1.2e6, [0, 8300]),
            call("Waitall", "wait", 0.1e6, [0, 8400], requests="several"),
            call("Send", "send", 0.7e6, [0, 8500], bytes=64000000, distance="between"),
            call("Irecv", "start", 0.01e6, [0, 8600], bytes=4000, distance="node"),
            call("Put", "rma", 0.02e6, distance="unknown"),
            call("Win_fence", "synchronize", 0.4e6, [0, 8700]),
            call("File_open", "file", 0.2e6, [0, 8800], ranks=2, calls=2, calls_max=1),
            call("Comm_split", "communicator", 0.05e6, [0, 8900]),
            call("Recv", "receive", 2e6, [0, 9000], main_thread=False),
        ],
    }


def uneven():
    """A run in which four ranks compute for 6, 8, 12 and 4 s of 15, on two nodes, and do not count
    for another second.
    """
    times = {"mean": 7.5e6, "min": 4e6, "max": 12e6, "min_rank": 3, "max_rank": 2}
    nodes = [
        {"first_rank": 0, "ranks": 2, "mean": 7e6, "max": 8e6},
        {"first_rank": 2, "ranks": 2, "mean": 8e6, "max": 12e6},
    ]
    counted = {
        "wall_us": {"mean": 16e6, "min": 16e6, "max": 16e6},
        "suspended_us": 1e6,
        "threads": 1,
        "useful_us": times | {"elapsed": 15e6, "nodes": nodes},
        "modules": [],
        "ahead": {},
        "list": [
            call("Init", "job", 0.5e6),
            call("Waitall", "wait", 4.5e6),
            call("Allreduce", "collective", 2.5e6),
        ],
    }
    records = [record("allreduce", "MPI_COMM_WORLD", 8, 2e6, "p2p:recursive_doubling", 0.9)]
    return profile() | {"records": records, "calls": counted}


def document(schema, records):
    return {
        "schema": schema,
        "crestacoll": "0.1.0",
        "date": "2026-11-22T14:43:21+00:00",
        "machine": MACHINE,
        "verified": True,
        "jobs": [],
        "notes": [{"mpi": "openmpi", "about": "alltoall shm", "text": "left out <b>"}],
        "records": records,
    }


def bench():
    records = [
        {
            **{"collective": collective, "implementation": name, "mpi": "openmpi", "ranks": ranks},
            **{"bytes": size, "timing": "back_to_back", "root": "none", "buffers": "hot"},
            **{"skew_us": 0.0, "oversubscribed": False, "verified": True, "batch": 10},
            **{"samples": 30, "samples_asked": 30, "samples_dropped": 0},
            **{"median_us": factor * (1 + size / 999), "p10_us": 0.9 * factor},
            **{"p90_us": factor * (2 + size / 999), "min_us": 0.8 * factor},
            **{"ratio_to_mpi": factor, "ratio_p10": factor, "ratio_p90": factor},
        }
        for collective in ("bcast", "allreduce", "alltoall")
        for ranks in (2, 4)
        for name, factor in (("mpi", 1.0), ("shm", 0.6), ("p2p:ring", 1.7))
        for size in (8, 64, 512, 4096, 32768, 1 << 18)
    ]
    return document("crestacoll-bench-1", records)


def overlap():
    records = [
        {
            **{"collective": collective, "implementation": name, "mpi": "mpich", "ranks": 2},
            **{"hosts": 2, "bytes": size, "verified": True, "samples": 9, "async": "thread"},
            **{"N_us": 10.0, "C_us": 12.0, "T_us": 22.0 - 10 * share},
            **{"overlap_cresta": share, "overlap_osu": share, "overlap_imb": share / 1.2},
        }
        for collective in ("allreduce", "alltoall")
        for name, share in (("nonblock", 0.1), ("p2p", 0.9))
        for size in (1024, 65536, 1 << 22)
    ]
    return document("crestacoll-overlap-1", records)


def explored():
    """Two points; shm wins at both, and p2p at the second was tried alone."""
    rules = ["alltoall[4096-8191](2)@row=shm", "allreduce[8-15](2)=shm"]

    def point(collective, communicator, low, share):
        return {
            **{"collective": collective, "communicator": communicator, "processes": 2},
            **{"low": low, "high": 2 * low - 1, "share": share, "waiting": share / 4},
        }

    def arm(race, name, texts, trimmed):
        low, high = trimmed - 0.01, trimmed + 0.01
        d = {"trimmed": trimmed, "low": low, "high": high, "mean": trimmed, "agree": True}
        d["rounds"] = 20
        return {
            **{"race": race, "name": name, "rules": texts, "difference": d},
            **{"dropped": False, "failed": ""},
        }

    def rule(text, collective, sizes, communicator, earned):
        return {
            **{"rule": text, "collective": collective, "bytes": sizes, "ranks": 2},
            **{"communicator": communicator, "implementation": "shm", "earned": earned},
            **{"changes_rounding": collective == "allreduce", "note": ""},
        }

    gain = {"gain": 0.2, "low": 0.19, "high": 0.21, "mean": 0.2, "rounds": 30}
    earned = {"arms": ["mpi", "shm"], "blocks": 30, "gain": 0.2, "low": 0.19, "high": 0.21}
    return {
        **{"schema": "crestacoll-explore-result-2", "crestacoll": "0.1.0", "date": "2026-11-22"},
        **{"command": ["mpirun", "-n", "2", "./<b>"], "folder": "/x/crestacoll-explore"},
        **{"mpi": "Open MPI v4.1.4, x", "ranks": 2, "runs": 4, "seconds": 99.0, "complete": True},
        **{"verdict": "faster", "bound": None, "rejected": None},
        **{"step": gain, "step_s": 0.01, "agree": True, "anchor": None},
        **{"run": None, "answers": None, "time": None, "others": None, "notes": []},
        "points": [point("alltoall", "row", 4096, 0.3), point("allreduce", "", 8, 0.1)],
        "rules": [
            rule(rules[0], "alltoall", [4096, 8191], "row", earned),
            rule(rules[1], "allreduce", [8, 15], "", None),
        ],
        "arms": [
            arm("models", "shm", rules, -0.2),
            arm("models", "p2p", [r.replace("=shm", "=p2p") for r in rules], -0.04),
            arm("points", "shm all", rules, -0.2),
            arm("points", "p2p at allreduce", [rules[0], "allreduce[8-15](2)=p2p"], -0.16),
        ],
    }


TUNING = {
    "schema": "crestacoll-tuning-1",
    "head": {
        "machine": {"cpu": "Some Processor", "cores": 4},
        **{"mpi": "Open MPI v4.1.4", "date": "2026-11-22", "crestacoll": "0.1.0"},
    },
    "rules": [
        {
            **{"collective": "alltoall", "bytes": [4096, "inf"], "ranks": [2, 64]},
            **{"communicator": "row*", "implementation": "p2p:bruck?k=3"},
            "earned": {
                **{"arms": ["mpi", "p2p:bruck?k=3"], "blocks": 24, "gain": 0.2},
                **{"low": 0.1, "high": 0.3},
            },
        },
        {"collective": "*", "implementation": "nonblock", "note": "written by hand"},
        {"collective": "alltoall", "implementation": "shm"},
    ],
}


KINDS = ("independent", "collective", "split", "nonblocking", "nonblocking_collective")


def io_part(what, calls, each, first, last):
    """Part of a record of MPI-IO: as many calls in each bin from first to last."""
    inside = [first <= i < last for i in range(BINS)]
    bins = last - first
    part = {
        **what,
        "ranks": 4,
        "calls": calls * bins,
        "time_us": {"mean": 20000.0 * bins, "max": 25000.0 * bins},
        "calls_of_bins": [calls * i for i in inside],
        "ranks_of_bins": [4 * i for i in inside],
        "us_of_bins": [20000.0 * i for i in inside],
    }
    if each:
        part |= {"bytes": calls * bins * each, "bytes_of_bins": [calls * each * i for i in inside]}
    return part


def io():
    """What CRESTA_IO writes: every kind, and independent writes in a window of their own."""
    data = [
        io_part({"kind": "independent", "direction": "write"}, 4000, 4096, 8, 16),
        io_part({"kind": "independent", "direction": "read"}, 5, 100, 40, 48),
        *(
            io_part({"kind": kind, "direction": direction}, 8 * (k + 1), 1 << 20, 20 + 5 * k, 60)
            for k, kind in enumerate(KINDS[1:])
            for direction in ("write", "read")
        ),
    ]
    others = [
        io_part({"operation": name}, 4, 0, i, i + 1)
        for i, name in enumerate(("open", "close", "sync", "set_view"))
    ]

    def plain(part):
        return {name: value for name, value in part.items() if not name.endswith("_of_bins")}

    return {
        "schema": "crestacoll-io-1",
        "crestacoll": "0.1.0",
        "mpi": "Open MPI v4.1.4, package: Debian OpenMPI",
        "ranks": 4,
        "wall_s": BINS * BIN_US / 1e6,
        "bin_us": BIN_US,
        "bins": BINS,
        "bins_per_window": 8,
        "data": data,
        "other_calls": others,
        "files": [
            {
                "name": NAMES[1],
                "processes": 4,
                "data": [plain(p) for p in data],
                "other_calls": [plain(p) for p in others],
                "could_be_collective": [
                    {
                        "direction": "write",
                        "window": 1,
                        "ranks": 4,
                        "calls": 32000,
                        "bytes": 32000 * 4096,
                    },
                    {"direction": "read", "window": 5, "ranks": 4, "calls": 40, "bytes": 4000},
                ],
            },
            {
                "name": None,
                "processes": 1,
                "data": [],
                "other_calls": [],
                "could_be_collective": [],
            },
        ],
        "other_files": {"data": [], "other_calls": [plain(others[0])]},
    }
