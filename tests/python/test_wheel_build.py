# SPDX-License-Identifier: BSD-3-Clause
"""What `make wheel` builds from headers alone, as far as a machine without Zig and PyPI tells."""

import re
import shutil
import subprocess

import pytest
from crestacoll_tools.builds import builds

ROOT = builds.ROOT


def must(words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.release
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_build_of_headers_alone_is_configured(name, tmp_path):
    """That of `make wheel`: each program is a library, and no target of another name is there."""
    compiler = shutil.which(f"mpicc.{name}")
    if compiler is None:
        pytest.skip(f"no mpicc.{name}")
    said = must([compiler, "-E", "-include", "mpi.h", "-x", "c", "/dev/null"]).stdout
    folder = re.search(r'^# \d+ "(.+)/mpi\.h"', said, re.M)[1]
    options = ["-DCRESTA_TESTS=OFF", f"-DCRESTA_MPI_INCLUDE={folder}"]
    if shutil.which("ninja"):  # as tools/build.sh; a third less to compute
        options += ["-G", "Ninja"]
    must(["cmake", "-S", ROOT, "-B", tmp_path, *options])
    targets = must(["cmake", "--build", tmp_path, "--target", "help"]).stdout
    assert {"wheel-parts", "wheel-free", "crestacoll-threads_wheel"} <= set(
        re.findall(r"[\w-]+", targets)
    )


def test_handles_of_fortran_have_names_in_the_interface_of_the_standard():
    """Its header has MPI_x_fromint for MPI_x_f2c, and no machine of the tests has the header.

    A status is no handle: only Open MPI's part asks for it.
    """
    named = set(re.findall(r"#define (PMPI_\w+) ", (ROOT / "wheel/mpiabi.h").read_text()))
    used = {
        name
        for folder in ("src", "fortran", "bench", "check")
        for path in (ROOT / folder).rglob("*.[ch]")
        for name in re.findall(r"\bPMPI_(?!Status)[A-Z][a-z]+_(?:f2c|c2f)\b", path.read_text())
    }
    assert used and used <= named
