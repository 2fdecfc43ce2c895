# SPDX-License-Identifier: BSD-3-Clause
"""The machine of docs/simulating.md once more, as plainly as can be: what crestacoll-simulate must
give for the schedules of a few ranks. One event after the other, no sharing, no short cuts.
"""

import collections
import heapq
import itertools
import math


class Message:
    def __init__(self, sender, receiver, n):
        self.sender, self.receiver, self.n = sender, receiver, n
        self.posted = None  # when its receiver was ready
        self.arrived = None


class Machine:
    """`levels` as in a machine file; ranks of a node are numbered through."""

    def __init__(self, data, node, queues):
        self.data, self.node, self.queues = data, node, queues
        self.place = [node[:r].count(node[r]) for r in range(len(node))]

    def level_name(self, a, b):
        levels = self.data["levels"]
        if self.node[a] == self.node[b]:
            share = levels.get("cache", {}).get("ranks")
            near = share and self.place[a] // share == self.place[b] // share
            return "cache" if near else "node"
        nodes = levels.get("group", {}).get("nodes")
        near = nodes and self.node[a] // nodes == self.node[b] // nodes
        return "group" if near else "network"

    def cost(self, message, key, default=0.0):
        name = self.level_name(message.sender, message.receiver)
        return self.data["levels"][name].get(key, default)

    def path(self, message):
        """The interfaces on its way: (what it is, costs, latency behind it)."""
        levels = self.data["levels"]
        name = self.level_name(message.sender, message.receiver)
        if not self.queues or name in ("cache", "node"):
            return []
        out, into = self.node[message.sender], self.node[message.receiver]
        per_group = levels.get("group", {}).get("nodes")
        at_node = levels["group"] if per_group else levels["network"]
        latency = levels[name].get("latency", 0)
        if per_group and name == "network":
            return [
                (("out", out), at_node, 0),
                (("group out", out // per_group), levels["network"], latency),
                (("group in", into // per_group), levels["network"], 0),
                (("in", into), at_node, 0),
            ]
        return [(("out", out), at_node, latency), (("in", into), at_node, 0)]


class World:
    def __init__(self, machine):
        self.machine = machine
        self.heap, self.numbers = [], itertools.count()
        self.free = collections.defaultdict(float)  # when an interface is
        self.sent = collections.defaultdict(collections.deque)  # not met by a receive
        self.wanted = collections.defaultdict(collections.deque)  # receives not met by a message
        self.ranks = []

    def at(self, time, what):
        heapq.heappush(self.heap, (time, next(self.numbers), what))

    def send(self, message, time):
        """The processor of the sender is done with it."""
        pair = message.sender, message.receiver
        asks = message.n > self.machine.cost(message, "eager", math.inf)
        message.asked = time if asks else None
        if self.wanted[pair]:
            message.posted = self.wanted[pair].popleft()
        else:
            self.sent[pair].append(message)
        if not asks:
            self.start(message, time)
        elif message.posted is not None:
            self.grant(message)
        return asks

    def receive(self, sender, receiver, time):
        """The message that it meets, if it has been sent."""
        pair = sender, receiver
        if not self.sent[pair]:
            self.wanted[pair].append(time)
            return
        message = self.sent[pair].popleft()
        message.posted = time
        if message.arrived is not None:
            self.ranks[receiver].done(message)
        elif message.asked is not None:
            self.grant(message)

    def grant(self, message):
        latency = self.machine.cost(message, "latency")
        self.start(message, max(message.asked + latency, message.posted) + latency)

    def start(self, message, time):
        path = self.machine.path(message)
        if path:
            self.at(time, lambda: self.pass_interface(message, path, 0, time, time))
            return
        tail = time + message.n * self.machine.cost(message, "byte")
        self.leave(message, tail)
        self.arrive(message, tail + self.machine.cost(message, "latency"))

    def pass_interface(self, message, path, i, head, tail):
        which, costs, latency = path[i]
        carry = message.n * costs.get("byte", 0)
        start = max(head, self.free[which])
        self.free[which] = start + costs.get("gap", 0) + carry
        tail = max(tail, start + carry)
        if i == 0:
            self.leave(message, tail)
        head, tail = start + latency, tail + latency
        if i + 1 == len(path):
            self.arrive(message, tail)
        else:
            self.at(head, lambda: self.pass_interface(message, path, i + 1, head, tail))

    def leave(self, message, time):
        if message.asked is not None:
            self.ranks[message.sender].left(time)

    def arrive(self, message, time):
        message.arrived = time
        if message.posted is not None:
            self.ranks[message.receiver].done(message)


class Rank:
    def __init__(self, world, number, rounds, start):
        self.world, self.number = world, number
        self.open, self.arrivals, self.gone, self.waits = 0, [], 0.0, False
        self.end = None
        self.life = self.live(rounds, start)
        world.at(start, self.go_on)

    def go_on(self):
        until = next(self.life, None)
        if until is not None:
            self.world.at(until, self.go_on)

    def done(self, message):
        self.arrivals.append(message)
        self.close()

    def left(self, time):
        self.gone = max(self.gone, time)
        self.close()

    def close(self):
        self.open -= 1
        if self.open == 0 and self.waits:
            self.waits = False
            self.go_on()

    def live(self, rounds, time):
        """Yields times at which it wants to go on; None: when its messages are done."""
        machine = self.world.machine
        for one in rounds:
            if isinstance(one, float):
                time += one
                yield time
                continue
            sends, receives, local = one
            for peer, n in sends:
                message = Message(self.number, peer, n)
                time += machine.cost(message, "send") + n * machine.cost(message, "send_byte")
                yield time
                self.open += 1
                if not self.world.send(message, time):
                    self.open -= 1
            self.open += len(receives)
            for peer, _ in receives:
                self.world.receive(peer, self.number, time)
            for kind, n in local:
                costs = machine.data.get(kind, {})
                time += costs.get("each", 0) + n * costs.get("byte", 0)
                yield time
            time += machine.data.get("round", 0)
            if self.open:
                self.waits = True
                yield None
            time = max(self.take(machine, time), self.gone)
            self.arrivals, self.gone = [], 0.0
            yield time
        self.end = time

    def take(self, machine, time):
        for m in sorted(self.arrivals, key=lambda m: m.arrived):
            time = max(time, m.arrived) + machine.cost(m, "receive")
            time += m.n * machine.cost(m, "receive_byte")
        return time


def rounds_of(steps):
    """Steps of crestacoll-explain as rounds: (sends, receives, local work)."""
    found = collections.defaultdict(lambda: ([], [], []))
    for step in steps:
        sends, receives, local = found[step["round"]]
        if step["kind"] in ("copy", "reduce"):
            local.append((step["kind"], step["bytes"]))
        else:
            (sends if step["kind"] == "send" else receives).append((step["peer"], step["bytes"]))
    return [found[i] for i in sorted(found)]


def ends(data, node, schedules, starts, queues, compute=0.0):
    """When each rank ends who computes, and then calls twice; `schedules` are the steps of all
    ranks.
    """
    world = World(Machine(data, node, queues))
    world.ranks = [
        Rank(world, r, [compute, *rounds_of(steps)] * 2, starts[r])
        for r, steps in enumerate(schedules)
    ]
    while world.heap:
        _, _, what = heapq.heappop(world.heap)
        what()
    return [rank.end for rank in world.ranks]
