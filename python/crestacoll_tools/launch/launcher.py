# SPDX-License-Identifier: BSD-3-Clause
"""Understands `mpiexec -n 2 ./app` and puts environment variables into it that only the ranks see.

Nothing here runs or looks at anything but file names, so that it can be tested for launchers that
are not installed.
"""

import os
import re
import shutil
from dataclasses import dataclass, field

LAUNCHER = re.compile(
    r"(mpirun|mpiexec|orterun|prterun|srun|aprun|jsrun)"
    r"([._-](hydra|openmpi|mpich|intel|gforker|real|\d+))*$"
)
# Those of a scheduler, which serve every MPI; flux is a launcher only as `flux run`.
SCHEDULERS = ("srun", "flux", "aprun", "jsrun")
FLUX = (("run",), ("mini", "run"))
WRAPPERS = {
    "env",
    "timeout",
    "nice",
    "time",
    "stdbuf",
    "setsid",
    "taskset",
    "numactl",
    "nohup",
    "ionice",
    "chrt",
    "strace",
    "perf",
    "exec",
}

# How many values an option takes, by launcher; unknown options are guessed at (see program_index).
ONE_OPENMPI = (
    "n np c N npernode npersocket x hostfile machinefile default-hostfile H host map-by bind-to"
    " rank-by wdir wd path prefix output-filename timeout cpu-set cpu-list rf rankfile am tune"
    " display stdin output launch-agent max-restarts personality dvm pset"
)
ONE_HYDRA = (
    "n np ppn perhost f hosts host hostfile machinefile hostlist wdir path launcher launcher-exec"
    " bootstrap bootstrap-exec rmk iface bind-to map-by membind genvlist envlist configfile"
    " outfile-pattern errfile-pattern usize topolib demux pmi-port localhost arch timeout"
)
ONE_SRUN = "A B c C d D e E i J L m M n N o p q r S t T w W x G"
ONE_FLUX = (
    "n ntasks N nodes c cores-per-task g gpus-per-task cores tasks-per-node tasks-per-core q queue"
    " B bank t time-limit o setopt S setattr urgency job-name env env-remove env-file rlimit input"
    " output error cwd dependency requires begin-time signal flags add-file conf"
)
ONE_APRUN = "n N d S sn sl ss cc cp L l e F j m a r p t M D"
ONE_JSRUN = (
    "n nrs np p a tasks_per_rs c cpu_per_rs g gpu_per_rs m memory_per_rs r rs_per_host l b bind d"
    " launch_distribution E env D env_no_propagate F env_eval h chdir t stdio_input o stdio_stdout"
    " k stdio_stderr U use_spindle erf_input M smpiargs"
)
ZERO = {
    "openmpi": (
        "oversubscribe use-hwthread-cpus tag-output q v V nolocal report-bindings allow-run-as-root"
        " display-map display-allocation do-not-launch do-not-resolve nooversubscribe quiet verbose"
    ),
    "hydra": "l prepend-rank genvall genvnone envall envnone v verbose info print-rank-map rr",
    "srun": "l u v Q O K k X Z s H I",
    "flux": "x exclusive l label-io u unbuffered v verbose quiet dry-run debug watch",
    "aprun": "b B q R T",
    "jsrun": "i immediate",
}
ARITY = {
    "openmpi": (
        dict.fromkeys(ONE_OPENMPI.split(), 1)
        | dict.fromkeys(("mca", "gmca", "pmixmca", "prtemca", "omca"), 2)
    ),
    "hydra": dict.fromkeys(ONE_HYDRA.split(), 1) | dict.fromkeys(("env", "genv"), 2),
    "srun": dict.fromkeys(ONE_SRUN.split(), 1),
    "flux": dict.fromkeys(ONE_FLUX.split(), 1),
    "aprun": dict.fromkeys(ONE_APRUN.split(), 1),
    "jsrun": dict.fromkeys(ONE_JSRUN.split(), 1),
}
# How a variable is given as NAME=VALUE: the words before it, and the names of the option.
ASSIGNING = {
    "openmpi": ("-x", ("x",)),
    "flux": ("--env=", ("env",)),
    "aprun": ("-e", ("e",)),
    "jsrun": ("-E", ("E", "env")),
}
for _kind, _names in ZERO.items():
    ARITY[_kind] |= dict.fromkeys(_names.split(), 0)
ARITY["env"] = ARITY["openmpi"] | ARITY["hydra"]


