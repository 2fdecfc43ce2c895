# SPDX-License-Identifier: BSD-3-Clause
"""The recipe of crestacoll for Spack 1.0 and later: docs/installing.md says how to use it."""

from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *

# The clone in which this file is; `make dist` there writes the tarball of the version.
CLONE = Path(__file__).resolve().parents[6]
COMMAND_LINE = """#!{python}
import sys

sys.path[0] = "{folder}"

from crestacoll_tools.cli import main

main(prog_name="crestacoll")
"""


class Crestacoll(CMakePackage):
    """MPI collectives with a choice of implementations: shows which collectives cost a program
    time, and runs them by others, without changes of the program."""

    url = f"file://{CLONE}/build/crestacoll-0.1.0.tar.gz"
    git = f"file://{CLONE}"

    license("BSD-3-Clause", checked_by="crestacoll")

    # The tarball holds this file, so that its sum cannot stand here.
    version("0.1.0")
    version("main", branch="main")

    variant("fortran", default=True, description="Fortran modules, and collectives of Fortran")
    variant("coarrays", default=False, when="+fortran", description="Implementation caf")
    variant("cli", default=True, description="Command line")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("mpi@3:")
    depends_on("opencoarrays", when="+coarrays")
    with when("+cli"):
        depends_on("python@3.10:", type=("build", "run"))
        depends_on("py-click", type=("build", "run"))
        depends_on("py-jinja2", type=("build", "run"))
        depends_on("py-jsonschema", type=("build", "run"))
        depends_on("py-markupsafe", type=("build", "run"))
        depends_on("py-matplotlib", type=("build", "run"))
        depends_on("py-numpy", type=("build", "run"))
        depends_on("py-rich", type=("build", "run"))

    def family(self):
        """The name of the build: Open MPI, or the MPICH family with its binary interface."""
        return "openmpi" if self.spec["mpi"].name in ("openmpi", "spectrum-mpi") else "mpich"

    def cmake_args(self):
        mpi = self.spec["mpi"]
        args = [
            self.define("MPI_C_COMPILER", mpi.mpicc),
            self.define_from_variant("CRESTA_FORTRAN", "fortran"),
            self.define("CRESTA_TESTS", False),
        ]
        if self.spec.satisfies("+fortran"):
            args.append(self.define("MPI_Fortran_COMPILER", mpi.mpifc))
        coarrays = self.spec.satisfies("+coarrays")
        library = self.spec["opencoarrays"].libs[0] if coarrays else False
        args.append(self.define("CRESTA_CAF_LIBRARY", library))
        return args

    @run_after("install")
    def install_command_line(self):
        """PREFIX/lib/crestacoll, laid out as a clone: python, build/<mpi>, which is the prefix."""
        if self.spec.satisfies("~cli"):
            return
        python, home = self.spec["python"].command, Path(self.prefix.lib, "crestacoll")
        install_tree("python", str(home / "python"))
        mkdirp(str(home / "build"))
        symlink("../../..", str(home / "build" / self.family()))
        script = Path(self.prefix.bin, "crestacoll")
        text = COMMAND_LINE.format(python=python.path, folder=home / "python")
        script.write_text(text)
        set_executable(str(script))
        python("-B", "tools/manpages.py", self.prefix.share)

    def setup_run_environment(self, env):
        env.set("CRESTACOLL_PRELOAD", join_path(self.prefix.lib, "libcrestacoll-preload.so"))
        if self.spec.satisfies("+cli"):  # import crestacoll
            env.prepend_path("PYTHONPATH", join_path(self.prefix.lib, "crestacoll", "python"))
