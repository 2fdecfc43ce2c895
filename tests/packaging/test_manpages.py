# SPDX-License-Identifier: BSD-3-Clause
"""Man pages and shell completion, which are made of the help of the command line."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import manpages  # noqa: E402


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    folder = tmp_path_factory.mktemp("share")
    subprocess.run([sys.executable, str(ROOT / "tools/manpages.py"), str(folder)], check=True)
    return folder


def test_there_is_a_page_for_each_command(share):
    names = {path.name for path in (share / "man/man1").iterdir()}
    root = click.Context(manpages.command_line, info_name="crestacoll")
    for name in manpages.command_line.list_commands(root):
        assert f"crestacoll-{name}.1" in names
    assert {"crestacoll.1", "crestacoll-tuning-check.1"} <= names


def test_groff_has_no_warning(share):
    if not shutil.which("groff"):
        pytest.skip("no groff")
    pages = sorted((share / "man/man1").iterdir())
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", *pages], capture_output=True,
                          text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_a_page_has_what_the_help_says(share):
    if not shutil.which("groff"):
        pytest.skip("no groff")
    page = share / "man/man1/crestacoll-run.1"
    done = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", page], capture_output=True,
                          text=True, check=True)
    text = " ".join(done.stdout.split())
    for words in ("SYNOPSIS crestacoll run [OPTIONS] -- COMMAND...",
                  "EXAMPLES crestacoll run --impl '*=nonblock' -- mpirun -n 2 ./app input.dat",
                  "--profile FILE Count and time the program's calls of the MPI",
                  "124 the command ended with 0, but no rank loaded crestacoll",
                  "SEE ALSO crestacoll(1)"):
        assert words in text, text


@pytest.mark.parametrize("text, written", [
    ("a -x \\ `b c`", r"a \-x \(rs \fBb c\fR"), ("it's ~^", r"it\(aqs \(ti\(ha"),
    ("ü", r"\[u00FC]")])
def test_text_becomes_roff(text, written):
    assert manpages.roff(text) == written


@pytest.mark.parametrize("lines, written", [
    (["one", "two"], [".PP", "one two"]), (["crestacoll x"], [".PP", ".nf", "crestacoll x", ".fi"]),
    (["Codes:", "  1    wrong", "       and more", "  two words  b"],
     [".PP", "Codes:", ".TP", r"\fB1\fR", "wrong and more", ".TP", r"\fBtwo words\fR", "b"]),
    ([".nf"], [".PP", r"\&.nf"])])
def test_paragraphs_become_roff(lines, written):
    assert manpages.body(lines) == written


BASH = """
source {share}/bash-completion/completions/crestacoll
COMP_WORDS=({words}) COMP_CWORD={at}
_crestacoll_completion crestacoll
echo "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize("words, at, expected", [
    ("crestacoll ex", 1, {"explore", "explain"}), ("crestacoll run --im", 2, {"--impl"}),
    ("crestacoll tuning sh", 2, {"show"}), ("crestacoll run --log i", 3, {"info"})])
def test_bash_completes(share, words, at, expected):
    path = f"{ROOT / 'bin'}:{os.environ['PATH']}"
    script = BASH.format(share=share, words=words, at=at)
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True,
                          env={**os.environ, "PATH": path})
    assert set(done.stdout.split()) == expected, done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_theirs(share, shell):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")
    file = share / manpages.COMPLETION[shell]
    done = subprocess.run([shell, "-n", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_fish_completes(share):
    if not shutil.which("fish"):
        pytest.skip("no fish")
    script = f"source {share / manpages.COMPLETION['fish']}; complete -C 'crestacoll ex'"
    path = f"{ROOT / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True,
                          env={**os.environ, "PATH": path})
    found = {line.split("\t")[0] for line in done.stdout.splitlines()}
    assert {"explore", "explain"} <= found, done.stderr
