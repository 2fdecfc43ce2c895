# SPDX-License-Identifier: BSD-3-Clause
"""Where the plug-in of model caf is looked for: nowhere that depends on the current folder."""

import os
import shutil
import subprocess

import pytest
from library_runs import AS_ROOT, TIMEOUT, cached, each_build

pytestmark = each_build
PLUGIN = "libcrestacoll-caf.so"
PLANTED = """#include <stdio.h>
__attribute__((constructor)) static void loaded(void) { fprintf(stderr, "planted\\n"); }
"""


@pytest.fixture
def program(build, tmp_path):
    """A program with the library linked into it, in a folder of its own."""
    if not (build / "lib" / PLUGIN).exists():
        pytest.skip("built without coarrays")
    (tmp_path / "bin").mkdir()
    return shutil.copy(build / "tests" / "bin" / "caf_area", tmp_path / "bin" / "caf_area")


def run(word, program, folder):
    """Runs it as a shell does that has found it by PATH, or by a relative name."""
    return subprocess.run(
        [word],
        executable=program,
        cwd=folder,
        env={**os.environ, **AS_ROOT, "LD_LIBRARY_PATH": ""},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


@pytest.mark.parametrize("word", ["caf_area", "./caf_area", "bin/caf_area"])
def test_nothing_is_loaded_from_the_current_folder(build, program, tmp_path, word):
    (tmp_path / "planted.c").write_text(PLANTED)
    for folder in ("here", "here/bin", "lib", "here/lib"):
        (tmp_path / "evil" / folder).mkdir(parents=True, exist_ok=True)
        target = tmp_path / "evil" / folder / PLUGIN
        command = [cached(build, "MPI_C_COMPILER"), "-shared", "-fPIC", tmp_path / "planted.c"]
        subprocess.run([*command, "-o", target], check=True)
    done = run(word, program, tmp_path / "evil" / "here")
    assert "planted" not in done.stderr


@pytest.mark.parametrize("word", ["caf_area", "bin/caf_area"])
def test_an_installation_is_found(build, program, tmp_path, word):
    (tmp_path / "lib").mkdir()
    shutil.copy(build / "lib" / PLUGIN, tmp_path / "lib")
    done = run(word, program, "/")
    assert done.returncode == 0, done.stderr
    assert "checks passed" in done.stdout
