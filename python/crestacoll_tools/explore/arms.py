# SPDX-License-Identifier: BSD-3-Clause
"""From a profile to what a race tries: the points that cost time, and choices for them."""

import re
from dataclasses import asdict, dataclass

from crestacoll_tools.race.race import MOST_ARMS, Arm
from crestacoll_tools.rules.collectives import REDUCTIONS, UNSIZED

MPI = "mpi"
MODELS = ("nonblock", "persist", "p2p", "shm", "os")
BY_NODES = "hier"  # on one node it is shm
SHARE = 0.01  # of the run's time: points below are left alone
OFTEN = 100  # calls that begin a collective
DOMINANT = 0.05  # algorithms are tried for a point with this share
MOST_POINTS = 8
MOST_SPLIT = 4  # points whose rules are tried one by one
MOST_ALGORITHMS = 8
LONGEST_PATTERN = 63  # of a rule
LARGE = 16 << 10  # bytes of data that the kernel may copy
COPIES = {"shm": "shm?copy=single"}


@dataclass(frozen=True)
class Point:
    """Calls of one collective, communicator and size class. `share` and `waiting` are fractions of
    the time of the run, `nodes` of its communicators; None: not known. Without a profile there is
    one point, "*", which is all calls.
    """

    collective: str
    communicator: str = ""
    processes: int | None = None
    low: int | None = None
    high: int | None = None
    share: float = 1.0
    waiting: float | None = None
    nodes: int | None = None

    @property
    def where(self):
        """Without sizes, as a user reads it: alltoall@row."""
        name = f"@{self.communicator}" if self.communicator else ""
        return f"{self.collective}{name}"

    @property
    def pattern(self):
        """The communicator in a rule. What would end a pattern may be any character."""
        kept = re.sub(r"[=,\s]", "*", self.communicator)
        short = kept.encode("utf-8", errors="surrogateescape")[:LONGEST_PATTERN]
        if len(short) < len(kept.encode("utf-8", errors="surrogateescape")):
            return short[:-1].decode("utf-8", errors="ignore") + "*"
        return kept

    @property
    def reduces(self):
        return self.collective in REDUCTIONS or self.collective == "*"

    def rule(self, implementation, high="same"):
        """The rule of this point, or of a range of sizes that begins with it."""
        last = self.high if high == "same" else high
        size = "" if self.low is None else f"[{self.low}-{'inf' if last is None else last}]"
        ranks = "" if self.processes is None else f"({self.processes})"
        name = f"@{self.pattern}" if self.communicator else ""
        return f"{self.collective}{size}{ranks}{name}={implementation}"

    def as_dict(self):
        return asdict(self)


EVERYTHING = Point("*")


@dataclass(frozen=True)
class Choice:
    """Implementations of some points, ((index of the point, implementation), ...); all other calls
    are the MPI's own.
    """

    name: str
    picks: tuple = ()

    def of(self, index):
        return dict(self.picks).get(index, MPI)

    def but(self, name, index, implementation):
        """This choice with one point changed."""
        changed = dict(self.picks) | {index: implementation}
        picks = tuple(sorted((i, w) for i, w in changed.items() if w != MPI))
        return Choice(name, picks)

    def rules(self, points, keep_rounding=False):
        """As a list, the last for all other calls."""
        first = []
        if keep_rounding and any(points[i].collective == "*" for i, _ in self.picks):
            first = [f"{c}={MPI}" for c in REDUCTIONS]
        return [*first, *(rule for rule, _, _ in merged(self.picks, points)), *last(self, points)]

    def arm(self, points, keep_rounding=False, number=0):
        return Arm(self.name, ",".join(self.rules(points, keep_rounding)), number)


REFERENCE = Choice(MPI)
COMBINED = "combined"  # the name of a choice made of those of the race rule by rule


def last(choice, points):
    everything = any(points[i].collective == "*" for i, _ in choice.picks)
    return [] if everything else [f"*={MPI}"]


