# SPDX-License-Identifier: BSD-3-Clause
"""Module files, read by Lmod and by Environment Modules where they are installed."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LMOD = Path("/usr/share/lmod/lmod")
SHOWN = ("CRESTACOLL_ROOT", "CRESTACOLL_PRELOAD", "PATH", "MANPATH", "LD_LIBRARY_PATH",
         "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "PYTHONPATH")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Module files of an installation in /opt/c, for both MPIs."""
    to = tmp_path_factory.mktemp("modulefiles")
    for mpi in ("openmpi", "mpich"):
        subprocess.run([ROOT / "tools/modulefiles.sh", "/opt/c", mpi, to], check=True)
    return to


def run(script, **variables):
    """What a shell prints in an environment that has nothing of ours."""
    base = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "MANPATH": "/my/man", **variables}
    return subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True,
                          env=base)


def shown(text):
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def check(values):
    assert values["CRESTACOLL_ROOT"] == "/opt/c/openmpi"
    assert values["CRESTACOLL_PRELOAD"] == "/opt/c/openmpi/lib/libcrestacoll-preload.so"
    assert values["PATH"].split(":")[0] == "/opt/c/bin"
    assert values["PYTHONPATH"] == "/opt/c/lib/crestacoll/python"
    assert values["MANPATH"].split(":")[0] == "/opt/c/share/man" and "/my/man" in values["MANPATH"]
    assert values["LD_LIBRARY_PATH"] == "/opt/c/openmpi/lib"
    assert values["PKG_CONFIG_PATH"] == "/opt/c/openmpi/lib/pkgconfig"
    assert values["CMAKE_PREFIX_PATH"] == "/opt/c/openmpi"


PRINT = "; ".join(f'echo "{name}=${{{name}:-}}"' for name in SHOWN)


def test_lmod(folder):
    if not LMOD.exists():
        pytest.skip("no Lmod")
    start = f"source {LMOD}/init/bash; module use {folder}; "
    loaded = run(f"{start} module load crestacoll-openmpi/0.1.0; {PRINT}")
    check(shown(loaded.stdout))
    gone = shown(run(f"{start} module load crestacoll-openmpi; module unload crestacoll-openmpi;"
                     f" {PRINT}").stdout)
    assert not gone["CRESTACOLL_ROOT"] and "/opt/c" not in gone["PATH"] + gone["MANPATH"]


def test_lmod_has_one_mpi_at_a_time(folder):
    """The family: the second takes the place of the first."""
    if not LMOD.exists():
        pytest.skip("no Lmod")
    done = run(f"source {LMOD}/init/bash; module use {folder}; module load crestacoll-openmpi;"
               f" module load crestacoll-mpich; {PRINT}")
    values = shown(done.stdout)
    assert values["CRESTACOLL_ROOT"] in ("/opt/c/mpich", "/opt/c/openmpi")
    assert len([p for p in values["LD_LIBRARY_PATH"].split(":") if p]) == 1
    help_text = run(f"source {LMOD}/init/bash; module use {folder}; module help crestacoll-mpich")
    assert "0.1.0 for programs that use mpich" in help_text.stdout + help_text.stderr


def test_tcl(folder):
    """By Environment Modules, or by what Lmod has for files in Tcl."""
    command = shutil.which("modulecmd") or next(
        (p for p in ("/usr/lib/x86_64-linux-gnu/modulecmd.tcl", "/usr/share/modules/libexec/"
                     "modulecmd.tcl") if os.path.exists(p)), None)
    if command:
        done = run(f"eval $({command} bash load crestacoll-openmpi/0.1.0); {PRINT}",
                   MODULEPATH=str(folder))
    elif LMOD.exists() and shutil.which("tclsh"):
        only = folder.parent / "tcl/crestacoll-openmpi"
        only.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "crestacoll-openmpi/0.1.0", only)
        done = run(f"source {LMOD}/init/bash; module use {only.parent};"
                   f" module load crestacoll-openmpi; {PRINT}")
    else:
        pytest.skip("no Environment Modules, no Lmod")
    check(shown(done.stdout))
