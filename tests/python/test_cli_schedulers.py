# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll run` behind launchers of schedulers, for which stand-ins start the ranks: these get
LD_PRELOAD and the settings, the launcher itself does not."""

import json
import os
from pathlib import Path

import pytest
from crestacoll_tools.profile import profiles

STANDIN = Path(__file__).parent / "standin_launcher.py"


@pytest.mark.parametrize("words", ["srun", "srun --export=NONE", "flux run", "flux run --env=-*"])
def test_ranks_are_preloaded_and_the_launcher_is_not(
    crestacoll, build, turbulence, tmp_path, words
):
    name, *options = words.split()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / name).symlink_to(STANDIN)
    launch = build.launcher + (" --oversubscribe" if build.family == "openmpi" else "")
    ran = crestacoll(
        "run",
        "--impl",
        "alltoall=nonblock,*=mpi",
        "--profile",
        "p.json",
        "--",
        name,
        *options,
        "-n",
        "2",
        *turbulence,
        preload=False,
        PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        STANDIN_LAUNCH=launch,
        STANDIN_RECORD=str(tmp_path / "record"),
    )
    assert ran.returncode == 0, ran.stderr
    record = json.loads((tmp_path / "record").read_text(encoding="utf-8"))
    assert not [n for n in record["environment"] if n == "LD_PRELOAD" or n.startswith("CRESTA_")]
    assert str(build.preload) in " ".join(record["arguments"])
    data = profiles.load(tmp_path / "p.json")
    assert data["ranks"] == 2
    found = {(r["collective"], r["implementation"]) for r in data["records"]}
    assert ("alltoall", "nonblock") in found, found
