# SPDX-License-Identifier: BSD-3-Clause
"""Files that commands write: whole or not at all, never one that is read; options whose value may
be left out.
"""

import contextlib
import os
import subprocess

import click
import pytest
from click.testing import CliRunner
from crestacoll_tools import cli
from crestacoll_tools.base import optional, outputs
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.cli import bench, info, report, reproduce, run
from crestacoll_tools.launch import hosts as hosts_of
from crestacoll_tools.place import files
from crestacoll_tools.profile import runfiles

pytestmark = pytest.mark.by_turns


@pytest.mark.parametrize(
    "command, words, attached",
    [
        (info.command, "--json x", "--json=x"),
        (info.command, "--json --env", "--json=- --env"),
        (info.command, "--table", "--table=-"),
        (bench.command, "--json allreduce", "--json=- allreduce"),
        (bench.command, "allreduce --json x.json -n 2", "allreduce --json=x.json -n 2"),
        (bench.command, "allreduce --json here.json", "allreduce --json=here.json"),
        (report.command, "--json p.json", "--json=p.json"),
        (report.command, "--json folder", "--json=- folder"),
        (report.command, "here.json --json=here.json", "here.json --json=here.json"),
        (report.command, "here.json --json", "here.json --json=-"),
        (run.command, "--json here.json -- app --json x", "--json=here.json -- app --json x"),
        (run.command, "--json mpirun app", "--json=- mpirun app"),
        (run.command, "--validate 0.5 app", "--validate=0.5 app"),
        (run.command, "--validate app", "--validate=0.01 app"),
        (run.command, "--validate -- 1", "--validate=0.01 -- 1"),
        (run.command, "--impl x app --json y", "--impl x app --json y"),
        (run.command, "--report --json app -n 2 --json", "--report --json=- app -n 2 --json"),
        (reproduce.command, "f --json x.json -- srun", "f --json=x.json -- srun"),
    ],
)
def test_an_option_takes_no_word_of_another(tmp_path, monkeypatch, command, words, attached):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.json").touch()
    assert " ".join(optional.attached(command, words.split())) == attached


