# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll report -o`: what the page says, that names stay names, and how a browser shows it."""

import copy
import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest
import report_data
from conftest import command
from crestacoll_tools import schemas
from crestacoll_tools.demo import demo, demopage
from crestacoll_tools.explore import page as explore_page
from crestacoll_tools.pages import plots
from crestacoll_tools.report import reportfiles, reportpage

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture
def crestacoll(in_process):
    """It only reads files; a page is made by the command."""
    return in_process


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One result of each kind but explore."""
    folder = tmp_path_factory.mktemp("files")
    for name in ("profile", "io", "bench", "overlap"):
        data = getattr(report_data, name)()
        assert schemas.problems(name, data) == []
        (folder / f"{name}.json").write_text(json.dumps(data))
    return [folder / f"{name}.json" for name in ("profile", "io", "bench", "overlap")]


@pytest.fixture(scope="module")
def page(files, tmp_path_factory):
    """Their page, whose pictures take seconds."""
    folder = tmp_path_factory.mktemp("page")
    made = command("report", *files, "-o", "r.html", cwd=folder)
    assert made.returncode == 0, made.stderr
    assert made.stdout.strip() == "report: r.html"
    return (folder / "r.html").read_text()


def page_of(*files):
    return reportpage.render([reportfiles.read(str(f)) for f in files])


def test_one_page_of_all(page):
    text = html.unescape(re.sub("<[^>]*>", " ", page))
    for said in (
        "34.7 % of the run passes in collectives; allreduce on MPI_COMM_WORLD (4) takes the largest"
        " part of it.",
        "Figure 3: time of alltoall",
        "Figure 4: time of allreduce",
        "time of bcast",
        "Figure 5: overlap with computation",
        "alltoall: p2p: overlaps with the computation: 90% is hidden (3 sizes)",
        "Rank 2 spends least of the run in collectives",
        "By collective",
        "By communicator",
        "By implementation",
        "By size",
        "Over the time of the run",
        "alltoall shm: left out <b>",
        "32,000 of these could be collective",
        "non-blocking collective read",
    ):
        assert said in text, said
    assert page.count("<svg") == page.count("<figure>") == 11


def test_it_needs_nothing_else_and_runs_nothing(page):
    assert "<script" not in page and "\x1b" not in page
    assert "&lt;script&gt;" in page and page.count("</svg>") == 11
    for value in re.findall(r'(?:src|href|xlink:href)="([^"]*)"', page):
        assert value.startswith(("#", "data:image/png;base64,")), value
    assert "url(http" not in page and "@import" not in page


def test_shares_add_up(files):
    """Pictures, tables and tiles have the same total: the mean of a rank."""
    section = reportpage.profile_section(reportfiles.read(str(files[0])))
    for group in section["groups"]:
        shares = [float(line[4].split()[0]) for line in group["lines"]]
        assert sum(shares) == pytest.approx(34.7, abs=0.2), group["title"]
    lines = section["timeline"]["lines"]
    assert len(lines) == 12 and lines[0]["least"] < lines[0]["mean"] < lines[0]["most"]
    assert all(line["collective"] in ("alltoall", "–") for line in lines)


def test_old_profiles_and_empty_ones(profile_data, tmp_path):
    (tmp_path / "p.json").write_text(json.dumps(profile_data))
    assert "Over the time" not in page_of(tmp_path / "p.json")
    profile_data |= {"records": [], "wall_s": 0}
    (tmp_path / "p.json").write_text(json.dumps(profile_data))
    assert "The program called no collective" in page_of(tmp_path / "p.json")


def test_rows_of_many_ranks(tmp_path):
    data = report_data.profile()
    data["ranks"] = 400
    data["timeline"]["ranks_per_row"] = 100
    for i, row in enumerate(data["timeline"]["rows"]):
        row |= {"rank": 100 * i, "ranks": 100}
    (tmp_path / "p.json").write_text(json.dumps(data))
    page = page_of(tmp_path / "p.json")
    assert "A line has 100 neighbouring ranks" in page and "A rank of 200 to 299 spends" in page


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["p.json", "b.json"], 2, "add -o report.html"),
        (["b.json"], 2, "b.json is a result of bench: add -o"),
        (["p.json", "-o", "r.html", "--all"], 2, "--format html takes no --all"),
        (["p.json", "-o", "no/r.html"], 2, "--output no/r.html: no such folder"),
        (["p.json", "other.json", "-o", "r.html"], 125, "other.json: report cannot read this"),
        (["cut.json", "-o", "r.html"], 125, "cut.json is not a JSON file"),
        (["short.json", "-o", "r.html"], 125, "another length than its bins"),
        (["bad.json", "-o", "r.html"], 125, "does not follow the schema of bench"),
        (["empty", "-o", "r.html"], 125, "cannot read empty/state.json"),
        (["begun", "-o", "r.html"], 125, "has no result yet"),
        ([], 2, "Missing argument"),
    ],
)
def test_mistakes(words, code, said, tmp_path, crestacoll):
    good, bench = report_data.profile(), report_data.bench()
    short = copy.deepcopy(good)
    short["timeline"]["rows"][0]["busy_us"].pop()
    for name, data in (("p", good), ("b", bench), ("short", short), ("other", {"schema": []})):
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    (tmp_path / "bad.json").write_text(json.dumps(bench | {"records": [{}]}))
    (tmp_path / "cut.json").write_text('{"schema": ')
    for name in ("empty", "begun"):
        (tmp_path / name).mkdir()
    begun = {"schema": "crestacoll-explore-1", "result": None}
    (tmp_path / "begun" / "state.json").write_text(json.dumps(begun))
    ran = crestacoll("report", *words)
    assert ran.returncode == code and said in ran.stderr, ran.stderr
    assert "Traceback" not in ran.stderr and not (tmp_path / "r.html").exists()


# What readers who lack one kind of cone see of linear RGB (Machado, Oliveira and Fernandes, 2009).
SIGHT = {
    "all": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def lab(colour, sight):
    """CIE Lab of #rrggbb as someone sees it: distances are those of perception."""
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.array(TO_XYZ) @ np.clip(np.array(SIGHT[sight]) @ linear, 0, 1)
    f = np.cbrt(np.maximum(xyz / [0.9505, 1.0, 1.089], 1e-9))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_differ_for_all_readers(sight):
    for k, one in enumerate(plots.PALETTE):
        for other in plots.PALETTE[k + 1 :]:
            distance = np.linalg.norm(lab(one, sight) - lab(other, sight))
            assert distance > 12, f"{one} and {other} look alike with {sight}: {distance:.0f}"


