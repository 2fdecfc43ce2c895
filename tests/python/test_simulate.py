# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll-simulate: its times are those of a plain simulator, and of formulas that anybody can
check.
"""

import itertools

import pytest
import slow_simulator
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.builds import builds
from crestacoll_tools.cli import explain
from crestacoll_tools.simulate import jobs

MASK = (1 << 64) - 1

# Costs without a common divisor, and ranks that begin at times of their own: messages that come to
# an interface at one time are rare. Those that one receiver grants together leave at one time
# nevertheless; there the plain simulator takes the same order, that of the receives.
MACHINE = {
    "levels": {
        "cache": {"ranks": 2, "latency": 1.01e-7, "send": 1.7e-8, "receive": 2.3e-8, "eager": 3000,
                  "send_byte": 1.9e-11, "receive_byte": 2.9e-11},
        "node": {"latency": 3.1e-7, "send": 3.7e-8, "receive": 4.1e-8, "byte": 1.3e-11},
        "group": {"nodes": 2, "latency": 1.07e-6, "send": 2.3e-7, "receive": 1.9e-7, "gap": 1.3e-8,
                  "byte": 1.1e-10, "eager": 1000},
        "network": {"latency": 2.03e-6, "send": 2.9e-7, "receive": 3.1e-7, "gap": 1.7e-8,
                    "byte": 0.7e-10, "eager": 1000},
    },
    "copy": {"each": 1.1e-8, "byte": 5.3e-11},
    "reduce": {"each": 1.3e-8, "byte": 1.01e-10},
    "round": 2.1e-8,
}  # fmt: skip
NETWORK = {"latency": 1e-6, "send": 2e-7, "receive": 3e-7, "byte": 1e-9, "gap": 1e-8}


@pytest.fixture(scope="module", name="built")
def find_build():
    found = builds.all_builds()
    return found[0] if found else pytest.skip("nothing is built")


def skew(ranks, seconds, seed):
    """The same numbers as the program makes."""
    found, state = [], seed
    for _ in range(ranks):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        found.append((((z ^ z >> 31) >> 11) + 0.5) / 2**53 * seconds)
    return [t - min(found) for t in found]


def simulated(build, machine, nodes, steps, ranks, **options):
    return jobs.run(build, jobs.text(machine, ranks, nodes, steps, **options))


COLLECTIVES = (
    "allgather allreduce alltoall barrier bcast exscan gather reduce reduce_scatter"
    " reduce_scatter_block scan scatter allgatherv alltoallv alltoallw gatherv scatterv"
).split()
ROOTED = "bcast gather gatherv reduce scatter scatterv".split()
UNEVEN = [0, 0, 0, 1, 2, 2, 3]
SQUARE = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]


def check(got, expected, counted, what):
    """What the program gave, against when each rank ends and what `explain` counts."""
    first, mean, final = got["end"][-1]
    assert final == pytest.approx(max(expected), rel=1e-6), what
    assert first == pytest.approx(min(expected), rel=1e-6), what
    assert mean == pytest.approx(sum(expected) / len(expected), rel=1e-6), what
    for key in ("messages", "bytes", "messages_between_nodes", "bytes_between_nodes"):
        assert got[key] == 2 * counted[key], what


def algorithms(build, collective, node):
    """The names of all, and of those that are for ranks on these nodes."""
    words = [collective, len(node)]
    asked = explain.ask(build, words, {"nodes": ",".join(map(str, node))})["algorithms"]
    return {a["name"] for a in asked}, {a["name"] for a in asked if a["usable"]}


def compare(build, node, call, queues):
    """Both simulators: two calls, each after a computation, by ranks that begin late."""
    name, nodes, ranks = call.implementation.partition(":")[2], ",".join(map(str, node)), len(node)
    options = {"nodes": nodes, "algorithm": name, "bytes": call.bytes, "root": call.root or None}
    found = [
        explain.ask(build, [call.collective, ranks], options | {"schedule": r})["algorithms"][0]
        for r in range(ranks)
    ]
    schedules = [f["rank"]["steps"] for f in found]
    starts = skew(ranks, 3e-6, 5)
    given = jobs.Skew("uniform", 3e-6, 5)
    for queue in queues:
        expected = slow_simulator.ends(MACHINE, node, schedules, starts, queue, 7e-7)
        steps = [7e-7, call, 7e-7, call]
        got = simulated(build, MACHINE, nodes, steps, ranks, skew=given, queues=queue)
        check(got, expected, found[0], (call, queue))


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_every_algorithm_takes_the_time_of_the_plain_simulator(built, collective):
    """What needs equal nodes or a power of two of ranks runs on such."""
    every, uneven = algorithms(built, collective, UNEVEN)
    square = algorithms(built, collective, SQUARE)[1]
    assert uneven and uneven | square == every  # so none is left out
    for name, size in itertools.product(sorted(uneven), (8, 5000)):
        compare(built, UNEVEN, jobs.Call(collective, size, f"p2p:{name}", 7), (True, False))
    for name in sorted(square - uneven):
        compare(built, SQUARE, jobs.Call(collective, 5000, f"p2p:{name}", 16), (True, False))


@pytest.mark.parametrize("collective", ROOTED)
def test_another_root(built, collective):
    for name in sorted(algorithms(built, collective, UNEVEN)[1]):
        compare(built, UNEVEN, jobs.Call(collective, 5000, f"p2p:{name}", 7, root=4), (True,))


def last(build, steps, ranks, per_node=1, **options):
    machine = {"levels": {"node": {}, "network": NETWORK | options.pop("network", {})}}
    machine |= options.pop("more", {})
    nodes = jobs.nodes_words(ranks, per_node)
    return simulated(build, machine, nodes, steps, ranks, **options)["end"][-1][2]


def test_one_message(built):
    call = jobs.Call("bcast", 1000, "p2p:binomial", 2)
    assert last(built, [call], 2) == pytest.approx(2e-7 + 1e-6 + 1000e-9 + 3e-7)


def test_a_message_that_waits_for_its_receiver(built):
    """It asks, is granted, and goes: two more latencies."""
    call = jobs.Call("bcast", 1000, "p2p:binomial", 2)
    time = last(built, [call], 2, network={"eager": 999})
    assert time == pytest.approx(2e-7 + 3e-6 + 1000e-9 + 3e-7)


def test_messages_to_one_node_queue(built):
    call = jobs.Call("gather", 1000, "p2p:linear", 9)
    one_by_one = 8 * 1000e-9 + 7 * 1e-8
    assert last(built, [call], 9) == pytest.approx(2e-7 + 1e-6 + one_by_one + 3e-7)
    at_once = last(built, [call], 9, queues=False)
    assert at_once == pytest.approx(2e-7 + 1e-6 + 1000e-9 + 8 * 3e-7)


def test_messages_that_wait_leave_in_the_order_of_their_receives(built):
    """Each rank sends to its neighbours first: no two to one rank at a time. All messages wait, and
    are granted when the receives are posted; they still go one after the other, without gaps.
    """
    call = jobs.Call("alltoall", 10000, "p2p:linear", 16)
    carried = 15 * (10000e-9 + 1e-8)
    begin = 15 * 2e-7 + 3 * 1e-6 + 3e-7
    assert last(built, [call], 16, network={"eager": 0}) <= carried + begin
    assert last(built, [call], 16) <= carried + begin


def test_a_ring(built):
    call = jobs.Call("allgather", 1000, "p2p:ring", 100)
    step = 2e-7 + 1e-6 + 1000e-9 + 3e-7
    time = last(built, [call], 100, more={"round": 5e-8})
    assert time == pytest.approx(99 * step + 5e-8)  # a round for the own block; others hide it


def test_calls_follow_one_another_and_computation_is_a_step(built):
    call = jobs.Call("bcast", 1000, "p2p:binomial", 2)
    one = last(built, [call], 2)
    assert last(built, [1e-3, call], 2) == pytest.approx(1e-3 + one)
    twice = last(built, [call, jobs.Call("bcast", 1000, "p2p:binomial", 2, root=1)], 2)
    assert twice == pytest.approx(2 * one)


def test_computation_beside_a_collective(built):
    def beside(seconds, driven):
        call = jobs.Call("allgather", 1000, "p2p:ring", 4, overlap=seconds, driven=driven)
        return last(built, [call], 4)

    alone = beside(0.0, True)
    assert beside(1e-3, True) == pytest.approx(1e-3)
    assert beside(1e-7, True) == pytest.approx(alone)
    assert beside(1e-3, False) > 1e-3 + alone / 2


def test_rows_and_columns(built):
    """Rows of 4 within nodes of 4 cost the network nothing; columns cross it."""
    row = jobs.Call("alltoall", 1000, "p2p:pairwise", 4)
    column = jobs.Call("alltoall", 1000, "p2p:pairwise", 4, stride=4)
    machine = {"levels": {"node": {"latency": 1e-7}, "network": NETWORK}}
    by_row = simulated(built, machine, "4x4", [row], 16)
    assert by_row["messages"] == 48 and by_row["messages_between_nodes"] == 0
    assert by_row["end"][0][2] == pytest.approx(3e-7)
    by_column = simulated(built, machine, "4x4", [column], 16)
    assert by_column["messages_between_nodes"] == by_column["messages"] == 48


def test_ranks_that_do_the_same_share_what_they_do(built):
    call = jobs.Call("alltoall", 8, "p2p:pairwise", 512)
    assert simulated(built, MACHINE, "64x8", [call], 512)["programs"] == 1


@pytest.mark.parametrize(
    "line, said",
    [
        ("call alltoall 8 nonsense 4 1 0", "has no algorithm 'nonsense'"),
        ("call alltoall 8 bruck 3 1 0", "do not divide 4 ranks"),
        ("call allreduce 8 swing?x=1 4 1 0", "has no parameter 'x'"),
        ("call bcast 8 linear 4 1 4", "root: 4 is not possible"),
        ("call allreduce 8 lanes 3 1 0", "do not divide"),
        ("compute -1", "is no time in seconds"),
        ("overlap 1 thread", "no call before it"),
        ("compute 1e7", "only up to 1000000 seconds"),
        ("compute 1e300", "only up to 1000000 seconds"),
        ("skew uniform 1e7 1", "only up to 1000000 seconds"),
        ("ranks 8", "ranks: twice"),
        ("queues no", "queues: twice"),
        ("machine round=1", "machine: twice"),
        pytest.param(
            "compute 1\n" * 1025 + "repeat 1048576", "more than 1073741824 calls", id="many calls"
        ),
        ("nonsense", "no line 'nonsense'"),
    ],
)
def test_what_cannot_be_asked(built, line, said):
    job = f"ranks 4\nnodes 2x2\nmachine network.latency=1e-6\nqueues yes\n{line}\n"
    with pytest.raises(jobs.Refused, match=said.replace("?", r"\?")):
        jobs.run(built, job)


def test_a_wrong_machine(built):
    for text, said in (
        ("network.speed=1", "no parameter"),
        ("round=x", "is no number"),
        ("round=1e4", "only up to 1000 seconds"),
        ("network.byte=1e300", "only up to 1000 seconds"),
        ("cache.ranks=0", "only whole numbers from 1 to 2147483647"),
        ("group.nodes=1.5", "only whole numbers"),
        ("group.nodes=1e10", "only whole numbers"),
    ):
        with pytest.raises(jobs.Refused, match=said):
            jobs.run(built, f"ranks 2\nnodes 2x1\nmachine {text}\n")


def test_a_job_without_a_machine(built):
    with pytest.raises(jobs.Refused, match="no machine"):
        jobs.run(built, "ranks 2\nnodes 2x1\ncall bcast 8 binomial 2 1 0\n")


def test_times_beyond_what_there_is(built):
    """Neither infinite nor negative, but refused."""
    network = {"latency": 1000, "byte": 1000}
    call = jobs.Call("bcast", 1 << 40, "p2p:binomial", 2)
    for steps, times in (([call], 1), ([1e6], 10), ([1e6, call], 1)):
        for queues in (True, False):
            with pytest.raises(jobs.Refused, match="times beyond 100 days"):
                last(built, steps, 2, network=network, times=times, queues=queues)
    assert last(built, [1e6], 2, times=9) == pytest.approx(9e6)


def test_many_nodes_of_which_the_last_is_not_full(built):
    """A line of 400000 characters, read once."""
    call = jobs.Call("bcast", 8, "p2p:linear", 200001)
    found = last(built, [call], 200001, per_node=2)
    assert found == pytest.approx(last(built, [call], 200001, per_node=2, queues=False), rel=0.1)


def test_parameters_may_have_units(built):
    times = [
        last(built, [jobs.Call("bcast", 100000, f"p2p:pipeline?segment={n}", 4)], 4)
        for n in ("4K", "4096", "8K")
    ]
    assert times[0] == times[1] != times[2]


def test_a_crash_is_no_limit(built, tmp_path):
    """A program that a signal ends has an error; one that a limit ends takes too long."""

    class Crashing:
        def program(self, name):
            path = tmp_path / name
            path.write_text("#!/bin/sh\nkill -SEGV $$\n")
            path.chmod(0o755)
            return str(path)

    with pytest.raises(Problem, match="failed: -11"):
        jobs.run(Crashing(), "")


def test_limits(built):
    call = jobs.Call("allgather", 8, "p2p:ring", 4096)
    job = jobs.text(MACHINE, 4096, "4096x1", [call], times=100)
    with pytest.raises(jobs.Refused, match="takes more than 1 s"):
        jobs.run(built, job, jobs.Limits(seconds=1))
    call = jobs.Call("allreduce", 8, "p2p:recursive_doubling", 1 << 20)
    job = jobs.text(MACHINE, 1 << 20, "32768x32", [call])
    with pytest.raises(jobs.Refused, match="takes more than 0 GiB"):
        jobs.run(built, job, jobs.Limits(memory=1 << 26))
