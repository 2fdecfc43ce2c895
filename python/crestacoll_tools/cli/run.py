# SPDX-License-Identifier: BSD-3-Clause
import os
import shlex
import shutil
import sys
import time
from pathlib import Path

import click

from crestacoll import _wheel
from crestacoll_tools.autopsy import jobs, watch as beside
from crestacoll_tools.base import optional, outputs
from crestacoll_tools.base.json_output import json_option, write_json
from crestacoll_tools.base.text import visible
from crestacoll_tools.base.ui import NOT_FOUND, NOT_LOADED, WRONG, Problem
from crestacoll_tools.builds import family, installed, scripts
from crestacoll_tools.builds.builds import FAMILY_NAMES, build_for, need_builds, wheel_build
from crestacoll_tools.launch import launcher, supervise
from crestacoll_tools.profile import runfiles, validation
from crestacoll_tools.rollcall import listen, reach
from crestacoll_tools.rules.rulesources import default_choice, tuning_settings

EPILOG = """\b
Exit code: that of the command (128+n if signal n ended it), or
  1    the command ended with 0, and --validate found a difference
  2    wrong usage of crestacoll
  123  a rank was in one call for too long, and --watchdog ...:end ended the job
  124  the command ended with 0, but no rank loaded crestacoll, or no profile was written
  125  crestacoll could not start it: no build for its MPI, launcher and program of different MPIs
  127  the launcher or program does not exist

\b
Only the ranks get the environment variables, on every host: by -x (Open MPI), -genv (MPICH, Intel
MPI), --export (srun), --env (flux run), -e (aprun) or -E (jsrun). Libraries in your own LD_PRELOAD
follow crestacoll's. CRESTA_ variables that are set in your shell are passed on. With CRESTA_OFF=1
the command runs as without crestacoll, and one line says so."""


