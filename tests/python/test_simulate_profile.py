# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll simulate --profile`: what the calls of a profile take at another scale."""

import json

import place_data
import pytest
import report_data
from click.testing import CliRunner
from crestacoll_tools import cli
from crestacoll_tools.builds import builds
from crestacoll_tools.profile import profiles
from crestacoll_tools.simulate import jobs, replay, sweep
from crestacoll_tools.simulate.shapes import Shape
from library_runs import AS_ROOT

pytestmark = pytest.mark.by_turns

SEND, RECEIVE, LATENCY, BYTE = 2e-7, 3e-7, 1e-6, 1e-9
NETWORK = {"latency": LATENCY, "send": SEND, "receive": RECEIVE, "byte": BYTE}
MACHINE = {
    **{"schema": "crestacoll-machine-1", "name": "made up", "source": "for tests"},
    **{"ranks_per_node": 1, "levels": {"node": {}, "network": NETWORK}},
}


@pytest.fixture(autouse=True)
def need_build():
    if not builds.all_builds():
        pytest.skip("nothing is built")


def simulate(folder, data, *words, machine=MACHINE):
    """The result of the sub-command for a profile."""
    file = place_data.write(folder, data)
    (folder / "machine.json").write_text(json.dumps(machine))
    words = ["simulate", "--profile", file, "--machine", folder / "machine.json", *words]
    return CliRunner().invoke(cli.main, [str(w) for w in words])


def told(folder, data, *words, machine=MACHINE):
    """What it writes as JSON."""
    ran = simulate(folder, data, *words, "--json", machine=machine)
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def class_of(classes, collective, communicator):
    (found,) = [
        c for c in classes if (c["collective"], c["communicator"]) == (collective, communicator)
    ]
    return found


def times_of(found):
    return {t["implementation"]: t["time_s"] for t in found["times"]}


def profile_of_four():
    """2 by 2 ranks, two seconds; calls take a second together, of which barriers are half."""
    data = place_data.grid(2, 2, row={"alltoall": 1000}, col={"alltoall": 1000})
    data["records"].append(place_data.record("MPI_COMM_WORLD", 4, "barrier", 1, 0))
    for record, seconds in zip(data["records"], (0.25, 0.125, 0.125, 0.5)):
        of_a_call = {"alltoall": 1000, "allreduce": 8, "barrier": 0}[record["collective"]]
        record["bytes_total"] = of_a_call * record["calls_total"]
        record["time_us"] = {name: 1e6 * seconds for name in ("min", "mean", "max")}
        record["bytes_min"], record["bytes_max"] = {
            "alltoall": (512, 1023), "allreduce": (8, 15), "barrier": (0, 0)
        }[record["collective"]]  # fmt: skip
    return data


def message(size):
    """Time from one rank to another, from the begin of the call to the end of the receive."""
    return SEND + LATENCY + size * BYTE + RECEIVE


def test_recorded_against_simulated(tmp_path):
    found = told(tmp_path, profile_of_four(), "-n", 16, "--impl", "p2p")["recorded"]
    row = class_of(found["classes"], "alltoall", "row")
    assert (row["calls"], row["bytes"]) == (10, 1000)
    assert row["recorded_s"] == pytest.approx(0.025)
    assert row["simulated_as"] == "p2p" and row["ran"] == "mpi"
    assert row["simulated_s"] == pytest.approx(message(1000))
    run = found["run"]
    assert (run["wall_s"], run["outside_s"], run["left_out_s"]) == (2.0, 1.0, 0.0)
    assert run["classes_s"] == pytest.approx(1.0)
    parts = sum(c["calls"] * c["simulated_s"] for c in found["classes"])
    assert run["simulated_wall_s"] == pytest.approx(1.0 + parts)


