# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll bench` end to end, and what it does with results that are wrong."""

import json
from types import SimpleNamespace

import pytest
from conftest import command
from crestacoll_tools import schemas
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.bench import benchjob, busbw, choices
from crestacoll_tools.cli import bench
from crestacoll_tools.launch import nethosts

pytestmark = pytest.mark.by_turns


FACTOR_ONE = {"allreduce", "bcast"}  # on two ranks


@pytest.fixture
def crestacoll(in_process):
    """Its jobs are processes all the same. Hosts are name spaces of a command."""
    return in_process


def test_two_ranks_end_to_end(crestacoll, build, tmp_path):
    ran = crestacoll(
        *"bench allreduce,barrier,alltoallv,bcast --impl nonblock --sizes 8,1K".split(),
        *"--samples 5 --budget 600".split(),
        *("--mpi", build.name, "--json", "b.json", "--plot", "b.svg"),
    )
    assert ran.returncode == 0, ran.stderr + ran.stdout
    data = json.loads((tmp_path / "b.json").read_text())
    assert schemas.problems("bench", data) == []
    cells = {(r["collective"], r["implementation"], r["bytes"]) for r in data["records"]}
    assert len(cells) == 2 * (3 * 2 + 1) and len(data["records"]) == 2 * (2 * 3 * 2 + 1)
    assert "# allreduce, data not written again" in ran.stdout
    assert "# alltoallv, data written again" in ran.stdout and "# barrier\n" in ran.stdout
    assert all(
        r["verified"] and r["mpi"] == build.name and r["median_us"] > 0 for r in data["records"]
    )
    assert all(r["ratio_to_mpi"] == 1 for r in data["records"] if r["implementation"] == "mpi")
    assert "# allreduce" in ran.stdout and "Median(us)" in ran.stdout
    for r in data["records"]:
        expected = r["bytes"] / r["median_us"] / 1e3 if r["collective"] in FACTOR_ONE else None
        assert r["busbw_gb_s"] == pytest.approx(expected), r["collective"]
    assert (tmp_path / "b.svg").stat().st_size > 1000


def test_every_collective_on_three_ranks(crestacoll, build):
    words = "bench all -n 3 --impl nonblock --sizes 0,40 --samples 2 --budget 600 --mpi".split()
    data = json.loads(crestacoll(*words, build.name, "--json").stdout)
    assert {r["collective"] for r in data["records"]} == set(build.measured)
    assert data["verified"] and data["jobs"][0]["ranks"] == 3


def test_all_means_every_algorithm(crestacoll, build):
    words = "bench allreduce,alltoall --impl all --sizes 8,4K --samples 2 --budget 600".split()
    data = json.loads(crestacoll(*words, "--mpi", build.name, "--json").stdout)
    models = [m for m in build.description["models"] if m["works"] and m["algorithms"]]
    for collective in "allreduce", "alltoall":
        algorithms = {
            f"{m['name']}:{a['name']}" for m in models for a in m["algorithms"][collective]
        }
        measured = {r["implementation"] for r in data["records"] if r["collective"] == collective}
        assert measured == algorithms | set(build.implementations)
    assert data["verified"] and data["notes"] == []


def test_what_cannot_be_done_is_left_out(crestacoll, build):
    """These two want an even number or a power of two of ranks: nothing runs under their names."""
    words = "bench allreduce,allgather -n 3 --sizes 8,16 --samples 2 --budget 600".split()
    impl = "p2p:swing,p2p:neighbor_exchange,p2p:ring"
    data = json.loads(crestacoll(*words, "--impl", impl, "--mpi", build.name, "--json").stdout)
    assert {r["implementation"] for r in data["records"]} == {"mpi", "p2p:ring"}
    assert sorted((n["about"], n["text"]) for n in data["notes"]) == [
        (about, f"left out on 3 ranks: needs {what} of processes")
        for about, what in (
            ("p2p:neighbor_exchange allgather", "an even number"),
            ("p2p:swing allreduce", "a power of two"),
        )
    ]