@pytest.mark.parametrize("words", ["--json here.json x", "x --json here.json"])
def test_a_word_that_may_be_read_or_written_is_refused(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.json").touch()
    with pytest.raises(Problem, match="to be read, or to be written"):
        optional.attached(report.command, words.split())


def test_every_option_without_a_value_is_one_of_these():
    """Click's own take the next word, whatever it is."""

    def commands(group):
        for name in group.list_commands(None):
            command = group.get_command(None, name)
            yield from commands(command) if isinstance(command, click.Group) else [command]
            assert not isinstance(command, click.Group) or isinstance(command, optional.Group)

    found = {c.name: p for c in commands(cli.main) for p in c.params
             if isinstance(p, click.Option) and p._flag_needs_value}
    assert found and all(isinstance(p, optional.Option) for p in found.values())


@pytest.mark.parametrize(
    "words",
    [
        "report p.json -o p.json",
        "report p.json -o link.json",
        "report p.json --json=./p.json",
        "report state -o state/state.json",
        "tuning merge p.json q.json -o q.json",
        "place --profile p.json --hosts 2x1 --json=p.json",
        "simulate --profile p.json -n 4 --json=p.json",
        "run --profile p.json --io p.json -- true",
        "run --tuning force:p.json --profile p.json -- true",
        "run --impl @p.json --json=p.json -- true",
        "bench allreduce --plot p.svg --json=p.svg",
        "explore --output state --json=state/state.json -- true",
        "run --profile p.json -- app p.json",
        "run --io p.json -- mpirun -n 2 app --input=link.json",
        "run --json=p.json -- app -ip.json",
        "run --profile p.json --dry-run -- app @p.json",
        "run --profile new.json --json=p.json -- app a=b=p.json",
        "bisect --json=p.json -- app p.json",
        "reproduce q.json --json=p.json -- mpirun -x FILE=p.json",
        "explore --json=p.json -- app p.json",
        "explore --output . -- app rules",
        "explore --output state --resume -- app state/runs/001/stdout",
        "place --profile p.json --hostfile state/rankfile --output state",
    ],
)
def test_what_is_read_is_not_written(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "state/runs/001").mkdir(parents=True)
    files = ("state/state.json", "rules", "state/rankfile", "state/runs/001/stdout")
    for name in ("p.json", "q.json", *files):
        (tmp_path / name).write_text("precious")
    (tmp_path / "link.json").symlink_to("p.json")
    ran = CliRunner().invoke(cli.main, words.split())
    assert ran.exit_code == 2 and "would be overwritten" in ran.output, ran.output
    assert (tmp_path / "p.json").read_text() == (tmp_path / "q.json").read_text() == "precious"


@pytest.mark.parametrize(
    "words",
    [
        "run --profile p.json --dry-run -- app q.json new.json --out=none.json",
        "run --profile none.json --dry-run -- app none.json",
        "run --profile p.json --dry-run -- launch -x CRESTA_PROFILE=p.json app",
    ],
)
def test_what_the_program_does_not_read_is_written(tmp_path, monkeypatch, words):
    """An earlier result, and what is not there yet."""
    monkeypatch.chdir(tmp_path)
    for name in ("p.json", "q.json"):
        (tmp_path / name).write_text("old")
    said = CliRunner().invoke(cli.main, words.split()).output
    assert "overwritten" not in said and "command not found" in said


def test_a_variable_names_no_input_either(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.json").write_text("precious")
    given = {"CRESTA_PROFILE": None, "CRESTA_IO": None}
    monkeypatch.setenv("CRESTA_IO", "p.json")
    context = click.Context(run.command)
    outputs.Command()("p.json", param=None, ctx=context)
    with pytest.raises(Problem, match="CRESTA_IO and a file of the command: it would be overw"):
        runfiles.keep_inputs(context, {}, given)
    runfiles.keep_inputs(context, {}, given | {"CRESTA_IO": "other.json"})


def test_each_command_of_a_user_is_looked_at():
    """What the sub-commands write is compared with all of its words."""
    found = {name: p for name in cli.main.list_commands(None)
             for p in cli.main.get_command(None, name).params
             if isinstance(p, click.Argument) and p.nargs == -1 and "--" in (p.metavar or "")}
    assert {"run", "explore", "bisect", "reproduce"} <= set(found)
    assert all(isinstance(p.type, outputs.Command) for p in found.values())


def test_the_files_of_a_placement_are_known():
    hosts = hosts_of.of_words("2x1")
    assert {*files.texts(hosts, [0, 1]), "README"} == set(files.NAMES)


def test_a_tuning_file_that_was_found_is_kept(crestacoll, tmp_path, turbulence, build):
    (tmp_path / "crestacoll.json").write_text("precious")
    ran = crestacoll("run", "--profile", "crestacoll.json", "--", build.launcher, *turbulence)
    assert ran.returncode == 2 and "and the tuning file of this run" in ran.stderr
    assert (tmp_path / "crestacoll.json").read_text() == "precious"


def test_a_folder_that_is_not_there_is_told_at_once(crestacoll):
    ran = crestacoll("bench", "allreduce", "--json=nowhere/x.json")
    assert ran.returncode == 2 and "--json nowhere/x.json: no such folder" in ran.stderr


def test_links_modes_and_devices_stay(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "link").symlink_to("file")
    outputs.write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "new"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
    outputs.write_text("/dev/null", "gone")
    assert not os.path.isfile("/dev/null")
    with pytest.raises(Problem, match="No space left"):
        outputs.write_text("/dev/full", "gone")
    assert sorted(os.listdir(tmp_path)) == ["file", "link"]


def test_what_fails_leaves_the_file_as_it_was(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(ZeroDivisionError), outputs.beside(tmp_path / "file") as made:
        made.write_text("new")
        raise ZeroDivisionError
    assert (tmp_path / "file").read_text() == "old" and os.listdir(tmp_path) == ["file"]


def test_a_full_standard_output_is_an_error(crestacoll):
    words = ["bash", "-c", '"$0" help > /dev/full', crestacoll("help").args[0]]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 125
    assert done.stderr == "crestacoll: cannot write: No space left on device\n"


@contextlib.contextmanager
def disk(at, size):
    """A small one."""
    at.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(at)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        yield at
    finally:
        subprocess.run(["umount", str(at)], check=True)


def test_a_full_disk_loses_nothing(crestacoll, tmp_path, build, turbulence):
    """Neither the page of a report nor a profile is there in part, and what was there stays."""
    launch = [build.launcher, "-n", "1", *turbulence]
    with disk(tmp_path / "full", "8k") as full:
        (full / "p.json").write_text("old")
        (full / "fill").write_bytes(bytes(4096))
        ran = crestacoll("run", "--profile", "full/p.json", "--io", "full/io.json", "--", *launch)
        assert ran.returncode == 124, ran.stderr
        assert "cannot write the profile" in ran.stderr and "No space left" in ran.stderr
        assert "full/p.json" in ran.stderr.splitlines()[-1]
        assert (full / "p.json").read_text() == "old"
        assert sorted(os.listdir(full)) == ["fill", "p.json"]
        assert crestacoll("run", "--profile", "p.json", "--", *launch).returncode == 0
        ran = crestacoll("report", "p.json", "-o", "full/report.html")
        assert ran.returncode == 125 and "No space left" in ran.stderr
        assert sorted(os.listdir(full)) == ["fill", "p.json"]


def test_the_table_of_a_run_needs_no_file(crestacoll, build, turbulence, tmp_path):
    ran = crestacoll("run", "--report", "--", build.launcher, "-n", "1", *turbulence)
    assert ran.returncode == 0 and "% of the time in MPI" in ran.stdout, ran.stderr
    assert "\nCollectives: " in ran.stdout
    assert "alltoall" in ran.stdout and not list(tmp_path.iterdir())