def test_another_scale(tmp_path):
    """4 by 4 ranks, a node each: rows have 4 blocks of half the size, weakly scaled."""
    data = told(tmp_path, profile_of_four(), "-n", "16,4")
    large, small = data["scales"]
    assert data["simulated"] and data["scaling"] == "weak" and data["machine"]["name"] == "made up"
    row = class_of(large["classes"], "alltoall", "row")
    assert (row["processes"], row["stride"], row["bytes"]) == (4, 1, 500)
    assert class_of(large["classes"], "alltoall", "col")["stride"] == 4
    # Three messages: one after the other; all at once, but for the interface of the node.
    assert times_of(row)["p2p:pairwise"] == pytest.approx(3 * message(500))
    assert times_of(row)["p2p:linear"] == pytest.approx(message(500) + 2 * 500 * BYTE)
    assert row["best"] == "p2p"  # which is linear here
    everyone = class_of(large["classes"], "allreduce", "MPI_COMM_WORLD")
    assert everyone["best"] == "p2p:recursive_multiplying"  # two rounds of 4 ranks, not four of 2
    assert "allreduce[8-15](16)@MPI_COMM_WORLD=p2p:recursive_multiplying" in large["rules"]
    for c in large["classes"]:
        assert min(times_of(c).values()) == times_of(c)[c["best"]]
    best = sum(c["calls"] * times_of(c)[c["best"]] for c in large["classes"])
    assert large["run"]["best_s"] == pytest.approx(best)
    p2p = sum(c["calls"] * times_of(c)["p2p"] for c in large["classes"])
    assert large["run"]["p2p_s"] == pytest.approx(p2p) and best <= p2p
    assert large["run"]["outside_s"] == pytest.approx(1.0)
    same = class_of(small["classes"], "alltoall", "row")
    assert times_of(same)["p2p"] == pytest.approx(message(1000))


def test_strong_scaling_divides_data_and_computation(tmp_path):
    data = told(tmp_path, profile_of_four(), "-n", 16, "--scaling", "strong", "--impl", "p2p")
    (scale,) = data["scales"]
    assert class_of(scale["classes"], "alltoall", "row")["bytes"] == 125
    assert class_of(scale["classes"], "allreduce", "MPI_COMM_WORLD")["bytes"] == 8
    assert scale["run"]["outside_s"] == pytest.approx(0.25)


def test_ranks_wait_as_long_as_they_did(tmp_path):
    """On a machine without any cost, all time is waiting."""
    data = profile_of_four()
    barrier = data["records"][-1]
    barrier["wait_us"] = report_data.waiting(4e5, 5e5)
    machine = MACHINE | {"levels": {"node": {}, "network": {}}}
    words = ["-n", "16", "--impl", "p2p"]
    found = told(tmp_path, data, *words, machine=machine)
    told_barrier = class_of(found["recorded"]["classes"], "barrier", "MPI_COMM_WORLD")
    assert told_barrier["waiting_s"] == pytest.approx(0.04)
    assert told_barrier["simulated_s"] == pytest.approx(0.04, rel=0.1)
    # The last of 16 is later than the last of 4: 15/17 of T/2 above the mean, instead of 3/5.
    (scale,) = found["scales"]
    told_later = class_of(scale["classes"], "barrier", "MPI_COMM_WORLD")
    later = times_of(told_later)["p2p"]
    assert told_later["waiting_s"] == pytest.approx(0.04 * 15 / 17 * 5 / 3)
    assert later == pytest.approx(told_later["waiting_s"], rel=0.1)
    strong = told(tmp_path, data, *words, "--scaling", "strong", machine=machine)["scales"][0]
    divided = times_of(class_of(strong["classes"], "barrier", "MPI_COMM_WORLD"))["p2p"]
    assert divided == pytest.approx(later / 4)
    punctual = told(tmp_path, data, *words, "--skew", "none", machine=machine)
    assert punctual["scales"][0]["run"]["p2p_s"] == 0


NEAR = {"latency": 1e-7, "send": 1e-8, "receive": 1e-8, "send_byte": 1e-10}
FAR = NETWORK | {"latency": 5e-6}
LEVELS = {
    "cache": NEAR | {"ranks": 2},
    "node": NEAR | {"latency": 3e-7},
    "group": NETWORK | {"nodes": 2},
    "network": FAR,
}


