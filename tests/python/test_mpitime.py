# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a run goes, from the calls of a profile: sums, groups, places."""

import copy
import shutil
import subprocess
import sys

import pytest
import report_data
from crestacoll_tools import schemas
from crestacoll_tools.profile import mpitime, profiles, sites
from crestacoll_tools.report import reportfiles, reportpage


def profile(change=None):
    data = report_data.profile() | {"calls": report_data.calls()}
    data = copy.deepcopy(data)
    if change is not None:
        change(data)
    return profiles.checked("p.json", data)


def test_the_schema_knows_it():
    assert schemas.problems("profile", profile()) == []
    with pytest.raises(profiles.Problem, match="calls/list/0"):
        profile(lambda d: d["calls"]["list"][0].update(part="other"))


def test_the_picture_adds_up_to_the_run():
    groups = mpitime.picture(profile())
    assert sum(us for _, us, _ in groups) == pytest.approx(16e6)
    assert [group for group, _, _ in groups] == mpitime.ORDER
    for group, us, lines in groups:
        if lines:
            assert sum(lines.values()) == pytest.approx(us), group
    sums = {group: us for group, us, _ in groups}
    assert sums[mpitime.MESSAGES] == pytest.approx(1.91e6)
    assert sums[mpitime.RMA] == pytest.approx(0.42e6)
    assert sums[mpitime.FILES] == pytest.approx(0.1e6)  # two of four ranks
    assert sums[mpitime.SUSPENDED] == pytest.approx(0.1e6)


def test_who_is_alone_waits_for_nobody():
    """One rank, and a communicator of one process: nothing is `waiting or not`."""

    def change(ranks, processes):
        def changed(data):
            one = report_data.record("alltoall", "self", 8, 1e6, share=None, processes=processes)
            data |= {"ranks": ranks, "records": [one | {"ranks": ranks}]}
            data["calls"]["list"] = [report_data.call("Alltoall", "collective", 1e6, ranks=ranks)]

        return changed

    for ranks, processes in ((1, 1), (4, 1)):
        groups = {g: lines for g, _, lines in mpitime.picture(profile(change(ranks, processes)))}
        assert groups[mpitime.COLLECTIVES] == pytest.approx({mpitime.ITSELF: 1e6}), ranks
    groups = {g: lines for g, _, lines in mpitime.picture(profile(change(4, 4)))}
    assert groups[mpitime.COLLECTIVES] == pytest.approx({mpitime.EITHER: 1e6})


def test_collectives_are_split_by_the_records():
    """Waiting and the rest are those of the records; what the records do not have is not known; and
    what they alone have (a program that is statically linked) is not outside.
    """

    def only(records, calls):
        def change(data):
            data["records"] = records
            data["calls"]["list"] = calls

        return {g: (us, lines) for g, us, lines in mpitime.picture(profile(change))}

    one = report_data.record("alltoall", "row", 8, 2e6, share=0.25)
    other = report_data.record("bcast", "row", 8, 1e6, share=None)
    counted = report_data.call("Alltoall", "collective", 3.5e6)
    us, lines = only([one, other], [counted])["collectives"]
    assert us == pytest.approx(3.5e6)
    assert lines == pytest.approx(
        {mpitime.WAITING: 0.5e6, mpitime.ITSELF: 1.5e6, mpitime.EITHER: 1.5e6}
    )
    us, lines = only([one, other], [report_data.call("Init", "job", 1e6)])["collectives"]
    assert us == pytest.approx(3e6)
    begun = report_data.record("bcast", "row", 8, 1e6, share=None, mode="nonblocking")
    assert "collectives" not in only([begun], [report_data.call("Init", "job", 1e6)])


@pytest.mark.parametrize("parts", [[1, 1, 1], [0.0005, 0.9995], [7], [0, 0, 5], [3] * 7])
def test_percentages_add_up(parts):
    shares = mpitime.shares(parts)
    assert sum(round(10 * s) for s in shares) == 1000
    assert all(abs(s - 100 * p / sum(parts)) < 0.1 for s, p in zip(shares, parts, strict=True))


def test_threads_beside_the_main_one():
    assert "up to 2 of a rank" in mpitime.threads_beside(profile())
    alone = profile(lambda d: d["calls"]["list"].pop())
    assert not mpitime.threads_beside(alone)


