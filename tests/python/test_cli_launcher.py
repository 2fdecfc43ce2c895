# SPDX-License-Identifier: BSD-3-Clause
"""How `crestacoll run` extends the command lines of launchers, which need not be installed."""

import pytest
from crestacoll_tools.launch import launcher

OURS = "/lib/ours.so"
VARIABLES = {"LD_PRELOAD": OURS, "CRESTA_IMPL": "a=b,*=mpi"}


def executable(word):
    return word in ("./app", "./other", "python3", "app")


def inject(text, kind, variables=None):
    words, rest = launcher.inject(
        launcher.parse(text.split()), kind, variables or VARIABLES, executable
    )
    return " ".join(words), rest


@pytest.mark.parametrize(
    "text, at",
    [
        ("mpirun -n 2 ./app", 0),
        ("/opt/x/bin/mpiexec.hydra -n 2 ./app", 0),
        ("mpiexec.openmpi -n 2 ./app", 0),
        ("mpirun.mpich -n 2 ./app", 0),
        ("orterun ./app", 0),
        ("prterun ./app", 0),
        ("srun -n 2 ./app", 0),
        ("flux run -n 2 ./app", 0),
        ("/usr/bin/flux mini run -n 2 ./app", 0),
        ("flux submit -n 2 ./app", None),
        ("flux", None),
        ("aprun -n 2 ./app", 0),
        ("jsrun -n 2 ./app", 0),
        ("timeout 9 flux run ./app", 2),
        ("env A=1 timeout 60 mpirun -n 2 ./app", 4),
        ("./app mpirun", None),
        ("./mpirun_app -n 2", None),
    ],
)
def test_the_launcher_is_found(text, at):
    assert launcher.parse(text.split()).at == at


@pytest.mark.parametrize(
    "kind, text, program",
    [
        ("openmpi", "-n 2 ./app -n 3", "./app"),
        ("openmpi", "--mca btl self,vader --map-by core -x A=1 ./app", "./app"),
        ("openmpi", "-np 2 --oversubscribe --bind-to none python3 x.py", "python3"),
        ("openmpi", "--unknown-option value ./app", "./app"),
        ("openmpi", "--unknown-flag ./app", "./app"),
        ("openmpi", "-n 2 ./missing", "./missing"),
        ("hydra", "-genv A 1 -env B 2 -hosts a,b -n 2 ./app", "./app"),
        ("hydra", "-bind-to core -l -n 2 ./app x", "./app"),
        ("srun", "-n2 -N 1 --mpi=pmix -p debug ./app", "./app"),
        ("srun", "--ntasks 2 --exclusive ./app", "./app"),
        ("flux", "-n4 -N 2 --env=A=1 --env B -o mpi=none --exclusive ./app", "./app"),
        ("flux", "--nodes=2 -x -- ./app -n", "./app"),
        ("aprun", "-n 4 -N 2 -cc cpu -e A=1 ./app", "./app"),
        ("jsrun", "-n 2 -a 4 -c ALL_CPUS -E A=1 --smpiargs=-gpu ./app", "./app"),
    ],
)
def test_the_program_is_found(kind, text, program):
    words = text.split()
    assert words[launcher.program_index(words, kind, executable)] == program


def test_openmpi_gets_x():
    text, rest = inject("mpirun -n 2 ./app -x in", "openmpi")
    assert text == f"mpirun -x LD_PRELOAD={OURS} -x CRESTA_IMPL=a=b,*=mpi -n 2 ./app -x in"
    assert rest == {}


def test_openmpi_gets_x_in_every_section():
    text, _ = inject("mpirun -n 1 ./app : -n 1 ./other", "openmpi", {"A": "1"})
    assert text == "mpirun -x A=1 -n 1 ./app : -x A=1 -n 1 ./other"


def test_openmpi_users_preload_stays_behind_ours():
    text, _ = inject(
        "mpirun -x LD_PRELOAD=/x.so -x OTHER -n 2 ./app", "openmpi", {"LD_PRELOAD": OURS}
    )
    assert text == f"mpirun -x LD_PRELOAD={OURS}:/x.so -x OTHER -n 2 ./app"


@pytest.mark.parametrize(
    "kind, text",
    [
        ("openmpi", "mpirun -x CRESTA_LOG=info -x CRESTA_IMPL=mine -x OTHER=1 -n 2 ./app"),
        ("openmpi", "mpirun -n 1 ./app : -n 1 -x CRESTA_IMPL=mine ./other"),
        ("hydra", "mpiexec -genv CRESTA_IMPL mine -env LD_PRELOAD /x.so -n 2 ./app"),
        ("srun", "srun --export=ALL,CRESTA_IMPL=mine,OTHER=1 -n 2 ./app"),
        ("srun", "srun --export ALL,CRESTA_IMPL=mine -n 2 ./app"),
        ("flux", "flux run --env=CRESTA_IMPL=mine ./app"),
        ("jsrun", "jsrun -E CRESTA_IMPL=mine ./app"),
    ],
)
def test_what_the_launcher_is_told_in_vain(kind, text):
    """Variables that it is given and that become others; none that stays what it is."""

    def overridden(variables):
        return launcher.overridden(launcher.parse(text.split()), kind, variables, executable)

    words, _ = inject(text, kind)
    assert overridden(VARIABLES) == {"CRESTA_IMPL": "mine"} and "=mine" not in words
    assert overridden({"CRESTA_IMPL": "mine"}) == overridden({"CRESTA_PROFILE": "p"}) == {}


