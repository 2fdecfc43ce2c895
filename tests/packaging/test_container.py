# SPDX-License-Identifier: BSD-3-Clause
"""What docs/questions.md says of containers, with a root of the file system that stands in for the
image: the launcher is outside, the library is bound into it, the ranks run inside."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ALONE = ["unshare", "--mount", "--propagation", "private"]

# The image: this machine's /usr and /etc; what Apptainer binds by itself; the library, at another
# place than outside; the program.
INSIDE = """
cd {image}
mkdir -p opt/crestacoll program
for folder in bin lib lib64 sbin; do
    if [ -L /$folder ]; then cp -P /$folder .; fi
done
for folder in usr etc proc dev sys tmp; do
    mkdir -p $folder
    mount --rbind /$folder $folder
done
mount --bind {build}/lib opt/crestacoll
mount --bind {build}/bin program
exec {launch} -n 2 chroot {image} env LD_PRELOAD=/opt/crestacoll/libcrestacoll-preload.so \\
    CRESTA_IMPL='*=nonblock' CRESTA_PROFILE={profile} /program/turbulence --grid 16 --steps 2
"""


def may_mount():
    return os.geteuid() == 0 and shutil.which("unshare") and not subprocess.run(
        [*ALONE, "true"], capture_output=True).returncode


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_the_library_is_bound_into_a_container(tmp_path, mpi):
    build = ROOT / "build" / mpi
    if not may_mount():
        pytest.skip("needs root, and to mount")
    if not (build / "bin/turbulence").exists():
        pytest.skip(f"no {build}/bin/turbulence")
    if not tmp_path.is_relative_to("/tmp"):
        pytest.skip("the profile has to be below /tmp")
    (tmp_path / "image").mkdir()
    launch = f"mpiexec.{mpi}" + (" --oversubscribe" if mpi == "openmpi" else "")
    script = INSIDE.format(image=tmp_path / "image", build=build, launch=launch,
                           profile=tmp_path / "p.json")
    allowed = {f"{p}_ALLOW_RUN_AS_ROOT{c}": "1" for p in ("OMPI", "PRTE") for c in ("", "_CONFIRM")}
    done = subprocess.run([*ALONE, "sh", "-ec", script], capture_output=True, text=True,
                          env={**os.environ, **allowed}, timeout=600)
    assert done.returncode == 0, done.stderr
    records = json.loads((tmp_path / "p.json").read_text())["records"]
    assert ("alltoall", "nonblock") in {(r["collective"], r["implementation"]) for r in records}