def test_files_that_may_keep_calls():
    """Named, unless one of their functions was seen to be handed on; profiles of before lack it."""
    (told,) = mpitime.ahead(profile())
    assert told.startswith("/opt/libtool.so defines MPI_Bsend, MPI_Mprobe, MPI_Probe and 1 more ")

    def hands_on(data):
        data["calls"]["modules"].append({"path": "/opt/libtool.so", "build_id": None})
        data["calls"]["list"].append(report_data.call("Ssend", "send", 1, [1, 8]))

    assert mpitime.ahead(profile(hands_on)) == []
    assert mpitime.ahead(profile(lambda d: d["calls"].pop("ahead"))) == []


def test_as_json():
    data = mpitime.as_json(profile())
    assert sum(group["us"] for group in data["mpi_time"]) == pytest.approx(16e6)
    assert data["calls"][0]["call"] == "MPI_Alltoall"
    assert data["calls"][0]["site"] == "app+0x1f40"


def test_a_page_begins_with_it(tmp_path):
    source = reportfiles.Source("p.json", "profile", profile())
    page = reportpage.render([source])
    assert page.index("outside MPI") < page.index("outside collectives")
    assert "of the run passes in MPI" in page and "app+0x1f40" in page


def built(tmp_path, *options):
    """A program whose third line calls, as a module and the offset behind the call."""
    source, file = tmp_path / "called.c", tmp_path / "called"
    source.write_text("void f(void);\nint g(void) {\n    f();\n    return 1;\n}\n")
    words = ["cc", *options, "-shared", "-fPIC", "-nostdlib", str(source), "-o", str(file)]
    if shutil.which("cc") is None or shutil.which("objdump") is None:
        pytest.skip("no compiler")
    subprocess.run(words, check=True)
    listing = subprocess.run(["objdump", "-d", file], capture_output=True, text=True, check=True)
    lines = listing.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if "call" in line and "f@plt" in line)
    return file, int(lines[at + 1].split(":")[0], 16)


@pytest.mark.parametrize("tool", ["llvm-symbolizer", "addr2line"])
def test_places_by_each_tool(tmp_path, monkeypatch, tool):
    """File, line and function; without debugging information, module, offset and function; of a
    file that is another one now, module and offset.
    """
    if shutil.which(tool) is None:
        pytest.skip(f"no {tool}")
    monkeypatch.setattr(sites, "symbolizer", lambda: tool)
    cases = ((["-g", "-Wl,--build-id"], "called.c:3 g"), (["-s"], "called+{:#x} g"))
    for options, expected in cases:
        file, offset = built(tmp_path, *options)
        module = {"path": str(file), "build_id": sites.build_id(file)}
        calls = [report_data.call("Send", "send", 1, [0, offset])]
        name = sites.Places([module], calls).name([0, offset])
        assert name == expected.format(offset), options
        other = {"path": str(file), "build_id": "00"}
        assert sites.Places([other], calls).name([0, offset]) == f"called+{offset:#x}"


def test_build_ids_are_those_of_readelf():
    if shutil.which("readelf") is None:
        pytest.skip("no readelf")
    told = subprocess.run(
        ["readelf", "-n", sys.executable], capture_output=True, text=True, check=True
    ).stdout
    own = sites.build_id(sys.executable)
    assert own is None or f"Build ID: {own}" in told
    assert ("Build ID" in told) == (own is not None)
    assert sites.build_id(__file__) is None and sites.build_id("/nowhere") is None


@pytest.mark.parametrize(
    "symbol, name",
    [
        ("__pyx_pw_6mpi4py_3MPI_4Comm_143Allreduce", "mpi4py.MPI.Comm.Allreduce"),
        ("__pyx_pf_6mpi4py_3MPI_9Intracomm_10Create_cart", "mpi4py.MPI.Intracomm.Create_cart"),
        ("__pyx_pw_3app_5solve", "app.solve"),
        ("__pyx_f_6mpi4py_3MPI_bootstrap", None),
        ("main", None),
    ],
)
def test_functions_of_cython(symbol, name):
    assert sites.by_cython(symbol) == name