# A page in frames of several widths, and as it is printed; what is measured goes into the DOM.
PROBE = """<!doctype html><meta charset="utf-8"><pre id="found"></pre><script>
const pages = %s, found = {};
let left = Object.keys(pages).length;
function touch(a, b) {
  const w = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return w > 1 && h > 0.4 * Math.min(a.height, b.height);
}
function measure(d) {
  const told = {title: d.title, scripts: d.scripts.length, wide: [], pictures: [], texts: 0,
                outside: [], touching: [], heading: d.querySelector("h1").textContent,
                background: getComputedStyle(d.body).backgroundColor};
  const width = d.documentElement.clientWidth;
  if (d.documentElement.scrollWidth > width) told.wide.push("page");
  for (const e of d.querySelectorAll("h1, h2, h3, p, li, .tile, svg, figure"))
    if (e.getBoundingClientRect().right > width + 1) told.wide.push(e.outerHTML.slice(0, 80));
  for (const t of d.querySelectorAll("table"))
    if (getComputedStyle(t.parentElement).overflowX == "visible" &&
        t.getBoundingClientRect().right > width + 1) told.wide.push(t.innerText.slice(0, 80));
  for (const s of d.querySelectorAll("svg[role=img]")) {
    const box = s.getBoundingClientRect();
    told.pictures.push([box.width, box.height, s.getAttribute("aria-label")]);
    const texts = [...s.querySelectorAll("text")].filter(t => t.textContent.trim());
    const boxes = texts.map(t => t.getBoundingClientRect());
    told.texts += texts.length;
    texts.forEach((t, i) => {
      const b = boxes[i];
      if (b.left < box.left - 3 || b.right > box.right + 3 ||
          b.top < box.top - 3 || b.bottom > box.bottom + 3)
        told.outside.push(t.textContent);
      for (let k = i + 1; k < texts.length; k++)
        if (touch(b, boxes[k])) told.touching.push(t.textContent + " | " + texts[k].textContent);
    });
  }
  return told;
}
for (const [name, [width, text]] of Object.entries(pages)) {
  const frame = document.createElement("iframe");
  frame.style = `width: ${width}px; height: 900px`;
  frame.srcdoc = text;
  frame.onload = () => {
    found[name] = measure(frame.contentDocument);
    if (--left == 0) document.getElementById("found").textContent = JSON.stringify(found);
  };
  document.body.append(frame);
}
</script>"""