@dataclass
class Command:
    """A command line cut into pieces: wrappers, launcher, then one list of arguments for each `:`
    section.
    """

    words: list
    at: int | None = None  # index of the launcher in words
    sections: list = field(default_factory=list)
    length: int = 1  # words of the launcher: flux run

    @property
    def launcher(self):
        return None if self.at is None else self.words[self.at]

    def with_sections(self, sections):
        joined = [w for s in sections for w in (":", *s)][1:]
        return self.words[: self.at + self.length] + joined


def launcher_length(words):
    """The number of words of the launcher at the beginning; 0 if there is none."""
    name = os.path.basename(words[0])
    if name == "flux":
        verbs = [w for w in FLUX if tuple(words[1 : 1 + len(w)]) == w]
        return 1 + len(verbs[0]) if verbs else 0
    return 1 if LAUNCHER.fullmatch(name) else 0


def parse(words):
    """Finds the launcher: the first word, or behind words such as `env A=1` or `timeout 60`."""
    for i, word in enumerate(words):
        if length := launcher_length(words[i:]):
            sections, rest = [[]], words[i + length :]
            for w in rest:
                if w == ":":
                    sections.append([])
                else:
                    sections[-1].append(w)
            return Command(list(words), i, sections, length)
        if i == 0 and os.path.basename(word) not in WRAPPERS:
            break
    return Command(list(words))


def scheduler(launcher):
    """The scheduler to which the launcher belongs, None if it belongs to an MPI."""
    name = re.split(r"[._-]", os.path.basename(launcher))[0]
    return name if name in SCHEDULERS else None


def kind_of(launcher, family):
    """How this launcher takes variables: 'openmpi' (-x A=B), 'hydra' (-genv A B), or as its
    scheduler does: 'srun' (--export), 'flux' (--env=A=B), 'aprun' (-e A=B), 'jsrun' (-E A=B). For
    an unknown MPI, any launcher can start 'env' (env A=B ./app).
    """
    if launcher is None:
        return "none"
    return scheduler(launcher) or {"openmpi": "openmpi", None: "env"}.get(family, "hydra")


def is_executable(word):
    return (
        (os.path.isfile(word) and os.access(word, os.X_OK))
        if "/" in word
        else shutil.which(word) is not None
    )


def option_name(word):
    return word.lstrip("-").split("=", 1)[0]


def program_index(args, kind, executable=is_executable):
    """Index of the program in one section of arguments, or None. The value of an option that is
    not in the tables is told from a program by its not being an executable file.
    """
    arity, i, unsure = ARITY.get(kind, {}), 0, False
    while i < len(args):
        word = args[i]
        if word == "--":
            return i + 1 if i + 1 < len(args) else None
        if word.startswith("-") and len(word) > 1:
            name = option_name(word)
            known = 0 if "=" in word else arity.get(name)
            unsure = known is None
            i += 1 + (known or 0)
            continue
        if not unsure or executable(word):
            return i
        unsure = False
        i += 1
    return None


def programs(command, kind, executable=is_executable):
    """The programs of all sections, as written."""
    if command.at is None:
        return first_program(command.words)
    found = [(s, program_index(s, kind, executable)) for s in command.sections]
    return [s[i] for s, i in found if i is not None]


def first_program(words):
    """The program of a command without launcher, behind wrappers such as `env A=1`; best effort."""
    for i, word in enumerate(words):
        if os.path.basename(word) in WRAPPERS or (
            i and ("=" in word or word.startswith("-") or word.isdigit())
        ):
            continue
        return [word]
    return []


def preload_value(ours, theirs):
    """Ours first; a preload library of the user stays."""
    others = [p for p in re.split(r"[: ]+", theirs or "") if p and p != ours]
    return ":".join([ours, *others])


def escaped(kind, value):
    """The value as the launcher reads it: to flux, $ is the beginning of a variable."""
    return value.replace("$", "$$") if kind == "flux" else value


def assignments(head, names):
    """(words, NAME=VALUE of the option or None) of the words before the program."""
    i = 0
    while i < len(head):
        count, given = 1, None
        if option_name(head[i]) in names:
            if head[i].startswith("--") and "=" in head[i]:
                given = head[i].split("=", 1)[1]
            elif i + 1 < len(head):
                count, given = 2, head[i + 1]
        yield head[i : i + count], given
        i += count


