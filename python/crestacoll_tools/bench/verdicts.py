# SPDX-License-Identifier: BSD-3-Clause
"""Which implementation of which collective is right here: results of `crestacoll check`, kept in
the build folder, and the table of Figure 1 of D4.5.3 that is made of them.
"""

import datetime
import hashlib
import json

from crestacoll import __version__
from crestacoll_tools.base import outputs
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.bench import checkjob
from crestacoll_tools.bench.checkjob import FINE, NOT_HERE, WRONG
from crestacoll_tools.builds import machine

SCHEMA = "crestacoll-check-1"
RANKS = [2, 3]
ORDER = ["Fortran", "C"]  # as in the document


def identity(build):
    """What tells builds apart that were checked: another build of one name is another."""
    digest = hashlib.sha256(build.description["mpi"]["library"].encode())
    files = [build.program(name) for name in checkjob.PROGRAMS.values()]
    for path in [*files, build.folder / "lib" / "libcrestacoll.so"]:
        digest.update(path.read_bytes() if path.exists() else b"-")
    return digest.hexdigest()[:16]


def kept_in(build):
    return build.results / "check.json"


def record(build, outcome):
    return {
        "schema": SCHEMA,
        "crestacoll": __version__,
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "identity": identity(build),
        "build": build.name,
        "mpi": build.description["mpi"],
        "machine": machine.describe(),
        "left_out": outcome.left_out,
        "verdicts": [v.as_dict() for v in outcome.verdicts],
    }


def keep(build, outcome):
    """Writes the results of a whole check into the folder of the build's results, if it lets us."""
    data = record(build, outcome)
    try:
        kept_in(build).parent.mkdir(parents=True, exist_ok=True)
        outputs.write_text(kept_in(build), json.dumps(data, indent=1) + "\n")
    except (OSError, Problem):
        pass  # an installed tree of somebody else: the next table is made anew
    return data


def kept(build):
    """What was kept, if it is of this very build; else None."""
    try:
        data = json.loads(kept_in(build).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = data.get("schema") == SCHEMA and data.get("identity") == identity(build)
    return data if same else None


def check(build, cells, lacking, ranks, limits, on_progress=lambda: None, only=None):
    """Runs cells in every language (or `only` these) on each number of ranks."""
    outcome = checkjob.Outcome()
    for language in only or checkjob.languages(build):
        for n in ranks:
            job = checkjob.Job(build, language, n, **limits)
            outcome.add(checkjob.run(job, cells, on_progress))
            for word, why in lacking.items():
                c, _, impl = word.partition("=")
                outcome.verdicts.append(checkjob.Verdict(language, n, c, impl, NOT_HERE, why=why))
    share_reasons(outcome.verdicts)
    return outcome


def share_reasons(found):
    """What would run instead is reported in C only, and is the same in Fortran."""
    known = {(v.collective, v.implementation): v.instead for v in found if v.instead}
    for v in found:
        if v.status == NOT_HERE:
            v.instead = v.instead or known.get((v.collective, v.implementation), "")


def check_models(build, limits=None, on_progress=lambda: None):
    """Every model of every collective: what the table needs. Keeps the results."""
    cells, lacking = checkjob.list_cells(build, build.collectives, None, False)
    return keep(build, check(build, cells, lacking, RANKS, limits or {}, on_progress))


def judge(verdicts):
    """(Y or N, footnotes) of the verdicts about one cell on different numbers of ranks."""
    if not verdicts:
        return "-", ["not checked"]
    wrong = [v for v in verdicts if v["status"] == WRONG]
    if wrong:
        return "N", [" ".join(wrong[0]["errors"][:1]) or "wrong results"]
    runs = [v for v in verdicts if v["status"] == FINE]
    refused = [v for v in verdicts if v["status"] == NOT_HERE or v["refused"]]
    return "Y" if runs else "N", list(dict.fromkeys(refusal(v) for v in refused))


def refusal(v):
    instead = f"; {v['instead']} runs instead" if v["instead"] else ""
    if v["status"] == NOT_HERE:
        return f"{v['why']}{instead}"
    why = f": {v['why']}" if v["why"] else ""
    return f"another implementation runs some calls{why}{instead}"


def table_of(data, build):
    """{columns: [(language, model)], rows: [(collective, [(cell, footnote numbers)])], notes}."""
    models = [m["name"] for m in build.description["models"]]
    by_cell = {}
    for v in data["verdicts"]:
        by_cell.setdefault((v["collective"], v["language"], v["implementation"]), []).append(v)
    told = {v["language"] for v in data["verdicts"]}
    columns = [(lang, m) for lang in ORDER if lang in told for m in models]
    notes, rows = [], []
    for collective in build.collectives:
        row = []
        for language, model in columns:
            answer, why = judge(by_cell.get((collective, language, model), []))
            why = [w for w in why if w]
            notes += [w for w in dict.fromkeys(why) if w not in notes]
            row.append((answer, [notes.index(w) + 1 for w in why]))
        rows.append((collective, row))
    ranks = sorted({v["ranks"] for v in data["verdicts"]})
    return {"columns": columns, "rows": rows, "notes": notes, "ranks": ranks}
