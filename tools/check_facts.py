#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_facts.py - what a rank sees alone is asked for in few places, which agree on it.

Ranks that plan from what only some of them see exchange wrong data, or wait for ever. So whatever
tells such things (cores, thread level, log level, process, environment, processor) may be named
only in the files below, where it becomes an agreed fact (src/comm/facts.h), is agreed on by
cco_service_all, or concerns this rank alone. Whoever needs it elsewhere uses the agreed fact, or
adds the file here with the reason.
"""
import re

from sources import ROOT, Report, files, generated

# name: {file: how it is safe there}
SOURCES = {
    r"cco_pause_crowds": {
        "base/pause.c": "its definition", "base/pause.h": "its definition",
        "wait/polite.c": "how this rank waits", "api/report.c": "how this rank says that it waits",
        "sched/engine_run.c": "how this rank waits",
        "shmem/small.c": "agreed on by cco_service_all",
        "transport/shm/slot_ring.c": "how this rank waits",
        "transport/shm/run.h": "how far this rank writes ahead: its readers see no difference",
    },
    r"\bcco_mpi_yields\(": {
        "mpi/mpi_behavior.c": "its definition", "mpi/mpi_behavior.h": "its definition",
        "wait/polite.c": "how this rank waits", "wait/wait.c": "how this rank waits",
    },
    r"PMPI_Query_thread": {
        "profile/profile.c": "whether this rank locks its own timeline",
        "io/record.c": "whether this rank locks its own record",
        "mpi/mpi_behavior.c": "the level that Open MPI has, and keeps",
        "process/progress.c": "becomes the fact `progress`",
        "interpose/wait.c": "how this rank waits",
        "profile/snapshot.c": "whether this rank writes what it has counted",
        "transport/rma/window.c": "agreed on by cco_service_all",
        "shmem/entries.c": "what the program asks for",
        "transport/caf/caf.c": "agreed on by cco_service_all",
        "transport/caf/runtime.c": "agreed on by cco_service_all",
    },
    r"sched_getaffinity": {
        "wait/wait.c": "becomes the fact `crowded`", "process/origin.c": "for the profile",
        "base/core_place.c": "gathered from all ranks (cco_core_place_here, below)",
    },
    r"\bcco_last_cache_here\(": {
        "base/core_place.c": "its definition", "base/core_place.h": "its definition",
        "transport/shm/flat_plan.c": "how this rank writes what it gets, in its own memory",
    },
    r"\bcco_core_place_here\(": {
        "base/core_place.c": "its definition", "base/core_place.h": "its definition",
        "model/shm_many.c": "all ranks gather those of all, and group by these",
    },
    r"PMPI_Comm_split_type": {
        "wait/wait.c": "counts the ranks of a node for the fact `crowded`",
        "transport/rma/shared.c": "agreed on by cco_service_all",
        "shmem/symmetric.c": "counts the ranks of a node for a bound that is agreed on",
        "transport/caf/runtime.c": "counts the ranks of a node for a bound that is agreed on",
    },
    r"\bcco_(node|boot)_key\(": {
        "profile/common_clock.c": "compared with those of all ranks",
        "profile/profile_merge.c": "all ranks get the keys of all",
        "base/node_key.c": "its definition", "base/node_key.h": "its definition",
        "comm/facts.c": "becomes the fact `one_node`",
        "process/origin.c": "all ranks get the keys of all",
        "tune/nodes.c": "gathered from all ranks",
        "base/proc.c": "whose processes this rank can look at",
        "transport/shm/segment.c": "whether this rank opens the memory; agreed on "
        "by cco_service_all",
        "window/shared_window.c": "compared with those of all ranks",
    },
    r"__builtin_cpu_supports": {"reduce/kernels.c": "all loops give the same bits"},
    r"\bgetpid\(": {
        "comm/teardown.c": "makes numbers unique, which rank 0 gives to all",
        "transport/shm/segment.c": "where the others find the memory",
        "base/process_read.c": "whom the others read; all agree whether they can",
        "rollcall/rollcall.c": "whom a roll-call names; nothing else goes by it",
        "calls/box.c": "whom a black box names; nothing else goes by it",
        "tune/presence.c": "for a message",
        "base/proc.c": "whom the others look after",
    },
    r"\bgetenv\(": {"config/config.c": "compared between ranks (config/settings.h)"},
    r"cco_configured\.log\b|c->log\b": {
        "config/config.c": "its reading", "base/log.c": "whether this rank prints",
        "model/shm_many.c": "whether it counts what it prints",
        "comm/failure.c": "whether this rank prints",
        "comm/facts.c": "agreed on in MPI_Init",
        "tune/choose.c": "whether this rank prints",
        "api/report.c": "whether this rank prints", "split/split.c": "whether this rank prints",
    },
    r"\bcco_progress_(allowed|calls_mpi)\(\)": {
        "process/progress.c": "its definition", "process/progress.h": "its definition",
        "split/request_data.c": "what the thread of this rank polls",
        "split/split.c": "starts the thread for requests of the MPI's own",
        "extensions/exchange.c": "starts the thread for its request",
        "split/split.h": "whether this rank remembers requests",
        "api/dispatch.c": "below, what begins run over is an agreed fact",
    },
    r"\bCCO_PRELOADED\b": {
        "config/config.h": "its definition", "comm/facts.c": "becomes `linked` and `preloaded`",
        "process/progress.c": "becomes the fact `progress`",
        "process/process.c": "agreed on in MPI_Init",
        "api/dispatch.c": "whether this rank records",
        "split/split.c": "its path is an agreed fact",
    },
    r"\bcco_machine_here\(": {
        "tune/machine.c": "its definition", "tune/machine.h": "its definition",
        "process/origin.c": "for the profile",
        "tune/tuning_file.c": "rank 0 decides for all; where ranks have not met, they compare it",
    },
    r"PMPI_Get_processor_name|\bgethostname\(": {
        "comm/failure.c": "for a message", "process/origin.c": "for the profile",
        "rollcall/rollcall.c": "whom a roll-call names; nothing else goes by it",
        "calls/box.c": "whom a black box names; nothing else goes by it",
    },
}


def check(report, path, text):
    where = path.relative_to(ROOT / "src").as_posix()
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith(("*", "/*")):
            continue
        for name, allowed in SOURCES.items():
            found = re.search(name, line)
            if found and where not in allowed:
                report.add(path, number, f"{found[0]} tells what only this rank sees: use an "
                           "agreed fact (src/comm/facts.h), or say in tools/check_facts.py why not")


def main():
    report = Report("facts")
    for path in files(".c", ".h"):
        text = path.read_text(errors="replace")
        if path.is_relative_to(ROOT / "src") and not generated(text):
            check(report, path, text)
    report.exit()


if __name__ == "__main__":
    main()
