# SPDX-License-Identifier: BSD-3-Clause
"""Every command of every document is run here, or its page says why not (documents.py)."""

import os
import re
import subprocess
import sys

import click
import documents
import pytest
from conftest import giving_way
from crestacoll_tools.builds import builds
from crestacoll_tools.cli import main as command_line
from crestacoll_tools.rules import tuning
from library_runs import AS_ROOT, ROOT

sys.path.insert(0, str(ROOT / "tools"))

from sources import files  # noqa: E402

PAGES = [
    documents.read(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    for path in files(".md")
]
COMMANDS = [command for page in PAGES for command in page.commands]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = " ".join(re.findall(r"^\.PHONY:(.*)", MAKEFILE, re.MULTILINE)).split()


def to_run():
    """{page: its commands without a mark}; what stands in several pages is run once."""
    found, seen = {}, set()
    for command in COMMANDS:
        text = command.text.replace("/opt/crestacoll", "PREFIX").replace("./your_program", "./app")
        if command.mark is None and not command.names and text not in seen:
            found.setdefault(command.page, []).append(command)
            seen.add(text)
    return found


RUN = to_run()
PLAIN = ROOT / "tests/package/plain_sum.c"


def test_pages_can_be_read():
    complaints = [text for page in PAGES for text in page.complaints]
    for page in PAGES:
        complaints += [
            f"{page.name}:{mark.line}: <!-- {mark.kind} --> holds for no command"
            for mark in page.marks
            if not mark.used
        ]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    "text, commands",
    [
        ("```sh\nmake a  # b\n```", [("make a  # b", None)]),
        ("```sh\nfor i in 1\ndo ls\ndone\nls \\\n  -l\n```", [("for i in 1\ndo ls\ndone", None),
                                                              ("ls \\\n-l", None)]),
        (
            "<!-- not run: long -->\n```sh\nls\n```\n\n```sh\nls\n```",
            [("ls", "long"), ("ls", None)],
        ),
        (
            "<!-- not run `a`, `b`: x -->\n```sh\na\nb\nc\n```",
            [("a", "x"), ("b", "x"), ("c", None)],
        ),
        (
            "<!-- run by: x.py -->\nSay `make a b`\nor `cc x`.",
            [("make a b", "x.py"), ("cc x", "x.py")],
        ),
        ("Say `make`, `make a`, `crestacoll run ...` or `makes no sense`.", []),
        ("```\nno command\n```\n\n`crestacoll bench x --sizes 8`",
         [("crestacoll bench x --sizes 8", None)]),
    ],
)
def test_commands_are_found(text, commands):
    page = documents.read("x.md", text)
    found = [(c.text, c.mark and c.mark.reason) for c in page.commands if not c.names]
    assert (found, page.complaints) == (commands, [])


@pytest.mark.parametrize(
    "text", ["```\nmake a\n```", "Say:\n\n    make a\n", "- x\n  ```\n  cc a\n  ```"]
)
def test_commands_in_other_blocks_are_refused(text):
    assert len(documents.read("x.md", text).complaints) == 1


@pytest.mark.parametrize(
    "text, why",
    [
        ("crestacoll nosuch -n 2", "No such command"),
        ("A=1 crestacoll bench --nosuch 3", "No such option"),
        ("crestacoll bench -n x alltoall", "not a valid integer"),
        ("ls; make chek", "no chek"),
        ("make check NOSUCH=1", "no NOSUCH=1"),
        ("tools/nosuch.sh all", "no tools/nosuch.sh"),
    ],
)
def test_what_is_not_there_is_found(text, why):
    assert why in wrong(documents.Command("x.md", 1, text))


def test_a_file_that_does_not_run_it_is_found():
    def command(text, path):
        return documents.Command("x.md", 1, text, mark=documents.Mark(1, "run by", [], path))

    here = "tests/python/test_cli_run.py"
    assert lacking(command("crestacoll run --nosuch-one -- ./a --b", here)) == ["--nosuch-one"]
    assert lacking(command("crestacoll run --impl x -- ./a --b", here)) == []
    assert len(lacking(command("crestacoll run", "tests/nosuch.py"))) == 1