@click.command(
    "run",
    short_help="Run an MPI program with crestacoll preloaded.",
    epilog=EPILOG,
    context_settings={"allow_interspersed_args": False},
)
@click.option(
    "--impl",
    type=outputs.Rules(),
    metavar="SPEC",
    help=(
        "Rules: which implementation each collective uses, for example "
        "'alltoall[4K-1M]@row=nonblock,*=mpi', or @FILE with rules. The first match wins. Default:"
        " the tuning file if there is one, otherwise auto; the MPI's own calls with --profile"
        " and --report, which show the program as it is."
    ),
)
@click.option(
    "--tuning",
    type=outputs.Tuning(),
    metavar="FILE",
    help=(
        "Tuning file with rules for calls that match none of --impl; force:FILE: also if it was"
        " made on another machine or MPI; none: no file. Default: CRESTA_TUNING, or"
        " ./crestacoll.json, or crestacoll/crestacoll.json in $XDG_CONFIG_HOME, or"
        " share/crestacoll/crestacoll.json of the installation, if one exists."
    ),
)
@click.option(
    "--profile",
    type=outputs.Output(),
    metavar="FILE",
    help=(
        "Count and time the program's calls of the MPI, collectives in detail, and write that as"
        " JSON. `crestacoll report FILE` shows it."
    ),
)
@click.option(
    "--report", "show_report", is_flag=True, help="Show the profile as a table at the end."
)
@click.option(
    "--io",
    "io_to",
    type=outputs.Output(),
    metavar="FILE",
    help=(
        "Count every call of MPI-IO over the time of the run; write that as JSON and show it at the"
        " end."
    ),
)
@click.option(
    "--anonymous",
    is_flag=True,
    help="Leave the command, host names and paths out of the profile.",
)
@click.option(
    "--profile-wait",
    metavar="N",
    type=click.IntRange(0),
    help="Measure the waiting for the last rank in one of N calls at most; 0: never.",
)
@click.option(
    "--validate",
    metavar="[=RATE]",
    cls=optional.Option,
    looks=r"[\d.]+",
    flag_value=validation.PRESET_RATE,
    help=(
        "Make calls once more by the MPI's own call and compare: the first of each collective and"
        " size, and a share RATE (default 0.01) of all later ones. A difference is reported, with a"
        " file for `crestacoll reproduce`, and the exit code is 1."
    ),
)
@click.option(
    "--log",
    type=click.Choice(["off", "warn", "info"]),
    help="CRESTA_LOG of the ranks; info reports which implementation was chosen and why.",
)
@listen.options
@click.option(
    "--mpi",
    "mpi",
    metavar="NAME",
    help="MPI family of the program (openmpi, mpich, intelmpi), if crestacoll cannot detect it.",
)
@click.option("--no-check", is_flag=True, help="Do not fail if no rank loaded crestacoll.")
@click.option("--dry-run", is_flag=True, help="Print the command that would run, and stop.")
@json_option
@click.argument("command", nargs=-1, type=outputs.Command(), required=True, metavar="-- COMMAND...")
def command(
    impl, tuning, profile, show_report, io_to, anonymous, profile_wait, validate, log, mpi,
    no_check, dry_run, json_to, command, **watchdog,
):  # fmt: skip
    """Run an MPI program with crestacoll preloaded; the program is not changed.

    \b
    crestacoll run --impl '*=nonblock' -- mpirun -n 2 ./app input.dat
    crestacoll run --profile p.json --report -- srun -n 64 ./app
    """
    off = os.environ.get("CRESTA_OFF") == "1"
    job = None if off else Job(command, mpi)
    why = "CRESTA_OFF=1 is set" if off else job.misfit()
    if why:
        print(f"crestacoll: {why}; it runs as without crestacoll", file=sys.stderr)
        run_plainly(list(command), job and job.family, (profile, io_to), dry_run, json_to)
        return
    with supervise.scratch_folder() as folder:
        loaded = folder / "loaded"
        settings = job_settings(
            impl, profile, profile_wait, log, loaded, folder if job.kind == "srun" else None
        )
        settings = validation.settings(settings, validate, folder)
        settings |= runfiles.setting("CRESTA_IO", io_to)
        settings |= tuning_settings(tuning, settings.pop("CRESTA_TUNING", ""))
        given = {"CRESTA_PROFILE": profile, "CRESTA_IO": io_to}
        runfiles.keep_inputs(click.get_current_context(), settings, given)
        reported = runfiles.to_report(settings, folder) if show_report else None
        settings = default_choice(settings) | listen.asked(**watchdog)
        job.watched = listen.settings(settings) is not None
        settings |= jobs.setting(settings) if job.counters(settings) and not dry_run else {}
        with listen.watching({} if dry_run else settings, folder, job.addresses) as watch:
            words, environment = job.with_settings(settings, say=True)
            if dry_run:
                print_command(words, environment, json_to)
                return
            told_before = validation.files_of(settings)
            written = runfiles.Profile(settings, command, anonymous)
            files, start = runfiles.Files(profile, io_to, reported, written), time.monotonic()
            code = run_watched(words, environment, watch, settings, command)
        seconds = time.monotonic() - start
        version = loaded.read_text(encoding="utf-8").strip() if loaded.exists() else None
        validated = validation.summary(settings)
        files.look()
    differs = validation.differs(validated, told_before, settings)
    if json_to:
        result = run_result(job.family, words, code, seconds) | {
            "library": str(job.build.preload),
            "loaded": None if version == installed.MISFIT else version,
            "profile": profile if files.written.get(profile) else None,
            "io": io_to if files.written.get(io_to) else None,
            "impl": settings.get("CRESTA_IMPL"),
            "tuning": settings.get("CRESTA_TUNING"),
            "validated": validated,
        }
        write_json(result, json_to)
    files.show(profile, io_to)
    finish(job, code, version, no_check, files)
    if differs:
        raise Problem("the run went on after a difference that CRESTA_VALIDATE found", WRONG)


def run_watched(words, environment, watch, settings, command):
    """Exit code of the job. Says where processes were that did not come to MPI_Finalize."""
    with beside.of(settings, says_still=watch is None) as boxes:
        code = supervise.run(words, os.environ | environment, watch, boxes)
    ended = watch is not None and watch.ended
    code = listen.ENDED if ended else code
    if jobs.has_left(settings):
        from crestacoll_tools.autopsy import text  # takes long to load

        text.tell(settings, list(command), code, boxes and boxes.seen, ended)
    return code


def run_result(family, words, code, seconds):
    """For --json, of a run without crestacoll."""
    return {
        "schema": "crestacoll-run-1",
        "command": words,
        "mpi": family,
        "library": None,
        "exit_code": code,
        "seconds": round(seconds, 3),
        "loaded": None,
        "profile": None,
        "io": None,
        "impl": None,
        "tuning": None,
        "validated": None,
    }


