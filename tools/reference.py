#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""reference.py - writes what is generated of docs/reference and docs/mpi-defects.md, from the code
that it describes: of a function of C, its prototype and the comment above it, of one of Python, its
docstring.

    .venv/bin/python tools/reference.py           write the pages (make reference)
    .venv/bin/python tools/reference.py --check   write nothing; exit 1 if a page is out of date

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`; all else in a page is
written by hand. Every function of the C headers needs a heading in its page, where several may
share one; every environment variable needs a heading or a page in GUIDES; code asks for every row
of src/mpi/quirks.def, and tests/mpi/mpi_bugs shows what it names.
Needs the Python packages of .venv, because it asks the command line for its help.
"""
import ast
import inspect
import json
import os
import re
import sys
from pathlib import Path
from textwrap import indent

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "api")]

from click.testing import CliRunner  # noqa: E402
from crestacoll_tools.cli import main as command_line  # noqa: E402
from table import FORMS, c_parameters, read_table, wrap  # noqa: E402

PAGES = ROOT / "docs/reference"
HEADERS = ("crestacoll.h", "cresta_sp_coll.h", "cresta_multisend.h")
QUIRKS = ROOT / "src/mpi/quirks.def"
STRINGS = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+')
PART = re.compile(r"(<!-- generated: ([\w. -]+) -->\n).*?(<!-- end -->)", re.S)
FUNCTION = re.compile(r"^### (.+)\n\n<!-- generated: ([\w ]+) -->\n", re.M)
WIDTH = 96
STATISTICS = {f"{name}{array}" for name in ("min", "mean", "max") for array in ("", "[]")}
BYTES = {
    "bcast": "`count` elements: the whole buffer",
    "reduce": "`count` elements: the whole vector",
    "allreduce": "`count` elements: the whole vector",
    "scan": "`count` elements: the whole vector",
    "exscan": "`count` elements: the whole vector",
    "reduce_scatter": "the sum of `recvcounts` elements: the whole vector",
    "reduce_scatter_block": "`recvcount` elements: the block of one rank",
    "gather": "`sendcount` elements: the contribution of one rank",
    "allgather": "`sendcount` elements: the contribution of one rank",
    "scatter": "`recvcount` elements: the block of one rank",
    "alltoall": "`sendcount` elements: the block from one rank to another",
}
# Variables of which the table says all that their guide does not.
GUIDES = {
    "IMPL": "../choosing.md#grammar",
    "TUNING": "../choosing.md#tuning-files",
    "RACE": "../methods.md#race",
    "ONLINE": "../choosing.md#while-the-program-runs",
    "GUARD": "../choosing.md#while-the-program-runs",
    "VALIDATE": "../trust.md#check-the-calls-of-a-run",
    "VALIDATE_MEMORY": "../methods.md#what-a-check-covers",
    "VALIDATE_STOP": "../trust.md#check-the-calls-of-a-run",
    "VALIDATE_FILES": "../trust.md#make-one-call-again",
    "VALIDATE_SUMMARY": "file-formats.md#summary-of-a-validation",
    "REPRODUCIBLE": "../trust.md#reproducible-sums",
    "FALLBACK": "../choosing.md#when-an-implementation-cannot-do-a-call",
    "LOG": "../questions.md#how-do-i-know-what-ran",
    "PROFILE_WAIT": "../profile.md#waiting",
    "PROFILE_EVERY": "../methods.md#snapshot",
    "IO": "../mpi-io.md",
    "SHM_DISTANCE": "../methods.md#where-shm-copies-once",
    "ASYNC": "../split-phase.md#the-progress-thread",
    "PROTECTED_BUFFER": "../split-phase.md#rules-for-the-program",
    "DEVICE_MEMORY": "../questions.md#does-it-work-with-gpus",
    "ATOMICS": "../one-sided.md#atomics-on-windows",
    "WATCHDOG": "../failures.md#the-roll-call",
    "WATCHDOG_SIGNAL": "../failures.md#the-roll-call",
    "WATCHDOG_AT": "../failures.md#the-roll-call",
    "BLACKBOX": "../failures.md#the-black-box",
    "LOADED": "../questions.md#which-build-is-loaded",
}
NEAR = "no common size; a profile counts what goes to one neighbour"
NO_SIZE = {
    "barrier": "none",
    "neighbor_allgather": NEAR,
    "neighbor_allgatherv": NEAR,
    "neighbor_alltoall": NEAR,
    "neighbor_alltoallv": f"{NEAR}, in the mean",
    "neighbor_alltoallw": f"{NEAR}, in the mean",
    "neighbor_reduce": NEAR,
    "neighbor_alltoall_reduce": NEAR,
    "alltoallv": "no common size; a profile counts the mean block of the rank",
    "alltoallw": "no common size; a profile counts the mean block of the rank",
}
UNEVEN = "no common size; a profile counts the contribution of the rank"


def prototype(coll, form):
    return wrap(f"int CRESTA_{form.name(coll.name)}({', '.join(c_parameters(coll, form))});",
                width=92)


def collectives():
    """Each collective: its blocking call in C, and what its bytes are."""
    text = ""
    for coll in read_table():
        bytes_are = BYTES.get(coll.name, NO_SIZE.get(coll.name, UNEVEN))
        text += (
            f"### CRESTA_{FORMS[0].name(coll.name)}\n\n```c\n{prototype(coll, FORMS[0])}\n```\n\n"
            f"Bytes of the call: {bytes_are}.\n\n"
        )
    return text


def c_string(text):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))


def variables():
    """[(name, same on all ranks, default, help)] of env.def."""
    table = (ROOT / "src/config/env.def").read_text()
    rows = re.findall(r"^CCO_ENV\((\w+), \w+, \w+, (true|false), (\w+|\"[^\"]*\"),\s*"
                      r"((?:\"[^\"]*\"\s*)+)\)", table, re.M)
    return [(name, same == "true", c_string(preset) if preset[0] == '"' else "0", c_string(text))
            for name, same, preset, text in rows]


def environment():
    lines = ["| variable | default | ranks | meaning |", "|---|---|---|---|"]
    for name, same, preset, text in variables():
        default = f"`{preset}`" if preset else "empty"
        ranks = "equal" if same else "may differ"
        to = GUIDES.get(name, f"#cresta_{name.lower()}")
        link = f"[`CRESTA_{name}`]({to})"
        lines.append(f"| {link} | {default} | {ranks} | {text} |".replace("|MPI", r"\|MPI"))
    return "\n".join(lines) + "\n"


def command_names():
    """The words of every sub-command, and of those below it."""
    yield []
    for name in command_line.list_commands(None):
        yield [name]
        below = command_line.get_command(None, name)
        yield from ([name, inner] for inner in getattr(below, "commands", {}))


def commands():
    """The help of every sub-command, without the line of --help, which is the same in each."""
    runner, text = CliRunner(), ""
    for words in command_names():
        name, words = " ".join(words), [*words, "--help"]
        done = runner.invoke(command_line, words, prog_name="crestacoll", terminal_width=WIDTH)
        lines = "\n".join(line.rstrip() for line in done.output.replace("\b\n", "").splitlines()
                          if not words[:-1] or not line.startswith("  -h, --help "))
        text += f"## {f'crestacoll {name}'.strip()}\n\n```\n{lines.strip()}\n```\n\n"
    return text


def kind_of(schema):
    """The type of a member, in words."""
    if "const" in schema:
        return f"`\"{schema['const']}\"`"
    if "enum" in schema:
        return " or ".join(f"`\"{value}\"`" for value in schema["enum"])
    kinds = [one.get("type", "object") for one in schema.get("oneOf", [])] or schema["type"]
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def resolved(schema, whole):
    return whole["$defs"][schema["$ref"].split("/")[-1]] if "$ref" in schema else schema