@pytest.mark.parametrize("topology", ["random:1", "random:3", "stencil:2", "torus:4"])
def test_neighbourhood_collectives_have_a_topology(crestacoll, build, topology):
    """Results are compared with what the standard says: some MPIs are wrong on such a torus."""
    asked = ["neighbor_allgather", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"]
    words = "--impl p2p,shm,p2p:linear --sizes 16 --samples 2 --budget 600 --buffers hot".split()
    done = crestacoll("bench", ",".join(asked), "--topology", topology, *words, "--mpi", build.name,
                      "--json")
    records = json.loads(done.stdout)["records"]
    assert {r["topology"] for r in records} == {topology}
    ours = {(r["collective"], r["implementation"]): r["verified"] for r in records
            if r["implementation"] != "mpi"}
    assert ours == {(c, i): True for c in asked for i in ("p2p", "shm", "p2p:linear")}
    theirs = [r["verified"] for r in records if r["implementation"] == "mpi"]
    assert done.returncode == int(not all(theirs))
    assert all(theirs) or topology != "random:1"


@pytest.mark.parametrize("words, said", [
    ("neighbor_alltoall", "neighbor_alltoall needs a topology: --topology torus:2"),
    ("allreduce --topology torus:2", "no neighbourhood collective 'allreduce'"),
    ("neighbor_alltoall --topology torus:5", "torus:1 to torus:4"),
])
def test_a_topology_is_for_neighbourhood_collectives(crestacoll, words, said):
    done = crestacoll("bench", *words.split())
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_parameters_are_part_of_the_name(crestacoll, build):
    impl = "p2p:chunked?chunk=1K&order=random"
    words = "bench alltoall,bcast --sizes 4K --samples 2 --budget 600 --buffers hot --mpi".split()
    data = json.loads(crestacoll(*words, build.name, "--impl", impl, "--json").stdout)
    found = [(r["collective"], r["implementation"], r["verified"]) for r in data["records"]]
    assert found == [
        ("alltoall", "mpi", True),
        ("alltoall", impl, True),
        ("bcast", "mpi", True),
    ]


def test_options_of_a_model_and_a_page(crestacoll, build, tmp_path):
    """A list with commas, ? and & reaches the library as it was written; one page shows it all."""
    os = next(m for m in build.description["models"] if m["name"] == "os")
    first, second = os["options"][:2]
    other = f"os?{first['name']}={first['names'][-1]}"
    both = f"{other}&{second['name']}={second['names'][-1]}"
    words = "bench alltoall,allreduce --sizes 8,1K --samples 2 --budget 600 --mpi".split()
    impl = f"{other},{both},nonblock"
    ran = crestacoll(*words, build.name, "--impl", impl, "--plot=b.html", "--json=b.json")
    assert ran.returncode == 0, ran.stderr
    data = json.loads((tmp_path / "b.json").read_text())
    names = ["mpi", other, both, "nonblock"]
    assert list(dict.fromkeys(r["implementation"] for r in data["records"])) == names
    page = (tmp_path / "b.html").read_text()
    assert page.count("<svg") == 4 and "all were equal" in page
    assert page.count(", data written again, ") == 2
    medians = [f"{r['median_us']:.2f}" for r in data["records"]]
    assert len(medians) == 2 * 2 * 2 * 4 and all(f">{m}</td>" in page for m in medians)
    assert f"<th>{other}</th>" in page and other in page[page.index("<svg") :]


@pytest.mark.parametrize("name, said", [("b.bmp", ".html, .svg"), ("no/b.html", "no such folder")])
def test_a_plot_that_cannot_be_written_is_told_at_once(crestacoll, build, name, said):
    ran = crestacoll("bench", "bcast", "--plot", name)
    assert ran.returncode == 2 and said in ran.stderr


def test_a_wrong_value_is_told_by_the_library(crestacoll, build):
    ran = crestacoll("bench", "alltoall", "--impl", "p2p:bruck?k=1", "--mpi", build.name)
    assert ran.returncode == 2
    assert ran.stderr.startswith("crestacoll: --impl: k must be 2 to 64\n")
    assert ran.stderr.count("\n") == 3 and "character" in ran.stderr


class FakeBuild:
    name = "openmpi"
    implementations = ("mpi", "p2p")
    description = {
        "models": [
            {"name": "mpi", "works": True, "algorithms": {}},
            {"name": "persist", "works": False, "why": "no such calls", "algorithms": {}},
            {
                "name": "os",
                "works": True,
                "options": [
                    {"name": "memory", "names": ["configured", "static", "dynamic"]},
                    {"name": "via", "names": ["put", "get"]},
                ],
                "algorithms": {"bcast": [{"name": "chain", "params": [{"name": "segment"}]}]},
            },
            {
                "name": "p2p",
                "works": True,
                "algorithms": {
                    "bcast": [{"name": "chain", "params": [{"name": "segment"}]}],
                    "reduce": [
                        {"name": "chain", "params": []},
                        {"name": "linear", "params": [{"name": "a"}, {"name": "b"}]},
                    ],
                },
            },
        ]
    }


@pytest.mark.parametrize(
    "text, collectives, words",
    [
        ("mpi", "bcast", "mpi"),
        ("p2p", "bcast,reduce", "mpi,p2p"),
        ("p2p,p2p,mpi", "bcast,alltoallw", "mpi,bcast=p2p"),
        ("os?memory=dynamic", "bcast", "mpi,os?memory=dynamic"),
        ("os?memory=dynamic&via=get,p2p", "bcast", "mpi,os?memory=dynamic&via=get,p2p"),
        ("bcast=os:chain?segment=4&via=get", "bcast", "mpi,bcast=os:chain?segment=4&via=get"),
        ("p2p:chain", "bcast,reduce", "mpi,bcast=p2p:chain,reduce=p2p:chain"),
        ("p2p:chain?segment=4", "bcast,reduce", "mpi,bcast=p2p:chain?segment=4"),
        ("p2p:linear?b=1&a=2", "bcast,reduce", "mpi,reduce=p2p:linear?b=1&a=2"),
        ("Reduce=p2p:chain", "bcast,reduce", "mpi,reduce=p2p:chain"),
        ("all", "reduce", "mpi,p2p,reduce=p2p:chain,reduce=p2p:linear"),
        ("all", "alltoallw", "mpi"),
    ],
)
def test_implementations_are_chosen(text, collectives, words):
    assert choices.chosen(FakeBuild, text, collectives.split(",")) == words.split(",")


def test_a_plot_has_static_and_dynamic_memory():
    text = "os,os?via=get,os?memory=dynamic,os:chain,p2p"
    words = choices.chosen(FakeBuild, text, ["bcast"], stores=True)
    static, dynamic = "memory=static", "memory=dynamic"
    assert words == [
        *("mpi", f"os?{static}", f"os?{dynamic}", f"os?via=get&{static}", f"os?via=get&{dynamic}"),
      *("bcast=os:chain", "p2p"),
    ]


@pytest.mark.parametrize(
    "text, said",
    [
        (
            "p2p:no",
            "'p2p:no' for bcast; there are:\n"
            "  bcast: mpi, os?memory=&via=, os:chain?segment=, p2p, p2p:chain?segment=",
        ),
        ("p2p:linear", "no implementation 'p2p:linear' for bcast"),
        ("p2p:chain?size=4", "p2p:chain?segment="),
        ("os?size=4", "for bcast; there are:\n  bcast: mpi, os?memory=&via=, os:chain?segment="),
        ("p2p?via=get", "no implementation 'p2p?via=get' for bcast"),
        ("mpi:chain", "no implementation 'mpi:chain' for bcast"),
        ("no:chain", "no implementation 'no:chain'; there are: mpi, persist, os, p2p"),
        ("persist", "persist does not work with openmpi: no such calls"),
        ("reduce=p2p", "reduce is not to be measured"),
    ],
)
def test_implementations_that_are_not_there(text, said):
    with pytest.raises(Problem) as e:
        choices.chosen(FakeBuild, text, ["bcast"])
    assert said in e.value.message


def test_a_plot_of_many_lines(tmp_path):
    from crestacoll_tools.bench import benchplots
    from crestacoll_tools.pages import plots
    records = [
        {
            "collective": "bcast",
            "implementation": name,
            "mpi": "openmpi",
            "ranks": 2,
            "buffers": "hot",
            "bytes": size,
            "median_us": 2.0,
            "p10_us": 1.0,
            "p90_us": 3.0,
        }
        for name in ["mpi", "p2p", *(f"p2p:a{i}" for i in range(13))]
        for size in (0, 8)
    ]
    looks = [plots.line_style(k, name) for k, name in enumerate(plots.names_of(records))]
    assert len({(s["color"], s.get("marker"), s.get("linestyle")) for s in looks}) == 15
    benchplots.save_bench(records, tmp_path / "p.svg")
    assert (tmp_path / "p.svg").stat().st_size > 1000


def test_synchronised(crestacoll, build):
    words = "bench allreduce --impl nonblock --sizes 8 --samples 20 --buffers cold --mpi".split()
    words = [*words[:-1], "--timing", "synchronised", "--mpi"]
    data = json.loads(crestacoll(*words, build.name, "--json").stdout)
    found = {(r["timing"], r["batch"], r["buffers"], r["bytes"]) for r in data["records"]}
    assert found == {("synchronised", 1, "cold", 8)}


def test_begun_calls(crestacoll, build):
    """Begins of each collective, which end at once."""
    words = "bench all -n 3 --impl shm,p2p --sizes 24K --samples 2 --budget 600 --begun".split()
    words += ["--buffers", "written", "--mpi", build.name]
    data = json.loads(crestacoll(*words, "--json").stdout)
    assert {(r["calls"], r["verified"]) for r in data["records"]} == {("begun", True)}
    found = {(r["collective"], r["bytes"]) for r in data["records"] if r["implementation"] == "shm"}
    sized = set(build.measured) - {"barrier"}
    assert found == {("barrier", 0)} | {(c, 24 << 10) for c in sized}


@pytest.mark.parametrize(
    "words, said",
    [
        (["bench", "nonsense"], "no collective 'nonsense'"),
        (["bench", "allreduce", "--impl", "nonsense"], "no implementation 'nonsense'"),
        (["bench", "bcast", "--impl", "p2p:bruck"], "no implementation 'p2p:bruck' for bcast"),
        (["bench", "allreduce", "--sizes", "8:4"], "above the last"),
        (["bench", "allreduce", "--mpi", "nonsense"], "no build for 'nonsense'"),
        (["bench", "allreduce", "--buffers", "hot,warm"], "--buffers: no 'warm'"),
        (["bench", "allreduce", "--buffers", "hot,hot"], "each once"),
    ],
)
def test_mistakes_are_explained(crestacoll, build, words, said):
    ran = crestacoll(*words)
    assert ran.returncode == 2 and said in ran.stderr


RECORD = {
    "type": "record",
    "collective": "allreduce",
    "implementation": "nonblock",
    "mpi": "openmpi",
    "ranks": 2,
    "bytes": 8,
    "verified": False,
    "samples": 3,
    "samples_asked": 9,
}


@pytest.mark.parametrize(
    "collective, expected",
    [
        ("allreduce", 1.5),  # 2(n-1)/n of the vector
        ("reduce_scatter", 0.75),  # (n-1)/n of the vector
        ("reduce_scatter_block", 3.0),  # (n-1)/n of the blocks of 4 ranks, as all below
        ("allgather", 3.0),
        ("alltoall", 3.0),
        ("gather", 3.0),
        ("scatter", 3.0),
        ("bcast", 1.0),
        ("reduce", 1.0),
        *((name, None) for name in ("barrier", "scan", "exscan", "alltoallv", "allgatherv")),
        *((name, None) for name in ("alltoallw", "gatherv", "neighbor_alltoall")),
    ],
)
def test_bus_bandwidth_is_that_of_nccl_tests(collective, expected, capsys):
    """A million bytes in a millisecond, on 4 ranks."""
    timed = {"collective": collective, "ranks": 4, "bytes": 10**6, "median_us": 1000.0}
    assert busbw.of_record(timed) == (expected and pytest.approx(expected))
    assert busbw.of_record(timed | {"median_us": 0.0}) is None
    more = {"root": "none", "buffers": "hot", "implementation": "mpi", "samples": 9}
    more |= {"p10_us": 900.0, "p90_us": 1100.0, "ratio_to_mpi": 1.0, "verified": True}
    bench.print_collective([timed | more])
    head, row = capsys.readouterr().out.splitlines()[-2:]
    assert "P90(us)  Busbw(GB/s)  Ratio" in head
    assert row.split()[5] == ("-" if expected is None else f"{expected:.3g}")


def test_lines_are_sorted():
    result = benchjob.Result()
    lines = [json.dumps(RECORD), "some noise", '{"type": "note", "about": "x", "text": "y"}']
    kinds = [benchjob.take(result, line, "openmpi") for line in lines]
    assert kinds == ["record", None, "note"]
    assert result.notes == [{"mpi": "openmpi", "about": "x", "text": "y"}] and result.end is None


def test_a_wrong_result_is_an_error(capsys):
    result = benchjob.Result()
    benchjob.take(result, json.dumps(RECORD), "openmpi")
    assert "fewer samples" in benchjob.remarks(result)[0]
    with pytest.raises(SystemExit) as e:
        bench.say_wrong([result])
    assert e.value.code == 1
    assert "WRONG RESULT: nonblock allreduce of 8 bytes" in capsys.readouterr().err


@pytest.mark.alone
def test_between_hosts(build, tmp_path):
    """hier finds the hosts, and gives what the MPI gives."""
    if nethosts.why_not():
        pytest.skip(f"no hosts here: {nethosts.why_not()}")
    sizes = ["--sizes", "8,64K", "--samples", "3", "--hosts", "2", "--rate", "1gbit"]
    words = ["allreduce,alltoallv", "-n", "4", "--impl", "hier,hier:leaders", *sizes]
    done = command("bench", *words, "--mpi", build.name, "--json", cwd=tmp_path)
    if "no hosts here" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["verified"] and [job["hosts"] for job in data["jobs"]] == [2]
    assert {r["implementation"] for r in data["records"]} == {"mpi", "hier", "hier:leaders"}


def test_hosts_need_ranks(crestacoll):
    ran = crestacoll("bench", "bcast", "--hosts", "3")
    assert ran.returncode == 2 and "--hosts 3: -n asks for only 2 ranks" in ran.stderr


def test_a_collective_without_a_line_is_an_error():
    """A table that is empty has not the exit code of one that is not."""
    build = SimpleNamespace(name="openmpi")
    result = benchjob.Result()
    benchjob.take(result, json.dumps(RECORD), "openmpi")
    plans = [(build, SimpleNamespace(collectives=["allreduce"]))]
    bench.say_unmeasured(plans, [result])
    plans[0][1].collectives.append("scan")
    with pytest.raises(Problem, match=r"nothing was measured of scan \(openmpi\)") as e:
        bench.say_unmeasured(plans, [result])
    assert e.value.exit_code == 125


def test_ranks_that_the_machine_cannot_run_are_refused(tmp_path):
    ran = command("bench", "allreduce", "-n", "100000", cwd=tmp_path, timeout=60)
    assert ran.returncode == 2 and "-n 100000: this machine has" in ran.stderr
    assert "--crowded starts them" in ran.stderr