def run_plainly(words, family, files, dry_run, json_to):
    """The user's command as it is; ends with its code."""
    start = time.monotonic()
    if shutil.which(words[0]) is None:
        raise Problem(f"{words[0]}: command not found", NOT_FOUND)
    if dry_run:
        print_command(words, {}, json_to)
        return
    code = supervise.run(words, dict(os.environ))
    if json_to:
        write_json(run_result(family, words, code, time.monotonic() - start), json_to)
    runfiles.say_not_written(files)
    sys.exit(code)


class Job:
    """What the user's command is: its launcher, its programs, and the build of crestacoll that
    fits them.
    """

    def __init__(self, words, mpi):
        self.watched = False  # for a roll-call
        self.command = launcher.parse(words)
        if shutil.which(self.command.words[0]) is None:
            raise Problem(f"{self.command.words[0]}: command not found", NOT_FOUND)
        if self.command.launcher and shutil.which(self.command.launcher) is None:
            raise Problem(f"{self.command.launcher}: command not found", NOT_FOUND)
        families = self.look_at_programs()
        self.family = mpi or agree(families, self.command.launcher, self.launcher_family)
        self.kind = launcher.kind_of(self.command.launcher, self.launcher_family or self.family)
        if _wheel.is_wheel():
            self.build = wheel_build(self.libraries, self.family)
        else:
            self.build = build_for(self.family)
        if not self.build.preload.exists():
            raise Problem(f"{self.build.preload} is missing: run 'make'")

    @property
    def launcher_family(self):
        name = self.command.launcher
        return (
            None
            if name is None or launcher.scheduler(name)
            else family.family_of_launcher(name)
        )

    def look_at_programs(self):
        """{family: program}; the names of those that are no MPI programs go to self.scripts."""
        kind = launcher.kind_of(self.command.launcher, self.launcher_family)
        found, self.scripts, self.linked, self.libraries = {}, [], [], []
        self.loaded, self.runtimes = [], {}
        for name in launcher.programs(self.command, kind):
            path = shutil.which(name)
            if path is None:
                continue  # the launcher says so better
            self.linked.append(family.is_linked(path))
            self.runtimes |= dict.fromkeys(scripts.runtimes_of(path))
            if family.is_static(path):
                raise Problem(
                    f"{name} is statically linked: nothing can be preloaded into it. "
                    "Link it to crestacoll instead (CRESTA_ calls)"
                )
            if family.family_of_program(path):
                found[family.family_of_program(path)] = name
                self.libraries += filter(None, [family.mpi_library(path)])
            else:
                self.scripts.append(name)
                if not _wheel.is_wheel():
                    found |= self.look_at_script(name, path)
        return found

    def look_at_script(self, name, path):
        """{family: name} of a script that loads an MPI of its own."""
        start = shutil.which(self.command.launcher) if self.launcher_family else None
        own = scripts.own_library(path, self.launcher_family, start)
        self.loaded.append(own)
        kind = own and family.family_of_libraries({os.path.basename(own): own})
        return {kind: name} if kind else {}

    def misfit(self):
        """Why no library of the wheel fits the MPI of a program; None if nothing is known against
        it.
        """
        if not _wheel.is_wheel():
            return None
        return next((w for w in (_wheel.fit(path).why for path in self.libraries) if w), None)

    def counters(self, settings):
        """What is preloaded besides where a profile or a roll-call is asked for: it sees every
        call.
        """
        library = self.build.preload.with_name("libcrestacoll-calls.so")
        wanted = self.watched or "CRESTA_PROFILE" in settings
        return [str(library)] if wanted and library.exists() else []

    def preloaded(self, settings=()):
        """The preload library. An interpreter loads its MPI later and for itself alone (mpi4py):
        then the MPI has to be there before. The runtime of a sanitizer insists on being the first.
        """
        libraries = [*self.counters(settings), str(self.build.preload)]
        if self.scripts and not _wheel.is_wheel():
            libraries += filter(None, [scripts.mpi_to_preload(self.build, self.loaded)])
        return ":".join([*self.runtimes, *libraries])

    def addresses(self):
        """At which ranks of other hosts reach a listener of this host."""
        return reach.addresses(self.command, self.kind)

    def with_settings(self, settings, say=False):
        """(words, environment) of the job; `say`: what the launcher is given without effect."""
        if say:
            self.say_overridden(settings)
        if self.linked and all(self.linked):  # two libraries would write each file
            libraries = ":".join(self.counters(settings))
        else:
            libraries = self.preloaded(settings)
        if not libraries:
            return launcher.inject(self.command, self.kind, settings)
        ours = launcher.preload_value(libraries, os.environ.get("LD_PRELOAD"))
        variables = {"LD_PRELOAD": ours, **settings}
        if any(c in str(self.build.preload) for c in ": "):
            raise Problem(
                f"the path {self.build.preload} has a space or colon in it; LD_PRELOAD cannot hold"
                " that"
            )
        return launcher.inject(self.command, self.kind, variables)

    def say_overridden(self, settings):
        """What the launcher was told to set, and `run` sets itself."""
        for name, value in launcher.overridden(self.command, self.kind, settings).items():
            print(
                f"crestacoll: {visible(f'{name}={value}')}, which the launcher is given, does not"
                f" count: crestacoll run sets {visible(f'{name}={settings[name]}')}",
                file=sys.stderr,
            )