@pytest.mark.parametrize("nodes, many", [(1, 1024 // 3 + 1), (2, 171), (3, 1), (4, 86)])
def test_jobs_beside_each_other_do_not_notice_it(nodes, many):
    """Nodes of 3 ranks, in groups of two nodes: all draw the same lateness, which is none."""
    ranks = 3 * nodes
    setting = sweep.Setting(MACHINE | {"levels": LEVELS}, per_node=3)
    asked = replay.Asked([], False, {}, 1, None, 1)
    simulation = replay.Replay(builds.all_builds()[0], setting, asked, None)
    assert replay.copies(setting, ranks) == many
    for shape in (Shape(3), Shape(nodes, 3), Shape(ranks)):
        call = jobs.Call("alltoall", 5000, "p2p", shape.size, shape.stride)
        one = simulation.simulated(ranks, call, jobs.Skew())
        assert one["time_s"] is not None
        assert simulation.simulated(ranks, call, jobs.Skew("uniform", 0.0))["time_s"] == (
            pytest.approx(one["time_s"], rel=1e-9)
        )


def test_a_last_node_that_is_not_full():
    assert replay.nodes_words(4, 3, 2) == "3+1+3+1"
    assert replay.nodes_words(2, 32, 3) == "2+2+2"
    assert replay.nodes_words(1 << 20, 1, 1) == "1048576x1"


def test_what_runs_now_is_simulated_as_such(tmp_path):
    data = profile_of_four()
    data["records"][0]["implementation"] = "p2p:pairwise"
    data["records"][1]["implementation"] = "shm"
    found = told(tmp_path, data, "-n", 16, "--impl", "p2p")["recorded"]["classes"]
    assert class_of(found, "alltoall", "row")["simulated_as"] == "p2p:pairwise"
    assert class_of(found, "alltoall", "col")["simulated_as"] == "p2p"


def test_calls_beyond_the_top_count_as_recorded_and_only_there(tmp_path):
    found = told(tmp_path, profile_of_four(), "-n", 16, "--top", 1)
    run = found["recorded"]["run"]
    assert [c["collective"] for c in found["recorded"]["classes"]] == ["barrier"]
    assert run["left_out_s"] == pytest.approx(0.5)
    assert run["simulated_wall_s"] == pytest.approx(1.5 + run["simulated_classes_s"])
    shown = simulate(tmp_path, profile_of_four(), "-n", 16, "--top", 1).output
    assert "other numbers of ranks are without them" in shown
    # The grid is that of all calls: columns are there, though they are not simulated.
    wrong = simulate(tmp_path, profile_of_four(), "-n", 7, "--top", 1)
    assert wrong.exit_code == 2 and "no grid like that of 2x2 ranks" in wrong.output


def test_every_table_says_what_it_is(tmp_path):
    machine = MACHINE | {"fit": {"median": 0.2, "worst": 0.9, "points": 7}}
    shown = simulate(tmp_path, profile_of_four(), "-n", 16, "--steps", 5, machine=machine).output
    first = shown.splitlines()[0]
    assert "simulated, machine made up" in first and "20 % in the median" in first
    assert "weak scaling" in shown and "what those cost there is not known" in shown
    row = next(line.split() for line in shown.splitlines() if " row (2 -> 4) " in line)
    assert row[5:9] == ["1000", "->", "500", "2"]  # calls of a step, 1 of 5
    assert "Time of a rank in a step, 1 of 5" in shown
    assert "alltoall[256-511](4)@row=" in shown


@pytest.mark.parametrize(
    "words, text",
    [
        (["alltoall"], "COLLECTIVE (alltoall) and --profile do not go together"),
        (["--bytes", "8"], "--bytes goes with COLLECTIVE, not with --profile"),
        (["--plot", "a.png"], "--plot goes with COLLECTIVE, not"),
        (["--calibrate", "a"], "--profile and --calibrate or --check do not go together"),
        (["--output", "a"], "--output goes with --calibrate, not with --profile"),
        (["--comm", "row"], "expected sizes such as row=64,col=64"),
        (["--comm", "line=2"], "no communicator has this name; say NAME or SIZE:STRIDE of"),
        (["--comm", "MPI_COMM_WORLD=2"], "it has all the ranks"),
        (["--comm", "row=2,2:1=4"], "it has 2 by another name"),
        (["--impl", "p2p:ring"], "--impl p2p:ring: with --profile all, or p2p, hier"),
    ],
)
def test_what_does_not_go_together(tmp_path, words, text):
    ran = simulate(tmp_path, profile_of_four(), "-n", 16, *words)
    assert ran.exit_code == 2 and text in ran.output


def test_options_of_a_profile_need_one():
    words = ["simulate", "-n", "8", "--machine", "none"]
    ran = CliRunner().invoke(cli.main, words)
    assert ran.exit_code == 2 and "COLLECTIVE or --profile FILE" in ran.output
    ran = CliRunner().invoke(cli.main, [*words, "alltoall", "--scaling", "strong"])
    assert ran.exit_code == 2
    assert "--scaling goes with --profile, not with COLLECTIVE (alltoall)" in ran.output


def test_old_profiles_lack_the_communicators(tmp_path, profile_data):
    profile_data["schema"] = "crestacoll-profile-2"
    del profile_data["communicators"]
    ran = simulate(tmp_path, profile_data, "-n", 4)
    assert ran.exit_code == 125 and "record it again" in ran.output


def test_nothing_to_simulate(tmp_path):
    data = place_data.profile(1, {}) | {"records": [place_data.record("one", 1, "bcast", 1, 8)]}
    ran = simulate(tmp_path, data, "-n", 4)
    assert ran.exit_code == 125 and "no calls that can be simulated: bcast: a comm" in ran.output


def test_a_real_program(build, turbulence, crestacoll, tmp_path):
    """The rules that come out are taken by the library at the scale that they are for."""
    more = ["--oversubscribe"] if build.name == "openmpi" else []
    launch = [build.launcher, *more, "-n", "4", *turbulence, "--procs", "2x2"]
    ran = crestacoll("run", "--mpi", build.name, "--profile", "p.json", "--", *launch, **AS_ROOT)
    assert ran.returncode == 0, ran.stderr
    (tmp_path / "machine.json").write_text(json.dumps(MACHINE | {"ranks_per_node": 2}))
    words = ["--profile", "p.json", "-n", "4,64", "--machine", "machine.json", "--mpi", build.name]
    ran = crestacoll("simulate", *words, "--json", "s.json")
    assert ran.returncode == 0, ran.stderr
    found, data = json.loads((tmp_path / "s.json").read_text()), profiles.load(tmp_path / "p.json")
    run = found["recorded"]["run"]
    assert run["classes_s"] + run["left_out_s"] == pytest.approx(1e-6 * profiles.total_us(data))
    small, large = found["scales"]
    row, column = (class_of(large["classes"], "alltoall", name) for name in ("row", "col"))
    assert (row["processes"], row["stride"]) == (8, 1)
    assert (column["processes"], column["stride"]) == (8, 8)
    assert row["bytes"] == class_of(small["classes"], "alltoall", "row")["bytes"] // 4
    (tmp_path / "rules").write_text("\n".join(small["rules"]))
    words = ["--impl", "@rules", "--mpi", build.name, "--profile", "again.json"]
    ran = crestacoll("run", *words, "--", *launch, **AS_ROOT, CRESTA_NODES="2x2")
    assert ran.returncode == 0, ran.stderr
    again = profiles.load(tmp_path / "again.json")
    for c in small["classes"]:
        (record,) = [
            r
            for r in again["records"]
            if (r["collective"], r["communicator"]) == (c["collective"], c["communicator"])
            and c["bytes_min"] in (None, r["bytes_min"])
        ]
        assert record["implementation"].startswith(c["best"]), record