def guarded(picks, points):
    """With the MPI's own where a rule for communicators without a name, which matches those with
    one too, would reach a point that nothing was chosen for.
    """
    chosen = dict(picks)
    wide = {
        (points[i].collective, points[i].processes) for i in chosen if not points[i].communicator
    }
    for i, p in enumerate(points):
        if p.communicator and (p.collective, p.processes) in wide:
            chosen.setdefault(i, MPI)
    return chosen.items()


def merged(picks, points):
    """[(rule, indices of its points, largest size)]; neighbouring size classes with one
    implementation share a rule. Communicators without a name come last.
    """

    def order(pick):
        p = points[pick[0]]
        return p.collective, not p.communicator, p.communicator, p.processes or 0, p.low or 0

    groups = []
    for index, implementation in sorted(guarded(picks, points), key=order):
        here = points[index]
        if groups:
            before, same = points[groups[-1][0][-1]], groups[-1][1] == implementation
            together = (before.collective, before.communicator, before.processes) == (
                here.collective,
                here.communicator,
                here.processes,
            )
            if same and together and before.high is not None and before.high + 1 == here.low:
                groups[-1][0].append(index)
                continue
        groups.append(([index], implementation))
    return [
        (points[i[0]].rule(how, points[i[-1]].high), i, points[i[-1]].high) for i, how in groups
    ]


def usable(record, keep_rounding, begins=False):
    return (
        record["mode"] in (("blocking", "nonblocking") if begins else ("blocking",))
        and record["processes"] > 1
        and not (keep_rounding and record["collective"] in REDUCTIONS)
    )


def share_of(profile, keep_rounding=False, begins=False):
    """The part of the run's time that calls take for which there is a choice, mean over the ranks:
    all that can be gained.
    """
    wall = profile["wall_s"] * 1e6 * profile["ranks"]
    mine = [r for r in profile["records"] if usable(r, keep_rounding, begins)]
    inside = sum(r["time_us"]["mean"] * r["ranks"] for r in mine)
    return min(1.0, inside / wall) if wall else 0.0


def points_of(profile, keep_rounding=False, begins=False, named=True, least=None):
    """The points that cost at least SHARE, or `least`, of the run's time, the most expensive first.
    With `begins` also those of calls that begin a collective. The time of such calls does not say
    what they cost: those that begin often enough count, whatever their time. Without `named`,
    communicators of one size are one.
    """
    wall, found, often = profile["wall_s"] * 1e6, {}, set()
    for r in profile["records"]:
        if not usable(r, keep_rounding, begins):
            continue
        sized = r["collective"] not in UNSIZED
        low, high = (r["bytes_min"], r["bytes_max"]) if sized else (None, None)
        part = r["ranks"] / profile["ranks"] / wall if wall else 0.0
        communicator = r["communicator"] if named else ""
        key = (r["collective"], communicator, r["processes"], low, high)
        share, wait, nodes = found.get(key, (0.0, None, None))
        if r["wait_us"]:
            wait = (wait or 0.0) + r["wait_us"]["mean"] * part
        nodes = max(nodes or 0, r["nodes"] or 0) or None
        found[key] = (share + r["time_us"]["mean"] * part, wait, nodes)
        often |= {key} if r["mode"] != "blocking" and r["calls"] >= OFTEN else set()
    points = [(Point(*key, *cost), key in often) for key, cost in found.items()]
    least = SHARE if least is None else least
    heavy = [p for p, counts in points if counts or p.share >= least]
    return sorted(heavy, key=lambda p: -p.share)[:MOST_POINTS]


def time_parts(profile):
    """Where the time of the run goes, in fractions: outside collectives, waiting for late ranks
    (at least: only where it was measured), and the rest of the time in collectives (at most);
    and the calls of all ranks.
    """
    wall = profile["wall_s"] * 1e6 * profile["ranks"]
    inside = waiting = 0.0
    for r in profile["records"]:
        inside += r["time_us"]["mean"] * r["ranks"]
        waiting += (r["wait_us"] or {"mean": 0.0})["mean"] * r["ranks"]
    inside, waiting = (min(1.0, x / wall) if wall else 0.0 for x in (inside, waiting))
    waiting = min(waiting, inside)
    calls = sum(r["calls_total"] for r in profile["records"])
    parts = {"outside": 1 - inside, "waiting": waiting, "transfer": inside - waiting}
    return parts | {"calls": calls}


