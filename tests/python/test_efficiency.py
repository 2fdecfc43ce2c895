# SPDX-License-Identifier: BSD-3-Clause
"""How well ranks share their work: the metrics of POP and TALP, where they are known and where they
are not, and in which outputs of `report` they are.
"""

import csv
import io
import json

import pytest
import report_data
from crestacoll_tools import schemas
from crestacoll_tools.formats import csv_table, markdown, prometheus
from crestacoll_tools.profile import efficiency, mpitime, profiles
from crestacoll_tools.report import reportfiles, reportpage

TRUE = {
    efficiency.PARALLEL: 0.5,
    efficiency.BALANCE: 0.625,
    efficiency.BETWEEN: 0.9375,
    efficiency.WITHIN: 2 / 3,
    efficiency.COMMUNICATION: 0.8,
}


def profile(change=None):
    data = report_data.uneven()
    if change is not None:
        change(data)
    return profiles.checked("p.json", data)


def useful(**members):
    return lambda data: data["calls"]["useful_us"].update(members)


def test_by_the_definitions():
    found = efficiency.metrics(profile())
    assert found == pytest.approx(TRUE) and list(found) == list(TRUE)
    assert found[efficiency.PARALLEL] == pytest.approx(
        found[efficiency.BALANCE] * found[efficiency.COMMUNICATION]
    )
    assert found[efficiency.BALANCE] == pytest.approx(
        found[efficiency.BETWEEN] * found[efficiency.WITHIN]
    )


def test_useful_time_is_what_the_picture_has_outside():
    data = profile()
    outside = {group: us for group, us, _ in mpitime.picture(data)}[mpitime.OUTSIDE]
    assert outside == pytest.approx(data["calls"]["useful_us"]["mean"])


def test_nodes_of_unlike_size_count_by_their_ranks():
    """The mean over all ranks, not over nodes: 3 ranks with 6 s and one with 12 s are 7.5 s."""
    nodes = [{"first_rank": 0, "ranks": 3, "mean": 6e6, "max": 8e6}]
    nodes += [{"first_rank": 3, "ranks": 1, "mean": 12e6, "max": 12e6}]
    found = efficiency.metrics(profile(useful(nodes=nodes)))
    assert found[efficiency.BETWEEN] == pytest.approx(0.625)
    assert found[efficiency.WITHIN] == pytest.approx(1)


@pytest.mark.parametrize("nodes", [None, report_data.uneven()["calls"]["useful_us"]["nodes"][:1]])
def test_one_node_or_none_known_is_not_split(nodes):
    data = profile(useful(nodes=nodes))
    kept = (efficiency.PARALLEL, efficiency.BALANCE, efficiency.COMMUNICATION)
    assert efficiency.metrics(data) == pytest.approx({name: TRUE[name] for name in kept})
    told = efficiency.as_json(data)["efficiency"]
    assert told["between_nodes"] is None and told["within_nodes"] is None


def test_one_rank():
    """It is balanced with itself, and nobody computes more or less."""

    def alone(data):
        one = {"mean": 12e6, "min": 12e6, "max": 12e6, "min_rank": 0, "max_rank": 0, "nodes": None}
        useful(**one)(data)
        data["ranks"], data["records"], data["calls"]["suspended_us"] = 1, [], 0.0

    data = profile(alone)
    found = efficiency.metrics(data)
    assert found[efficiency.BALANCE] == 1
    assert found[efficiency.PARALLEL] == found[efficiency.COMMUNICATION] == pytest.approx(0.8)
    assert efficiency.notes(data) == []


def test_ranks_that_compute_alike():
    """The first rank with the most is that with the least: no rank is named."""
    alike = {"mean": 8e6, "min": 8e6, "max": 8e6, "min_rank": 0, "max_rank": 0}
    data = profile(useful(**alike))
    assert efficiency.metrics(data)[efficiency.BALANCE] == 1
    assert [note for note in efficiency.notes(data) if "computes most" in note] == []


def lacks(data):
    del data["calls"]["useful_us"]


def never_computes(data):
    useful(mean=0.0, min=0.0, max=0.0)(data)


def is_linked(data):
    """To libcrestacoll.a: its allreduce is recorded, and is no counted call."""
    del data["calls"]["list"][2]


def is_linked_and_begins(data):
    data["records"].append(
        report_data.record("bcast", "row", 8, 1.0, share=None, mode="nonblocking")
    )


@pytest.mark.parametrize("change", [lacks, never_computes, is_linked, is_linked_and_begins])
def test_what_is_not_known_is_not_said(change, capsys):
    """Profiles of earlier versions, and useful time that is none."""
    source = reportfiles.Source("p.json", "profile", profile(change))
    assert efficiency.metrics(source.data) == {} and efficiency.notes(source.data) == []
    mpitime.show(source.data)
    said = [capsys.readouterr().out, csv_table.render([source]), markdown.render([source])]
    said += [prometheus.render([source]), json.dumps(mpitime.as_json(source.data))]
    said += [reportpage.render([source])]
    for text in said:
        assert "fficiency</h3>" not in text and "parallel" not in text


def test_times_of_calls_that_are_not_all_timed():
    """Their error alone is no collective that is not counted."""

    def guessed(data):
        times = data["records"][0]["time_us"]
        times |= {"mean": 3e6, "timed": 10, "error": 0.5e6}

    assert efficiency.metrics(profile(guessed)) == pytest.approx(TRUE)


def test_in_each_output(capsys):
    source = reportfiles.Source("p.json", "profile", profile())
    most = "Rank 2 computes most (12 s), rank 3 least (4 s); the mean is 7.5 s."
    suspended = "without the 1 s of a rank that MPI_Pcontrol left out"
    mpitime.show(source.data)
    texts = [capsys.readouterr().out, markdown.render([source]), reportpage.render([source])]
    for text in texts:
        assert most in text and suspended in text
        for share in ("50.0 %", "62.5 %", "93.8 %", "66.7 %", "80.0 %", "not known"):
            assert share in text
    told = {
        "schema": "crestacoll-report-1",
        **{"file": "p.json", "ranks": 4, "wall_s": 15.0, "collectives_us": 2e6, "sums": []},
        **mpitime.as_json(source.data),
    }
    assert schemas.problems("report", told) == []
    keys = ("parallel", "load_balance", "between_nodes", "within_nodes", "communication")
    assert [told["efficiency"][key] for key in keys] == pytest.approx([*TRUE.values()])
    assert told["efficiency"]["useful_us"] == source.data["calls"]["useful_us"]


def test_as_rows_and_as_gauges():
    source = reportfiles.Source("p.json", "profile", profile())
    rows = csv.DictReader(io.StringIO(csv_table.render([source])))
    first, *others = (row for row in rows if row["table"] == "efficiency")
    assert first["part"] == "useful time" and first["efficiency_percent"] == ""
    ends = [float(first[f"time_{end}_us"]) for end in ("mean", "min", "max")]
    assert ends == [7.5e6, 4e6, 12e6]
    shares = {row["part"]: float(row["efficiency_percent"]) / 100 for row in others}
    assert shares == pytest.approx(TRUE, abs=1e-6)
    text = prometheus.render([source])
    for line in (
        'crestacoll_efficiency_ratio{profile="p.json",part="load balance"} 0.625\n',
        'crestacoll_useful_seconds{profile="p.json"} 7.5\n',
        'crestacoll_useful_min_seconds{profile="p.json",rank="3"} 4.0\n',
        'crestacoll_useful_max_seconds{profile="p.json",rank="2"} 12.0\n',
    ):
        assert line in text