def wrong_for_click(words, names):
    """Why the command line would refuse these words, or None; nothing is run."""
    context, command = None, command_line
    try:
        while isinstance(command, click.Group):
            context = command.make_context("crestacoll", list(words), parent=context)
            _, command, words = command.resolve_command(
                context, [*context._protected_args, *context.args]
            )
        command.make_context("crestacoll", list(words), parent=context)
    except click.NoSuchOption as e:
        return str(e)
    except click.BadParameter as e:      # a missing argument, or a file, is no matter of the page
        there = isinstance(e, click.MissingParameter) or "does not exist" in str(e)
        return None if names or there else e.format_message()
    except (click.exceptions.NoArgsIsHelpError, click.exceptions.Exit):  # --help
        return None
    except click.UsageError as e:
        return e.format_message()
    return None


def wrong_for_make(words):
    """The words that are neither a target nor a variable of the Makefile."""
    for word in words:
        name, sets, _ = word.partition("=")
        if not (re.search(rf"\b{name}\b", MAKEFILE) if sets else word in TARGETS):
            return f"the Makefile has no {word}"
    return None


def wrong(command):
    """What is not there: a sub-command, an option, a target, a file."""
    for program, *words in documents.simple(command.text):
        known = [word for word in words if not documents.OPEN.search(word)]
        if program.endswith("crestacoll") and words[:1] == known[:1]:
            found = wrong_for_click([word for word in words if word != "..."], command.names)
        elif program == "make":
            found = wrong_for_make([word for word in words if word != "..."])
        elif re.match(r"(tools|api|bench)/", program) and not (ROOT / program).exists():
            found = f"no {program}"
        else:
            found = None
        if found:
            return found
    return None


@pytest.mark.parametrize(
    "page", [page.name for page in PAGES if page.commands], ids=lambda name: name
)
def test_commands_name_what_is_there(page):
    of_page = [command for command in COMMANDS if command.page == page]
    found = [f"{command}\n    {why}" for command in of_page if (why := wrong(command))]
    assert not found, "\n".join(found)


def lacking(command):
    """The options and the sub-command that do not occur in the file which runs the command."""
    path = ROOT / command.mark.reason
    if not path.is_file():
        return [f"{command.mark.reason} (there is no such file)"]
    text = path.read_text(encoding="utf-8")
    if f'"{command.page}"' in text:  # it reads the command there
        return []
    words = command.text.split(" -- ")[0].split()
    wanted = {word for word in words if word.startswith("--")}
    if named := re.search(r"\b(?:crestacoll|make) +([\w-]+)", command.text):
        wanted.add(named[1])
    return sorted(word for word in wanted if word.split("=")[0] not in text)


def test_other_tests_run_what_they_are_said_to_run():
    marked = [c for c in COMMANDS if c.mark and c.mark.kind == "run by" and not c.names]
    found = [f"{command}\n    {command.mark.reason} has no {', '.join(words)}"
             for command in marked if (words := lacking(command))]
    assert marked
    assert not found, "\n".join(found)


@pytest.fixture(scope="module")
def both():
    """The builds for Open MPI and MPICH."""
    found = {build.name: build for build in builds.all_builds()}
    if not {"openmpi", "mpich"} <= {*found}:
        pytest.skip("the documents' commands need Open MPI and MPICH")
    return found["openmpi"], found["mpich"]


WHOLE = re.compile(r"```c\n(/\* SPDX.*?)```", re.DOTALL)  # a whole file


def test_files_that_pages_show_compile(both, tmp_path):
    """Those of files that are not there, such as made-up models (check_docs.py has the others)."""
    include = [ROOT / name for name in ("src", "generated", "fortran", "include")]
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", *(f"-I{path}" for path in include)]
    made = []
    for path in files(".md"):
        for text in WHOLE.findall(path.read_text(encoding="utf-8")):
            to = tmp_path / f"{path.stem}-{len(made)}.c"
            to.write_text(text)
            made.append((path.name, to))
    wrong = []
    for page, to in made:
        command = [both[0].cache["MPI_C_COMPILER"], *flags, "-fsyntax-only", to]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wrong += [f"{page}:\n{done.stderr}"] if done.returncode else []
    assert "extending.md" in {page for page, _ in made}
    assert not wrong, "\n".join(wrong)


# --- running the others -----------------------------------------------------------------


def script(path, *lines):
    path.write_text("\n".join(["#!/bin/bash", *lines, ""]))
    path.chmod(0o755)