def members(schema, whole, seen=None):
    """(path, type, meaning) of all members, those of members behind a dot; of objects that are
    alike, those of the first.
    """
    seen = set() if seen is None else seen
    for name, member in schema.get("properties", {}).items():
        target = member.get("items", {})
        inner = resolved(target, whole)
        if not inner:
            offered = [resolved(one, whole) for one in member.get("oneOf", [])]
            inner = next((o for o in offered if "properties" in o), resolved(member, whole))
        path = name + "[]" * (member.get("type") == "array")
        meaning = member.get("description", inner.get("description", ""))
        yield path, kind_of(resolved(member, whole)), meaning
        alike = member.get("$ref") in seen
        seen |= {member["$ref"]} if "$ref" in member else set()
        for below, kind, meaning in members({} if alike else inner, whole, seen):
            yield f"{path}.{below}", kind, meaning


def schema_table(name):
    schema = json.loads((ROOT / f"python/crestacoll_tools/schemas/{name}.schema.json").read_text())
    lines = ["| member | type | meaning |", "|---|---|---|"]
    rows = list(members(schema, schema))
    while rows:
        alike = rows[: 1 + next_to(rows)]
        names = [f"`{alike[0][0]}`"] + [f"`.{path.rpartition('.')[2]}`" for path, *_ in alike[1:]]
        lines.append(
            f"| {', '.join(names)} | {alike[0][1]} | {'; '.join(m for *_, m in alike)} |")
        del rows[: len(alike)]
    return "\n".join(lines) + "\n"


def next_to(rows):
    """How many rows after the first one have another statistic of the same (min, mean, max)."""
    (path, kind, _), count = rows[0], 0
    for other, its, _ in rows[1:]:
        both = {name.rpartition(".")[2] for name in (path, other)}
        if its != kind or other.rpartition(".")[0] != path.rpartition(".")[0] \
                or not both <= STATISTICS:
            break
        count += 1
    return count


PARTS = {
    "collectives": collectives,
    "environment": environment,
    "commands": commands,
    "profile.json": lambda: schema_table("profile"),
    "io.json": lambda: schema_table("io"),
    "tuning.json": lambda: schema_table("tuning"),
    "bench.json": lambda: schema_table("bench"),
    "overlap.json": lambda: schema_table("overlap"),
    "explore.json": lambda: schema_table("explore"),
    "machine.json": lambda: schema_table("machine"),
    "mpi-defects": lambda: defects(),
}