def spans_nodes(point):
    return (point.nodes or 0) > 1


def working(description, points):
    """The models to try."""
    works = {m["name"] for m in description["models"] if m["works"]}
    names = [*MODELS, *([BY_NODES] if any(map(spans_nodes, points)) else [])]
    return [n for n in names if n in works]


def that_differ(models, point):
    """Those that are not another one at this point."""
    return [m for m in models if m != BY_NODES or spans_nodes(point)]


def model_choices(points, description):
    """The first race: each model on all points."""
    every = range(len(points))
    return [Choice(m, tuple((i, m) for i in every)) for m in working(description, points)]


def unique(choices):
    """Without the choices that say the same as an earlier one."""
    return list({c.picks: c for c in reversed(choices)}.values())[::-1]


def named(points, index):
    """A point in the name of an arm, which has no blanks: with the size if it needs one."""
    p = points[index]
    alike = sum(q.where == p.where for q in points)
    size = f"[{p.low}]" if alike > 1 and p.low is not None else ""
    return re.sub(r"\s", "_", f"{p.collective}{size}" + (f"@{p.pattern}" if p.communicator else ""))


def point_choices(points, leader, ranking):
    """The second race: is each rule of the leader worth it, and is another model better at one
    point? At the one that costs most, all of them are tried. Without a leader: each model at one
    point only, since it may be good there and bad elsewhere. `ranking`: models, the best first.
    """
    top, found = range(min(len(points), MOST_SPLIT)), []
    if len(points) < 2:
        return []
    if not leader.picks:
        for index in top:
            for model in that_differ(ranking, points[index]):
                found.append(REFERENCE.but(f"{named(points, index)}={model}", index, model))
        return unique(found)[: MOST_ARMS - 1]
    for index in top:
        others = [m for m in that_differ(ranking, points[index]) if m != leader.name]
        name = f"{leader.name},{named(points, index)}="
        for how in [MPI, *(others if index == 0 else others[:1])]:
            found.append(leader.but(name + how, index, how))
    return [c for c in unique(found) if c.picks and c.picks != leader.picks]


def single_copy(model, collective, low):
    """The way of a model in which the kernel copies large data; tried beside its algorithms."""
    large = collective != "barrier" and (low is None or low >= LARGE)
    return [COPIES[model]] if large and model in COPIES else []


def algorithm_choices(points, leader, ranking, description):
    """The third race: algorithms for the point that costs most."""
    if not points or points[0].collective == "*" or points[0].share < DOMINANT:
        return []
    models = {m["name"]: m for m in description["models"] if m["works"]}
    now = leader.of(0).partition(":")[0].partition("?")[0]
    with_algorithms = [m for m in [now, *ranking] if models.get(m, {}).get("algorithms")]
    if not with_algorithms:
        return []
    model = with_algorithms[0]
    ways = ways_of(model, models, points[0])
    start = "" if not leader.picks else leader.name + ","
    return [leader.but(f"{start}{named(points, 0)}={way}", 0, way) for way in ways]


def algorithms_of(model, models, point):
    """Those that know nodes come first."""
    names = [a["name"] for a in models[model]["algorithms"].get(point.collective, [])]
    return [f"{model}:{name}" for name in names[:MOST_ALGORITHMS]]


def node_algorithms(models, point):
    """Those that only the model which knows nodes has."""
    known = {a["name"] for a in models["p2p"]["algorithms"].get(point.collective, [])}
    ways = algorithms_of(BY_NODES, models, point)
    return [way for way in ways if way.partition(":")[2] not in known]


def ways_of(model, models, point):
    """What to try of a model for a point: its algorithms, another way to copy, and where ranks are
    on several nodes, algorithms that know them.
    """
    ways = single_copy(model, point.collective, point.low) + algorithms_of(model, models, point)
    beside = spans_nodes(point) and model != BY_NODES and {BY_NODES, "p2p"} <= set(models)
    return ways + (node_algorithms(models, point) if beside else [])
