# SPDX-License-Identifier: BSD-3-Clause
"""tools/scale.py, and what docs/lab/scale.md shows: runs of other documents, simulated."""

import importlib
import re
import sys

import pytest
from conftest import ROOT
from crestacoll_tools.simulate import jobs, machines, show

pytestmark = pytest.mark.by_turns

sys.path.insert(0, str(ROOT / "tools"))
scale = importlib.import_module("scale")
claims = importlib.import_module("scale_claims")
draw = importlib.import_module("scale_draw")
points = importlib.import_module("scale_points")

NAMES = ["cray-xc30", "cray-xc30-puts", "cray-xe6", "cray-xe6-puts"]


@pytest.fixture(scope="module")
def shown():
    """What the page shows was made of."""
    return scale.read(ROOT / "docs/lab/scale.csv")


def seconds(build, point):
    return float(scale.simulate(build, point)["seconds"])


def test_machine_files_follow_the_schema():
    assert set(NAMES) <= set(machines.names())
    for name in NAMES:
        found = machines.load(name)
        assert "http" in found["source"] or "github.com" in found["source"], name
        assert found["file"] == name


def test_machine_files_say_their_error(shown):
    """Messages, and the exchanges of the harness, against published times."""
    found = claims.errors(shown)
    assert {name: bool(messages) for name, (messages, _) in found.items()} == {
        "cray-xc30": True, "cray-xe6": True, "cray-xe6-puts": False,
    }
    assert found["cray-xe6"][1] and found["cray-xe6-puts"][1]
    for name in NAMES:
        errors = sum(found.get(name, ([], [])), [])
        assert machines.load(name).get("fit") == (claims.fit(errors) if errors else None), name


def test_small_runs_draw_pictures(build, tmp_path):
    rows = scale.simulate_all(build, 2, small=True)
    scale.write(rows, tmp_path / "scale.csv")
    rows = scale.read(tmp_path / "scale.csv")
    assert {r["curve"] for r in rows} == {p.curve for p in points.first(small=True)}
    assert all(float(r["seconds"]) > 0 for r in rows)
    draw.save_all(rows, tmp_path)
    for name in draw.PICTURES:
        svg = (tmp_path / f"scale-{name}.svg").read_text(encoding="utf-8")
        assert "simulated, machine Cray" in svg
        assert "error" in svg


def test_work_beside_takes_as_long_as_the_longer(build):
    """What the tables take for MIN and CsN."""
    (alone,) = [p for p in points.harness({16: ["MPI_Ialltoall"]})]
    exchange = seconds(build, alone)
    for work in (exchange / 3, 2 * exchange):
        call = jobs.dataclasses.replace(alone.steps[0], overlap=work)
        both = seconds(build, points.dataclasses.replace(alone, steps=(call,)))
        assert both == pytest.approx(max(exchange, work), rel=1e-5)


def test_torus_shares_its_cut():
    """Half of the bytes of each half of the nodes cross it, one way."""
    machine = points.torus("cray-xe6", 1024)
    group, network = machine["levels"]["group"], machine["levels"]["network"]
    assert group["nodes"] == 512
    assert network["byte"] == pytest.approx(1 / (64 * points.GEMINI_LINK))
    wide = points.torus("cray-xe6", 1024, share=16)["levels"]
    assert wide["group"]["byte"] == pytest.approx(16 * group["byte"])
    assert wide["network"]["byte"] == pytest.approx(16 * network["byte"])


def test_torus_bounds_an_alltoall(build):
    """No time is below what the bytes across the cut take."""
    (point,) = points.harness({256: ["gets"]})
    cut = 128 ** (2 / 3) * points.GEMINI_LINK
    assert seconds(build, point) > 16 * 4096 * 128 * 128 / cut


@pytest.mark.long
def test_page_shows_the_table_and_the_pictures(shown, tmp_path):
    page = (ROOT / "docs/lab/scale.md").read_text(encoding="utf-8")
    assert claims.filled(page, shown) == page, "run tools/scale.py --draw"
    for name in draw.PICTURES:
        assert f"images/scale-{name}.svg" in page
    draw.save_all(shown, tmp_path)
    for name in draw.PICTURES:
        there = (ROOT / f"docs/lab/images/scale-{name}.svg").read_text(encoding="utf-8")
        made = (tmp_path / f"scale-{name}.svg").read_text(encoding="utf-8")
        assert made == there, f"run tools/scale.py --draw: {name}"


def test_table_of_another_figure_is_noticed(shown):
    page = (ROOT / "docs/lab/scale.md").read_text(encoding="utf-8")
    other = [r | {"seconds": str(2 * float(r["seconds"]))} if r["line"] == "uGNI" else r
             for r in shown]  # fmt: skip
    assert claims.filled(page, other) != page


def test_table_is_of_what_would_run(shown):
    """Each run that the tool makes has its line, and no line is of another."""
    def key(p):
        return p.curve, p.line, p.nodes, p.ranks, p.bytes

    made = [(r["curve"], r["line"], *(int(r[k]) for k in ("nodes", "ranks", "bytes")))
            for r in shown]  # fmt: skip
    wanted = [key(p) for p in points.first(small=False)]
    wanted += [key(p) for p in points.beside(shown)]
    assert sorted(made) == sorted(wanted)


def test_lines_of_the_table_come_out_again(build, shown):
    """Today's simulator gives for small runs what the table has."""
    some = [p for p in points.first(small=False) if p.ranks * (p.simulated or p.ranks) < 1e6]
    assert len(some) > 20
    at = {(r["curve"], r["line"], int(r["ranks"]), int(r["bytes"])): r["seconds"] for r in shown}
    for p in some:
        assert seconds(build, p) == pytest.approx(
            float(at[p.curve, p.line, p.ranks, p.bytes]), rel=1e-4
        ), p


def test_page_says_simulated():
    """What stands before a table, and below a picture."""
    page = (ROOT / "docs/lab/scale.md").read_text(encoding="utf-8")
    before = re.findall(r"\n\n((?:[^\n]+\n)+)\n<!-- scale: [^\n]* -->", page)
    assert len(before) == len(claims.TABLES)
    for text in before + re.findall(r"!\[([^]]*)\]", page):
        assert "imulated" in text, text
    assert show.caption(machines.load("cray-xe6")).startswith("simulated")