def set_assigning(section, variables, program, kind):
    """`-x NAME=VALUE` (or what the launcher has for it) in front; that of the user for LD_PRELOAD
    is joined into ours, for other variables of ours it is left out. flux applies its rules in
    their order, and one of the user's may take all away (--env=-*): there ours come last.
    """
    option, names = ASSIGNING[kind]
    values, kept = {n: escaped(kind, v) for n, v in variables.items()}, []
    ours = values.get("LD_PRELOAD")
    for words, given in assignments(section[:program], names):
        name, _, value = (given or "").partition("=")
        if name not in values:
            kept += words
        elif name == "LD_PRELOAD" and value:
            values[name] = preload_value(ours, value)
    mine = [f"{n}={v}" for n, v in values.items()]
    if kind == "flux":
        end = len(kept) - (kept[-1:] == ["--"])
        return kept[:end] + [option + m for m in mine] + kept[end:] + section[program:]
    return [word for m in mine for word in (option, m)] + kept + section[program:]


def set_hydra(section, variables, program, first):
    """`-genv NAME VALUE` in the first section, which holds for all; `-env LD_PRELOAD x` of the
    user joins ours.
    """
    head, tail, i = section[:program], section[program:], 0
    kept, values = [], dict(variables)
    while i < len(head):
        if (
            option_name(head[i]) in ("env", "genv")
            and i + 2 < len(head)
            and head[i + 1] in variables
        ):
            if head[i + 1] == "LD_PRELOAD" and option_name(head[i]) == "genv":
                values["LD_PRELOAD"] = preload_value(variables["LD_PRELOAD"], head[i + 2])
            elif head[i + 1] == "LD_PRELOAD":
                kept += [head[i], "LD_PRELOAD", preload_value(variables["LD_PRELOAD"], head[i + 2])]
            i += 3
            continue
        kept.append(head[i])
        i += 1
    mine = [w for n, v in values.items() for w in ("-genv", n, v)] if first else []
    return mine + kept + tail


def set_env(section, variables, program):
    """`env NAME=VALUE` before the program; the LD_PRELOAD of an `env` of the user's comes after."""
    mine = [f"{n}={v}" for n, v in variables.items()]
    return [*section[:program], "env", *mine, *section[program:]] if section[program:] else section


def through_environment(name, value):
    """Whether srun has to take it out of its own environment."""
    return "," in value and name != "LD_PRELOAD"


def set_srun(section, variables, program):
    """One `--export=ALL,...`; a list of the user's is extended. srun ends a value at a comma: of
    such a variable only the name is listed, which means srun's own environment.
    """
    head, tail, mode, i = section[:program], section[program:], "ALL", 0
    kept = []
    while i < len(head):
        if option_name(head[i]) == "export":
            if "=" in head[i]:
                mode = head[i].split("=", 1)[1]
            elif i + 1 < len(head):
                i += 1
                mode = head[i]
        else:
            kept.append(head[i])
        i += 1
    values, listed = dict(variables), []
    for item in mode.split(","):
        name, _, value = item.partition("=")
        if name == "LD_PRELOAD" and value and name in variables:
            values[name] = preload_value(variables["LD_PRELOAD"], value)
        elif item not in ("NONE", "NIL", "") and name not in values:
            listed.append(item)
    listed += [n if through_environment(n, v) else f"{n}={v}" for n, v in values.items()]
    return ["--export=" + ",".join(listed), *kept, *tail]


def given_variables(head, kind):
    """(name, value) of the variables that options of the launcher set."""
    if kind in ASSIGNING:
        for _, given in assignments(head, ASSIGNING[kind][1]):
            yield (given or "").partition("=")[::2]
    elif kind == "hydra":
        for option, name, value in zip(head, head[1:], head[2:]):
            if option_name(option) in ("env", "genv"):
                yield name, value
    elif kind == "srun":
        for _, given in assignments(head, ("export",)):
            yield from (item.partition("=")[::2] for item in (given or "").split(","))


def overridden(command, kind, variables, executable=is_executable):
    """{name: value} of variables that the launcher is to set, and that `inject` sets to others."""
    found = {}
    for section in command.sections:
        head = section[: program_index(section, kind, executable)]
        found |= {
            name: value
            for name, value in given_variables(head, kind)
            if name != "LD_PRELOAD" and value and variables.get(name, value) != value
        }
    return found


def inject(command, kind, variables, executable=is_executable):
    """The command with `variables` for its ranks. Returns (words, variables that must go into the
    environment instead).
    """
    if kind == "none":
        return command.words, dict(variables)
    done = []
    for k, section in enumerate(command.sections):
        at = program_index(section, kind, executable)
        at = len(section) if at is None else at
        if kind in ASSIGNING:
            done.append(set_assigning(section, variables, at, kind))
        elif kind == "env":
            done.append(set_env(section, variables, at))
        elif kind == "hydra":
            done.append(set_hydra(section, variables, at, first=k == 0))
        else:
            done.append(set_srun(section, variables, at))
    own = {n: v for n, v in variables.items() if kind == "srun" and through_environment(n, v)}
    return command.with_sections(done), own