def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    return found


def browse(tmp_path, *words):
    """What a browser without window answers."""
    done = subprocess.run(
        [
            *(browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *("--no-first-run", f"--user-data-dir={tmp_path / 'browser'}", *map(str, words)),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def probed(tmp_path, pages):
    """{name: what a browser measures} of {name: (width, page)}."""
    given = json.dumps(pages).replace("</", "<\\/").replace("<!--", "<\\!--")
    (tmp_path / "probe.html").write_text(PROBE % given, encoding="utf-8")
    dom = browse(tmp_path, "--virtual-time-budget=20000", "--dump-dom", tmp_path / "probe.html")
    return json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', dom, re.S)[1]))


def test_in_a_browser(page, tmp_path):
    """On a screen, on a telephone and on A4 paper nothing is cut off, no text lies on another, and
    no name from the program has become a part of the page.
    """
    printed = page.replace("@media print", "@media all")
    pages = {"screen": (1100, page), "phone": (400, page), "paper": (680, printed)}
    found = probed(tmp_path, pages)
    for name, told in found.items():
        assert told["wide"] == [] and told["outside"] == [] and told["touching"] == [], name
        assert told["scripts"] == 0 and told["title"].startswith("crestacoll report"), name
        assert told["heading"].startswith("34.7 % of the run"), name
        assert len(told["pictures"]) == 11 and told["texts"] > 150, name
        for width, height, label in told["pictures"]:
            assert width > 300 and height > 40 and label, (name, label)
    assert found["paper"]["background"] == "rgb(255, 255, 255)"


LONG = "/home/somebody/projects/of_several_years/build_with_everything/bin/program_without_a_blank"


def explored():
    """What an exploration found of a program with a long path, and with a long rule."""
    rule = {"rule": "reduce_scatter_block[65536:]@communicator_of_columns=p2p:recursive_halving"}
    found = report_data.explored()
    found |= {"by": "steps", "others": {"busy": 0.0, "stolen": 0.0}}
    return found | {"command": ["mpirun", "-n", "4", LONG], "rules": [found["rules"][0] | rule]}


def calls_page():
    origin = report_data.origin(("0", "0"), UCX_TLS=LONG) | {"command": ["mpirun", LONG]}
    calls = report_data.calls()
    calls["modules"][0]["path"] = f"/nowhere/{LONG.replace('/', '_')}.so"
    pages = [report_data.profile() | {"calls": calls, "origin": origin}, report_data.uneven()]
    sources = [reportfiles.Source(f"{LONG}{i}.json", "profile", p) for i, p in enumerate(pages)]
    return reportpage.render(sources).encode("utf-8", "backslashreplace").decode("utf-8")


def demo_page(found):
    told = [demo.about(case, found=found) for case in demo.CASES]
    bodies = [explore_page.body(None, found, "a machine") for _ in told]
    return demopage.render(demo.document(told, 240.0), bodies)


def test_long_words_on_a_telephone(tmp_path):
    """Paths and names that have no blank break, or scroll in a frame of their own: no page is wider
    than the window.
    """
    found = explored()
    made = {
        "calls": calls_page(),
        "explore": explore_page.render(None, found),
        "demo": demo_page(found),
    }
    pages = {f"{n} {width}": (width, p) for n, p in made.items() for width in (400, 340)}
    for name, told in probed(tmp_path, pages).items():
        assert told["wide"] == [], name


def test_printed(page, tmp_path):
    (tmp_path / "r.html").write_text(page, encoding="utf-8")
    browse(tmp_path, f"--print-to-pdf={tmp_path / 'r.pdf'}", tmp_path / "r.html")
    pdf = (tmp_path / "r.pdf").read_bytes()
    assert pdf.startswith(b"%PDF") and 4 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 16
