# SPDX-License-Identifier: BSD-3-Clause
"""What `crestacoll run` says by itself: why it does not start, and what was missing at the end."""

import os
from types import SimpleNamespace
from unittest import mock

from crestacoll import builds, family, installed, rulesources, runfiles, validation
from crestacoll.cli import reproduce, run
from crestacoll.rollcall import listen

OPENMPI, MPICH = (SimpleNamespace(name=n, family=n) for n in ("openmpi", "mpich"))


def _program(screen, name):
    screen.write(name, "#!/bin/sh\n")
    os.chmod(name, 0o755)


def what_does_not_exist(screen):
    """The program, its launcher, rules, a tuning file."""
    _program(screen, "app")
    screen.crestacoll("run", "--", "./nothere")
    screen.crestacoll("run", "--", "/nowhere/mpirun", "-n", "2", "./app")
    screen.refused(run.job_settings, "@nowhere", None, None, None, "loaded", None)
    screen.refused(rulesources.tuning_settings, "nowhere.json", "")


def values_of_options(screen):
    """What is expected instead."""
    screen.refused(validation.value, "2")
    screen.refused(listen.asked, "soon", None)
    screen.refused(listen.asked, None, "KILL")


def which_mpi(screen):
    """The programs and the launcher have to agree, and crestacoll has to have a build."""
    screen.refused(run.agree, {"openmpi": "./a", "mpich": "./b"}, "mpirun", "openmpi")
    screen.refused(run.agree, {"mpich": "./a"}, "mpirun", "openmpi")
    with mock.patch.object(run, "need_builds", lambda: [OPENMPI, MPICH]):
        screen.refused(run.agree, {}, None, None)
    for found in ([OPENMPI], []):
        with mock.patch.object(builds, "all_builds", lambda: found):
            screen.refused(builds.build_for, "mpich")


def nothing_can_be_preloaded(screen):
    """A static program, and a path that LD_PRELOAD cannot hold."""
    _program(screen, "app")
    with mock.patch.object(family, "is_static", lambda path: True):
        screen.crestacoll("run", "--", "./app")
    job = mock.Mock(linked=[], build=SimpleNamespace(preload="/my libs/libcrestacoll-preload.so"))
    job.preloaded.return_value = str(job.build.preload)
    screen.refused(run.Job.with_settings, job, {})


def a_tuning_file_that_was_found(screen):
    """It is named, and never written over."""
    screen.write("crestacoll.json", "{}")
    screen.printed(rulesources.tuning_settings, None, "")


def switched_off(screen):
    """The program runs as without crestacoll."""
    os.environ["CRESTA_OFF"] = "1"
    screen.crestacoll("run", "--profile", "p.json", "--dry-run", "--", "true")
    screen.printed(runfiles.say_not_written, ("p.json", "io.json"))


def at_the_end(screen):
    """The program ended well, but nothing was loaded or written."""
    job = SimpleNamespace(build=SimpleNamespace(preload="libcrestacoll-preload.so"))
    job.family = "openmpi"
    for version, missing in ((None, []), ("0.1.0", ["p.json"]), ("0.1.0", ["p.json", "io.json"])):
        files = SimpleNamespace(missing=missing)
        screen.refused(run.finish, job, 0, version, False, files)
    screen.refused(run.finish, job, 0, installed.MISFIT, False, SimpleNamespace(missing=["p.json"]))


def reproduced(screen):
    """The end of `crestacoll reproduce`."""
    data = {"collective": "alltoall", "implementation": "shm"}
    for differ, checked in ((1, 1), (0, 1), (0, 0)):
        screen.refused(reproduce.tell, data, None, 0, {"differ": differ, "checked": checked}, None)
    screen.refused(reproduce.tell, data, None, 139, None, None)
    screen.refused(reproduce.tell, data, "p2p", 0, None, None)