def agree(found, launcher_name, launcher_family):
    """One family for programs {family: program} and launcher, or a clear message."""
    if len(found) > 1:
        raise Problem(
            "the programs use different MPIs: "
            + ", ".join(f"{name} uses {FAMILY_NAMES[f]}" for f, name in found.items())
        )
    program_family = next(iter(found), None)
    if (
        program_family
        and launcher_family
        and program_family != launcher_family
        and {program_family, launcher_family} != {"mpich", "intelmpi"}
    ):
        raise Problem(
            f"{found[program_family]} uses {FAMILY_NAMES[program_family]}, but {launcher_name}"
            f" belongs to {FAMILY_NAMES[launcher_family]}: every rank would run alone. Use the"
            f" launcher of {FAMILY_NAMES[program_family]} (on Debian mpirun.{program_family})"
        )
    chosen = program_family or launcher_family
    if chosen or _wheel.is_wheel():  # its library finds out in the process
        return chosen
    builds = need_builds()
    if len(builds) == 1:
        return builds[0].family
    raise Problem(
        "cannot detect which MPI the program uses: name it with --mpi "
        f"({', '.join(b.family for b in builds)})",
        exit_code=2,
    )


def job_settings(impl, profile, profile_wait, log, loaded, srun_folder):
    """The CRESTA_ variables of the ranks. srun takes no commas in --export, so it gets the rules
    as a file.
    """
    values = {k: v for k, v in os.environ.items() if k.startswith("CRESTA_")}
    values["CRESTA_LOADED"] = str(loaded)
    for name, value in (
        ("CRESTA_IMPL", impl),
        ("CRESTA_PROFILE_WAIT", profile_wait),
        ("CRESTA_LOG", log),
    ):
        if value is not None:
            values[name] = str(value)
    values |= runfiles.setting("CRESTA_PROFILE", profile)
    rules = values.get("CRESTA_IMPL", "")
    if rules.startswith("@"):
        path = Path(rules[1:]).absolute()
        if not path.is_file():
            raise Problem(f"no file {rules[1:]} with rules", exit_code=2)
        values["CRESTA_IMPL"] = f"@{path}"
    elif "," in rules and srun_folder is not None:
        path = srun_folder / "rules"
        path.write_text(rules + "\n", encoding="utf-8", errors="surrogateescape")
        values["CRESTA_IMPL"] = f"@{path}"
    return values


def print_command(words, environment, json_to):
    if json_to:
        write_json(
            {"schema": "crestacoll-run-1", "command": words, "environment": environment}, json_to
        )
        return
    shown = [f"{k}={shlex.quote(v)}" for k, v in environment.items()]
    print(" ".join([*shown, shlex.join(words)]))


def finish(job, code, version, no_check, files):
    """Says what a user would otherwise find out late, and ends with the right code."""
    if code != 0:
        sys.exit(code)
    if version == installed.MISFIT:  # it has said so
        runfiles.say_not_written(files.missing)
        sys.exit(code)
    if version is None and not no_check:
        raise Problem(
            f"the program ended, but no rank loaded crestacoll ({job.build.preload}): it ran with"
            f" plain {FAMILY_NAMES.get(job.family, job.family)}. Is it a dynamically linked MPI"
            " program, and does this folder exist on all hosts? (--no-check skips this check)",
            NOT_LOADED,
        )
    if files.missing:
        were = "was" if len(files.missing) == 1 else "were"
        raise Problem(
            f"the program ended, but {' and '.join(files.missing)} {were} not written: either a"
            " message above says why, or the program did not reach MPI_Finalize",
            NOT_LOADED,
        )
