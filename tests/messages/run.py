# SPDX-License-Identifier: BSD-3-Clause
"""What `crestacoll run` says by itself: why it does not start, and what was missing at the end."""

import os
from types import SimpleNamespace
from unittest import mock

import report_data
from crestacoll_tools.builds import builds, family, installed
from crestacoll_tools.cli import reproduce, run
from crestacoll_tools.launch import launcher
from crestacoll_tools.profile import origin, runfiles, validation
from crestacoll_tools.rollcall import listen
from crestacoll_tools.rules import rulesources

OPENMPI, MPICH = (SimpleNamespace(name=n, family=n) for n in ("openmpi", "mpich"))


def _program(screen, name):
    screen.write(name, "#!/bin/sh\n")
    os.chmod(name, 0o755)


BINDINGS = {
    "a core for each": {"cpus": ("0,8", "4,12")},
    "free": {"cpus": ("0-15",) * 2},
    "free, more ranks than cores": {"cpus": ("0-15",) * 17},
    "one core": {"cpus": ("0", "0")},
    "one core on each of two hosts": {"cpus": ("0", "0"), "hosts": 2},
    "one of them sleeps": {"cpus": ("0", "0"), "busy": 0},
    "two cores for three": {"cpus": ("0-1",) * 3},
    "threads without cores": {"cpus": ("0", "4"), "busy": 4},
    "threads with cores": {"cpus": ("0-3", "4-7"), "busy": 4},
    "OpenMP that is used": {"cpus": ("0-1", "4-5"), "threads": 9, "OMP_NUM_THREADS": "8,2"},
    "OpenMP that is not": {"cpus": ("0-1", "4-5"), "OMP_NUM_THREADS": "8"},
    "free threads": {"cpus": ("0-15",) * 4, "busy": 8},
    "hardware threads of one core": {"cpus": ("0", "8", "4")},
    "all hardware threads": {"cpus": tuple(map(str, range(16)))},
    "one socket": {"cpus": ("0,8", "1,9")},
    "one rank": {"cpus": ("0",)},
}


def how_ranks_are_bound(screen):
    """The line at the end of a run with a profile; none where all is well."""
    for name, given in BINDINGS.items():
        told = origin.warning(report_data.origin(**given))
        screen.say(f"{name}: {told}")


def what_is_left_out(screen):
    """An option that needs a file."""
    screen.refused(runfiles.Profile, {}, ["./app"], True)


def what_the_launcher_is_told_in_vain(screen):
    """A variable that an option of run sets, too."""
    job = run.Job.__new__(run.Job)
    job.command = launcher.parse("mpirun -x CRESTA_PROFILE=mine.json -n 2 ./app".split())
    job.kind = "openmpi"
    screen.printed(job.say_overridden, {"CRESTA_PROFILE": "/x/p.json", "CRESTA_LOG": "info"})


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
