# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll run --validate` names what is wrong, and `crestacoll reproduce` makes it again."""

import json
import re
import subprocess

import pytest
from crestacoll_tools.builds.builds import clean_environment
from spoilt import BYTES, RULES, spoilt

pytestmark = pytest.mark.by_turns

__all__ = ["spoilt"]


def errors(text):
    return [line for line in text.splitlines() if "Error in CRESTA_" in line]


def test_a_difference_is_named_and_made_again(spoilt):
    words = ["run", "--impl", RULES, "--validate", "0.01", "--json=r.json", "--"]
    ran = spoilt(*words, *spoilt.program())
    assert ran.returncode == 1 and "result: ok" in ran.stdout, ran.stderr
    (told,) = errors(ran.stderr)  # once, though many calls differ
    assert re.search(
        r"Error in CRESTA_Alltoall: p2p:pairwise and the MPI's own call differ: communicator 'row'"
        r" of 2 ranks, rank 1, call \d+ there, element 2048 of block 1 \(offset 98304 bytes in"
        r" the receive buffer\), 65536 bytes: expected \(\S+, \S+\), found \(\S+, \S+\); 1 element"
        r" differs there; crestacoll reproduce (\S+) makes the call again",
        told,
    )
    found = json.loads((spoilt.folder / "r.json").read_text())["validated"]
    assert found["differ"] > 0 and found["checked"] >= found["differ"]
    file = spoilt.folder / "crestacoll-difference-alltoall-1"
    again = spoilt("reproduce", str(file), WRONG_BYTES=BYTES)
    assert again.returncode == 1, again.stderr
    assert "alltoall by p2p:pairwise: it differs again" in again.stdout
    assert "rank 1" in errors(again.stderr)[0] and "element 2048 of block 1" in again.stderr
    other = spoilt("reproduce", str(file), "--impl", "p2p:linear", WRONG_BYTES=BYTES)
    assert other.returncode == 0 and "no difference here" in other.stdout


def run_begun(spoilt, **variables):
    """A program that begins calls, linked with a library that is wrong in one element."""
    program = spoilt.build.folder / "tests" / "bin" / "validated_begun"
    env = clean_environment(
        **variables,
        CRESTA_VALIDATE="1:1",
        CRESTA_VALIDATE_SUMMARY="summary",
        CRESTA_ASYNC="thread",
        CRESTA_IMPL="allreduce=p2p:ring,*=p2p",
        WRONG_BYTES="800",
    )
    return subprocess.run(
        [spoilt.build.launcher, "-n", "2", str(program), "summary"],
        cwd=spoilt.folder, env=env, timeout=300, capture_output=True, text=True, check=False,
    )


def test_begun_calls_beyond_the_memory(spoilt):
    """Half of it is theirs: two or three of these calls at once, and some that are too large."""
    ran = run_begun(spoilt, CRESTA_VALIDATE_MEMORY="16K")
    found = json.loads((spoilt.folder / "summary").read_text())
    assert "earlier begun calls took half of CRESTA_VALIDATE_MEMORY" in ran.stderr
    assert found["waiting"] > 0 and found["checked"] > 0 and found["copies_bytes"] <= 16 << 10
    left_out = found["waiting"] + found["beyond_memory"]
    assert found["calls"] == found["checked"] + left_out


def test_a_begun_call_that_differs(spoilt):
    """The line comes at once, the file when the communicator ends."""
    ran = run_begun(spoilt)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    told = errors(ran.stderr)
    assert len(told) == 2, ran.stderr  # on each of two communicators
    assert "CRESTA_Allreduce: begun p2p:ring and the MPI's own call differ" in told[0]
    assert re.search(r"rank 1, begun call \d+ there, element 50 of block 0", told[0])
    (file,) = set(re.findall(r"reproduce (\S+-1) makes the call again", ran.stderr))
    again = spoilt("reproduce", file, WRONG_BYTES="800")
    assert again.returncode == 1 and "it differs again" in again.stdout, again.stderr


def test_nothing_is_found_where_nothing_is_wrong(spoilt):
    words = ["run", "--impl", RULES, "--validate", "0.5", "--"]
    ran = spoilt(*words, *spoilt.program(steps=4, WRONG_BYTES="1"))
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"validate: \d+ of \d+ calls by crestacoll .* 0 differed", ran.stderr)
    assert not list(spoilt.folder.glob("crestacoll-difference*"))


def test_the_job_stops_if_that_is_wanted(spoilt):
    words = ["run", "--impl", RULES, "--validate", "--"]
    ran = spoilt(*words, *spoilt.program(), CRESTA_VALIDATE_STOP="1")
    assert ran.returncode not in (0, 1) and "result: ok" not in ran.stdout
    assert "CRESTA_VALIDATE_STOP=1: the job stops" in ran.stderr


def test_copies_beyond_the_memory_are_counted(spoilt):
    words = ["run", "--impl", RULES, "--validate", "1", "--json=r.json", "--"]
    ran = spoilt(*words, *spoilt.program(steps=2), CRESTA_VALIDATE_MEMORY="32K")
    assert ran.returncode == 0, ran.stderr
    found = json.loads((spoilt.folder / "r.json").read_text())["validated"]
    assert found["beyond_memory"] > 0 and found["checked"] > 0
    assert found["copies_bytes"] <= 32 << 10
    assert "more than CRESTA_VALIDATE_MEMORY" in ran.stderr


def test_what_is_no_file_of_ours(crestacoll, tmp_path):
    (tmp_path / "f").write_text("something else\n")
    for name, word in (("f", "is not a file of CRESTA_VALIDATE"), ("none", "cannot read")):
        ran = crestacoll("reproduce", name)
        assert ran.returncode == 2 and word in ran.stderr


@pytest.mark.parametrize("rate", ["2", "x", "-1"])
def test_rates(crestacoll, rate):
    ran = crestacoll("run", f"--validate={rate}", "--", "true")
    assert ran.returncode == 2 or "expected a rate" in ran.stderr