@pytest.fixture(scope="module")
def place(both, tmp_path_factory):
    """A folder like the one in which a reader types: a program, installed trees, the checkout."""
    openmpi, mpich = both
    at = tmp_path_factory.mktemp("reader")
    for build in both:
        subprocess.run(["cmake", "--install", build.folder, "--prefix", at / "opt" / build.name],
                       check=True, capture_output=True)
    (at / "bin").mkdir()
    # Without tools/ and the Makefile: a command that builds must not do it while tests run.
    for name in ("bin/crestacoll", "build", "tests", "api", "examples", ".venv"):
        (at / name).symlink_to(ROOT / name)
    programs = at / "path"
    programs.mkdir()
    (programs / "crestacoll").symlink_to(ROOT / "bin/crestacoll")
    (programs / "mpicc").symlink_to(openmpi.cache["MPI_C_COMPILER"])
    (programs / "mpif90").symlink_to(openmpi.cache.get("MPI_Fortran_COMPILER", "mpif90"))
    script(programs / "mpirun", f'exec {openmpi.launcher} --oversubscribe "$@"')
    script(programs / "mpiexec", f'exec {mpich.launcher} "${{@/#.\\/app/.\\/app.mpich}}"')
    compiled(at, openmpi, mpich)
    written(at, openmpi)
    return at


def compiled(at, openmpi, mpich):
    """A program under the names that pages give it; linked_app is linked to the library."""
    lib = at / "opt" / openmpi.name / "lib"
    linked = [f"-I{lib.parent}/include", f"-L{lib}", "-lcrestacoll", f"-Wl,-rpath,{lib}"]
    for build, name, flags in (openmpi, "app", []), (mpich, "app.mpich", []), (
            openmpi, "linked_app", linked):
        command = [build.cache["MPI_C_COMPILER"], PLAIN, "-o", at / name, *flags]
        subprocess.run(command, check=True)
    for name in "your_program", "program":
        (at / name).symlink_to(at / "app")
    (at / "app.c").symlink_to(PLAIN)
    (at / "app.f90").symlink_to(ROOT / "examples/basic/allreduce.f90")


def written(at, openmpi):
    """The files that commands read."""
    rules = "allreduce=nonblock,*=mpi"
    (at / "rules").write_text(rules)
    (at / "crestacoll-explore").mkdir()
    (at / "crestacoll-explore/rules").write_text(rules)
    rule = {"collective": "allreduce", "implementation": "nonblock"}
    head = tuning.head(openmpi.description["mpi"]["library"])
    tuning.write(at / "crestacoll.json", head, [rule])


@pytest.fixture
def reader(place, tmp_path):
    """A folder of its own with what is in `place`, and the variables of a reader's shell."""
    for entry in place.iterdir():
        (tmp_path / entry.name).symlink_to(entry)
    path = f"{place}/path{os.pathsep}{os.environ['PATH']}"
    pkg_config = f"{place}/opt/openmpi/lib/pkgconfig"
    variables = {"PATH": path, "PKG_CONFIG_PATH": pkg_config, **AS_ROOT, **giving_way()}
    return tmp_path, builds.clean_environment(**variables)


def typed(command, place):
    """The command with the folders of this machine for those of the page, a small grid, and few
    steps."""
    opt = str(place / "opt")
    text = command.text.replace("--grid 64 --steps 20", "--grid 16 --steps 2")
    text = text.replace("./power 128 100000", "./power 128 2000")
    text = text.replace("./jacobi 10000 512", "./jacobi 100 64")
    # Accumulates of MPICH are messages to a rank that may not have a core just then.
    text = text.replace("crestacoll atomics", "crestacoll atomics --batches 5 --calls 20")
    text = text.replace("/opt/crestacoll", opt).replace("<prefix>", f"{opt}/openmpi")
    return re.sub(r"\bPREFIX/", f"{opt}/", text)


@pytest.mark.parametrize("page", RUN)
def test_commands_run(page, place, reader):
    folder, env = reader
    lines = ["set -eo pipefail"]
    for command in RUN[page]:
        lines += [f"echo '@ {command.page}:{command.line}'", typed(command, place)]
    done = subprocess.run(["bash", "-c", "\n".join(lines)], cwd=folder, env=env, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=1500, check=False)
    last = done.stdout[done.stdout.rfind("\n@ ") + 1:]
    assert done.returncode == 0, f"exit code {done.returncode} of the last of these:\n{last}"