def functions():
    """{function: (the comment above it, its prototype)} of the headers written by hand."""
    text = "".join((ROOT / "include" / header).read_text() for header in HEADERS)
    return {name: (comment, prototype) for comment, prototype, name in re.findall(
        r"((?:^/\*(?:(?!\*/).)*\*/\n(?=int ))?)^(int (CRESTA_\w+)\([^;]*;)\n", text, re.M | re.S)}


def in_python(names):
    """Functions and classes of the package, with what their docstrings say."""
    defined = {node.name: node for path in sorted((ROOT / "python/crestacoll").glob("_[a-z]*.py"))
               for node in ast.parse(path.read_text()).body if hasattr(node, "name")}
    text = ""
    for node in map(defined.get, names):
        told = inspect.cleandoc(ast.get_docstring(node))
        if isinstance(node, ast.ClassDef):
            title = node.name
            fields = [line.target.id for line in node.body if isinstance(line, ast.AnnAssign)]
            told = "\n\n".join([told, *([f"Members: {', '.join(fields)}"] if fields else []), *(
                f"{signature(method)}\n{indent(ast.get_docstring(method), '    ')}"
                for method in node.body
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"))])
        else:
            title = signature(node)
        text += f"### `{title}`\n\n```text\n{told}\n```\n\n"
    return text.rstrip()


def signature(function):
    """'bcast(buf, root=0)'; of a property, its name."""
    if any(getattr(by, "id", "") == "property" for by in function.decorator_list):
        return function.name
    for argument in function.args.args:
        argument.annotation = None
    given = ast.unparse(function.args).removeprefix("self").removeprefix(", ")
    return f"{function.name}({given})"


def part(names):
    """The text of a generated part."""
    if names in PARTS:
        return PARTS[names]().rstrip()
    if names.startswith("python "):
        return in_python(names.split()[1:])
    known = functions()
    told = "".join(f"\n{comment}{prototype}\n" if comment else f"{prototype}\n"
                   for comment, prototype in (known[name] for name in names.split()))
    return f"```c\n{told.lstrip()}```"


def missing_headings():
    """What the code has and no heading names, or no prototype follows."""
    found = FUNCTION.findall((PAGES / "api.md").read_text())
    there = {name for heading, names in found for name in names.split()
             if heading == ", ".join(names.split())}
    for name in functions():
        if name not in there:
            yield f"docs/reference/api.md: no heading and prototype for {name}"
    page = (PAGES / "environment.md").read_text()
    for name, *_ in variables():
        if name not in GUIDES and f"\n## CRESTA_{name}\n" not in page:
            yield f"docs/reference/environment.md: no heading for CRESTA_{name}"


def quirks():
    """[name, functions that show it, MPIs, call, what happens, what crestacoll does]"""
    for row in re.split(r"^CCO_QUIRK\(", QUIRKS.read_text(), flags=re.M)[1:]:
        texts = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"')
                 for text in STRINGS.findall(row)]
        yield [row.split(",")[0], texts[0].split(), *texts[1:]]


def defects():
    """The table of what code asks for."""
    lines = ["| MPI | call | what happens | what crestacoll does |", "|---|---|---|---|"]
    for _, shown, mpis, call, what, does in quirks():
        by = f" ({', '.join(f'`{name}`' for name in shown)})" if shown else ""
        lines.append(f"| {mpis} | {call} | {what}{by} | {does} |")
    return "\n".join(lines)


def wrong_quirks():
    """Rows for which no code asks, and functions that are none."""
    code = "".join(path.read_text() for path in (ROOT / "src").rglob("*.[ch]"))
    bugs = "".join(path.read_text() for path in (ROOT / "tests/mpi").glob("mpi_bugs*.[ch]"))
    for name, shown, *_ in quirks():
        if not re.search(rf"\bcco_quirk_{name}\b", code):
            yield f"src/mpi/quirks.def: no code asks for {name}"
        yield from (f"src/mpi/quirks.def: {name} is shown by {bug}, which mpi_bugs has not"
                    for bug in shown if not re.search(rf"\b{bug}\b", bugs))


def main():
    check, wrong = "--check" in sys.argv[1:], []
    os.environ.pop("COLUMNS", None)
    for page in [*sorted(PAGES.glob("*.md")), ROOT / "docs/mpi-defects.md"]:
        text = page.read_text()
        new = PART.sub(lambda found: f"{found[1]}{part(found[2])}\n{found[3]}", text)
        if new != text and check:
            wrong.append(f"{page.relative_to(ROOT)} is out of date: run make reference")
        elif new != text:
            page.write_text(new)
            print(f"wrote {page.relative_to(ROOT)}")
    wrong += [*missing_headings(), *wrong_quirks()]
    print("\n".join(wrong) or "reference: ok")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