@pytest.mark.parametrize(
    "kind, text",
    [
        ("openmpi", "mpirun -n 2 ./app -x CRESTA_IMPL=mine"),
        ("openmpi", "mpirun -x CRESTA_IMPL -n 2 ./app"),
        ("hydra", "mpiexec -n 2 ./app -genv CRESTA_IMPL mine"),
        ("env", "mpirun -x CRESTA_IMPL=mine -n 2 ./app"),
        ("none", "env CRESTA_IMPL=mine ./app"),
    ],
)
def test_what_is_no_option_of_the_launcher_is_not_told(kind, text):
    assert launcher.overridden(launcher.parse(text.split()), kind, VARIABLES, executable) == {}


def test_hydra_gets_genv_once():
    text, _ = inject("mpiexec -n 1 ./app : -n 1 ./other", "hydra", {"A": "1"})
    assert text == "mpiexec -genv A 1 -n 1 ./app : -n 1 ./other"


def test_hydra_users_preload_stays_behind_ours():
    text, _ = inject("mpiexec -genv LD_PRELOAD /x.so -n 2 ./app", "hydra", {"LD_PRELOAD": OURS})
    assert text == f"mpiexec -genv LD_PRELOAD {OURS}:/x.so -n 2 ./app"
    text, _ = inject("mpiexec -n 2 -env LD_PRELOAD /x.so ./app", "hydra", {"LD_PRELOAD": OURS})
    assert text == f"mpiexec -genv LD_PRELOAD {OURS} -n 2 -env LD_PRELOAD {OURS}:/x.so ./app"


@pytest.mark.parametrize(
    "given, expected",
    [
        ("srun -n 2 ./app", "--export=ALL,"),
        ("srun --export=A,B=2 -n 2 ./app", "--export=A,B=2,"),
        ("srun --export ALL,C=3 -n 2 ./app", "--export=ALL,C=3,"),
        ("srun --export=NONE -n 2 ./app", "--export="),
    ],
)
def test_srun_gets_export(given, expected):
    text, _ = inject(given, "srun", {"LD_PRELOAD": OURS, "CRESTA_IMPL": "@/f"})
    assert text == f"srun {expected}LD_PRELOAD={OURS},CRESTA_IMPL=@/f -n 2 ./app"


def test_srun_takes_values_with_commas_from_its_environment():
    """It would end them there: CRESTA_DEBUG=check,delay=3, or a profile in a folder a,b."""
    variables = {"CRESTA_DEBUG": "check,delay=3", "CRESTA_LOG": "info"}
    text, own = inject("srun --export=NONE -n 2 ./app", "srun", variables)
    assert text == "srun --export=CRESTA_DEBUG,CRESTA_LOG=info -n 2 ./app"
    assert own == {"CRESTA_DEBUG": "check,delay=3"}


@pytest.mark.parametrize(
    "given, expected",
    [
        (
            "flux run -n 2 ./app",
            "flux run -n 2 --env=LD_PRELOAD={} --env=CRESTA_IMPL=a=b,*=mpi ./app",
        ),
        (
            "flux mini run --env=-* --env=LD_PRELOAD=/x.so -- ./app",
            "flux mini run --env=-* --env=LD_PRELOAD={}:/x.so --env=CRESTA_IMPL=a=b,*=mpi -- ./app",
        ),
        ("aprun -n 2 ./app", "aprun -e LD_PRELOAD={} -e CRESTA_IMPL=a=b,*=mpi -n 2 ./app"),
        (
            "aprun -e OMP=1 -e LD_PRELOAD=/x.so -n 1 ./app : -n 1 ./other",
            "aprun -e LD_PRELOAD={0}:/x.so -e CRESTA_IMPL=a=b,*=mpi -e OMP=1 -n 1 ./app"
            " : -e LD_PRELOAD={0} -e CRESTA_IMPL=a=b,*=mpi -n 1 ./other",
        ),
        (
            "jsrun --env LD_PRELOAD=/x.so -n 2 ./app",
            "jsrun -E LD_PRELOAD={}:/x.so -E CRESTA_IMPL=a=b,*=mpi -n 2 ./app",
        ),
    ],
)
def test_launchers_of_schedulers(given, expected):
    text, own = inject(given, launcher.kind_of(launcher.parse(given.split()).launcher, None))
    assert text == expected.format(OURS) and own == {}


@pytest.mark.parametrize(
    "given, expected",
    [
        ("mpirun -np 2 ./app -x", "mpirun -np 2 env LD_PRELOAD={} CRESTA_IMPL=a=b,*=mpi ./app -x"),
        (
            "mpiexec -n 1 ./a : -n 1 ./b",
            "mpiexec -n 1 env LD_PRELOAD={0} CRESTA_IMPL=a=b,*=mpi ./a"
            " : -n 1 env LD_PRELOAD={0} CRESTA_IMPL=a=b,*=mpi ./b",
        ),
    ],
)
def test_launchers_of_unknown_mpis(given, expected):
    text, own = inject(given, launcher.kind_of(launcher.parse(given.split()).launcher, None))
    assert text == expected.format(OURS) and own == {}


def test_flux_takes_dollars_as_they_are():
    text, _ = inject("flux run ./app", "flux", {"CRESTA_PROFILE": "/a$b"})
    assert text == "flux run --env=CRESTA_PROFILE=/a$$b ./app"


def test_without_launcher_the_environment_is_used():
    assert inject("./app 1", "none") == ("./app 1", VARIABLES)


def test_preload_lists_are_joined():
    assert launcher.preload_value("/a", None) == "/a"
    assert launcher.preload_value("/a", "/b /c:/a") == "/a:/b:/c"
