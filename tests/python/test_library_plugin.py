# SPDX-License-Identifier: BSD-3-Clause
"""Where the plug-in of model caf is looked for: nowhere that depends on the current folder."""

import os
import re
import shutil
import subprocess

import pytest
from library_runs import AS_ROOT, TIMEOUT, cached, each_build, family_of, gives_way

pytestmark = each_build
PLUGIN = "libcrestacoll-caf.so"
PLANTED = """#include <stdio.h>
__attribute__((constructor)) static void loaded(void) { fprintf(stderr, "planted\\n"); }
"""


def test_no_library_is_looked_for_in_the_current_folder(build):
    """An empty element of a path means that."""
    files = [*(build / "lib").glob("libcrestacoll*.so"), *(build / "bin").iterdir()]
    for file in files:
        shown = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True)
        for path in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", shown.stdout):
            assert all(re.match(r"/|\$ORIGIN", part) for part in path.split(":")), (file, path)


@pytest.fixture
def program(build, tmp_path):
    """A program with the library linked into it, in a folder of its own."""
    if not (build / "lib" / PLUGIN).exists():
        pytest.skip("built without coarrays")
    (tmp_path / "bin").mkdir()
    return shutil.copy(build / "tests" / "bin" / "caf_area", tmp_path / "bin" / "caf_area")


def run(build, word, program, folder):
    """Runs two ranks as a shell does that has found the program by PATH, or by a relative name."""
    oversubscribe = ["--oversubscribe"] if family_of(build) == "openmpi" else []
    oversubscribe += gives_way(build)
    start = ["bash", "-c", 'exec -a "$0" "$1"', word, str(program)]
    return subprocess.run(
        [cached(build, "MPIEXEC_EXECUTABLE"), *oversubscribe, "-n", "2", *start],
        cwd=folder,
        env={**{k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}, **AS_ROOT},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


@pytest.mark.parametrize("word", ["caf_area", "./caf_area", "bin/caf_area"])
def test_nothing_is_loaded_from_the_current_folder(build, program, tmp_path, word):
    (tmp_path / "planted.c").write_text(PLANTED)
    command = [cached(build, "MPI_C_COMPILER"), "-shared", "-fPIC", tmp_path / "planted.c"]
    subprocess.run([*command, "-o", tmp_path / PLUGIN], check=True)
    for folder in ("here", "here/bin", "lib", "here/lib"):
        (tmp_path / "evil" / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(tmp_path / PLUGIN, tmp_path / "evil" / folder)
    done = run(build, word, program, tmp_path / "evil" / "here")
    assert "planted" not in done.stderr
    assert PLUGIN in done.stderr, "none is found, and it is said"


@pytest.mark.parametrize("word", ["caf_area", "bin/caf_area"])
def test_an_installation_is_found(build, program, tmp_path, word):
    (tmp_path / "lib").mkdir()
    shutil.copy(build / "lib" / PLUGIN, tmp_path / "lib")
    done = run(build, word, program, "/")
    assert done.returncode == 0, done.stderr
    assert "checks passed" in done.stdout
