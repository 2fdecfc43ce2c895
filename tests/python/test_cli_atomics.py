# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll atomics`, and whose the accumulates of a window are: CRESTA_ATOMICS."""

import json
import subprocess

import pytest
from click.testing import CliRunner
from crestacoll_tools import cli
from crestacoll_tools.bench import benchjob
from crestacoll_tools.builds import builds

OURS = "window of 2 ranks: accumulates are atomic operations of the processor"
THEIRS = "window of 2 ranks: accumulates are the MPI's"


@pytest.fixture(params=[b.name for b in builds.all_builds()])
def one(request):
    return next(b for b in builds.all_builds() if b.name == request.param)


def test_all_ways_are_measured(one):
    words = ["atomics", "--mpi", one.name, "--batches", "2", "--calls", "5", "--json", "-"]
    done = CliRunner().invoke(cli.main, words)
    assert done.exit_code == 0, done.output
    records = json.loads(done.output)["records"]
    assert len(records) == 16
    assert all(r["crestacoll"]["median"] > 0 and r["floor"]["median"] > 0 for r in records)


def test_one_rank_is_too_few():
    done = CliRunner().invoke(cli.main, ["atomics", "-n", "1"], standalone_mode=True)
    assert done.exit_code != 0


def said(build, ranks=2, **variables):
    program = build.folder / "tests/bin/atomics_values_linked"
    words = [*benchjob.launch_words(build, ranks), str(program), "2", "1", "4"]
    environment = builds.clean_environment(CRESTA_LOG="info", **variables)
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return done.stderr


@pytest.mark.parametrize("setting", ["on", "off", "auto"])
def test_the_setting(one, setting):
    text = said(one, CRESTA_ATOMICS=setting)
    if setting == "off":
        assert OURS not in text and THEIRS not in text
    elif setting == "on":
        assert text.count(OURS) == 2 and THEIRS not in text
    else:
        assert THEIRS not in text
        assert OURS not in text or one.family == "mpich"


def test_several_nodes_are_the_mpis(one):
    text = said(one, CRESTA_ATOMICS="on", CRESTA_NODES="2x1")
    assert text.count(THEIRS) == 2 and OURS not in text
