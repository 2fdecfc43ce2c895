# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll-simulate answers the same whether messages are kept small or not, and whether a round
is written act by act or as lists of peers.
"""

from collections import Counter

import pytest
import slow_simulator
import test_simulate
from crestacoll_tools.cli import explain
from crestacoll_tools.simulate import jobs
from test_simulate import MACHINE, find_build  # noqa: F401, the fixture `built`


def answer(build, job, records=None, limits=jobs.Limits()):
    """All but the time that it took."""
    more = "" if records is None else f"records {records}\n"
    found = jobs.run(build, job + more, limits)
    return {key: found[key] for key in found if not key.startswith("seconds_to_")}


def job_of(call, **options):
    nodes = jobs.nodes_words(call.size, 4)
    return jobs.text(MACHINE, call.size, nodes, [call, 1e-6, call], **options)


def alike(build, job):
    """None is kept small, all that can be, and those beyond a few."""
    plain = answer(build, job)
    assert [answer(build, job, records) for records in (0, 40)] == [plain, plain], job


@pytest.mark.parametrize("queues", [True, False])
@pytest.mark.parametrize(
    "collective, algorithm",
    [
        ("alltoall", "p2p:linear"),
        ("alltoall", "p2p:pairwise"),
        ("alltoall", "p2p:bruck"),
        ("gather", "p2p:linear"),
        ("allreduce", "p2p:recursive_doubling"),
        ("bcast", "p2p:pipeline?segment=64"),  # many messages between two ranks
        ("allgather", "hier:leaders"),
    ],
)
def test_small_messages_meet_the_same_receives(built, collective, algorithm, queues):
    for size in (8, 5000):  # 5000: some wait for their receivers
        call = jobs.Call(collective, size, algorithm, 36)
        for skew in (jobs.Skew(), jobs.Skew("exponential", 2e-5, 3)):
            alike(built, job_of(call, skew=skew, queues=queues))


@pytest.mark.parametrize("topology", ["spikes:70", "random:9", "stencil:2"])
def test_neighbours_meet_the_same_receives(built, topology):
    for collective in ("neighbor_allgather", "neighbor_alltoall"):
        call = jobs.Call(collective, 64, "p2p:linear", 90)
        alike(built, job_of(call, topology=topology))
        call = jobs.Call(collective, 64, "hier:leaders", 90)
        alike(built, job_of(call, topology=topology))


def test_tables_that_are_made_again_and_again(built):
    """Rank 0 gets what the others send it for 400 calls to come, while it takes 2000 messages of
    rank 1, of which each has just come: after a while nothing more is kept small.
    """
    network = {"latency": 1e-6, "send": 0.999e-6, "receive": 1e-6}
    machine = {"levels": {"node": {}, "network": network}}
    stream = jobs.Call("bcast", 16000, "p2p:pipeline?segment=8", 2, root=1)
    steps = [stream] + [jobs.Call("gather", 8, "p2p:linear", 20)] * 400
    skew = jobs.Skew("uniform", 4e-3, 1)
    alike(built, jobs.text(machine, 20, jobs.nodes_words(20, 1), steps, skew))


@pytest.mark.parametrize("queues", [True, False])
def test_rounds_of_many_messages_take_the_time_of_the_plain_simulator(built, queues):
    """More than 64 in a round: their peers are written as lists."""
    topology, ranks = "spikes:100", 70
    node = [r // 4 for r in range(ranks)]
    options = {"nodes": ",".join(map(str, node)), "topology": topology}
    options |= {"algorithm": "linear", "bytes": 64}
    words = ["neighbor_allgather", ranks]
    schedules = [
        explain.ask(built, words, options | {"schedule": r})["algorithms"][0] for r in range(ranks)
    ]
    steps = [s["rank"]["steps"] for s in schedules]
    messages = [Counter(t["round"] for t in s if t["kind"] in ("send", "recv")) for s in steps]
    assert max(max(rounds.values()) for rounds in messages) >= 64
    starts = test_simulate.skew(ranks, 3e-6, 5)
    expected = slow_simulator.ends(MACHINE, node, steps, starts, queues, 7e-7)
    call = jobs.Call("neighbor_allgather", 64, "p2p:linear", ranks)
    job = jobs.text(
        MACHINE, ranks, jobs.nodes_words(ranks, 4), [7e-7, call] * 2,
        jobs.Skew("uniform", 3e-6, 5), queues, topology=topology,
    )  # fmt: skip
    for records in (None, 0):
        test_simulate.check(answer(built, job, records), expected, schedules[0], queues)


def test_a_graph_by_chance_takes_little_memory(built):
    """Nearly 300 thousand messages. All records, and what ranks know of each other's neighbours,
    would take over 250 bytes each.
    """
    call = jobs.Call("neighbor_allgather", 64, "p2p:linear", 600)
    job = jobs.text(MACHINE, 600, "150x4", [call], topology="spikes:1000")
    small = answer(built, job, 0, jobs.Limits(memory=32 << 20))
    assert small["messages"] > 280_000
    with pytest.raises(jobs.Refused, match="GiB"):
        answer(built, job, limits=jobs.Limits(memory=32 << 20))
    assert small == answer(built, job)


def test_too_many_records(built):
    job = job_of(jobs.Call("barrier", 0, "p2p:dissemination", 4))
    with pytest.raises(jobs.Refused, match="records"):
        answer(built, job, 1 << 40)
