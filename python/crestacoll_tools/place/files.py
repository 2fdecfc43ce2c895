# SPDX-License-Identifier: BSD-3-Clause
"""A placement as launchers read it: a file for each, and the command that uses it."""

import itertools
import shlex
from pathlib import Path

from crestacoll_tools.base import outputs
from crestacoll_tools.base.ui import Problem

PROGRAM = "./your_program"
NAMES = (
    "rankfile", "hydra-hosts", "hydra-rankmap", "hydra-blocks", "slurm-hosts", "MPICH_RANK_ORDER",
    "README",
)  # fmt: skip
SEVERAL = "no -rankmap: it takes the blocks of a host for several nodes"


def write(folder, hosts, placement):
    """Writes all files; [{"launcher", "files", "command"}]. A placement is a list with the number
    of the host of each rank.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, text in texts(hosts, placement).items():
            outputs.write_text(Path(folder, name), text)
        uses = commands(Path(folder), len(placement))
        outputs.write_text(Path(folder, "README"), readme(uses, hosts))
    except OSError as e:
        raise Problem(f"cannot write {folder}: {e.strerror}") from e
    return uses


def texts(hosts, placement):
    """{name of a file: what is in it}"""
    return {
        "rankfile": rankfile(hosts, placement),
        "hydra-hosts": hydra_hosts(hosts, placement),
        "hydra-rankmap": ",".join(map(str, numbered(placement))) + "\n",
        "hydra-blocks": hydra_blocks(hosts, placement),
        "slurm-hosts": "".join(f"{hosts[node].name}\n" for node in placement),
        "MPICH_RANK_ORDER": cray_order(hosts, placement),
    }


def ranks_on(placement):
    """{number of a host: its ranks}, in the order of the hosts."""
    found = {}
    for rank, node in enumerate(placement):
        found.setdefault(node, []).append(rank)
    return dict(sorted(found.items()))


def numbered(placement):
    """The host of each rank, counted among the hosts that have ranks."""
    number = {node: i for i, node in enumerate(ranks_on(placement))}
    return [number[node] for node in placement]


def rankfile(hosts, placement):
    """Open MPI's rank file: host and core of each rank; +n0 is the first host of the job."""
    next_core, lines = {}, []
    for rank, node in enumerate(placement):
        core = next_core.setdefault(node, 0)
        next_core[node] += 1
        name = hosts[node].name if hosts[node].named else f"+n{node}"
        lines.append(f"rank {rank}={name} slot={core}\n")
    return "".join(lines)


def hydra_hosts(hosts, placement):
    """The host file of MPICH and its relatives: each host once, with its number of ranks."""
    mine = ranks_on(placement)
    return "".join(f"{hosts[node].name}:{len(ranks)}\n" for node, ranks in mine.items())


def hydra_blocks(hosts, placement):
    """Such a host file in the order of the ranks: a host for as many ranks as follow each other."""
    runs = [(node, len(list(ranks))) for node, ranks in itertools.groupby(placement)]
    return "".join(f"{hosts[node].name}:{count}\n" for node, count in runs)


def cray_order(hosts, placement):
    """Cray MPICH's order: which rank is in each slot of the job, slots counted host by host."""
    lines = ["# ranks of each host; the hosts are those of the job, in its order\n"]
    for ranks in ranks_on(placement).values():
        lines.append(",".join(map(str, ranks)) + "\n")
    return "".join(lines)


def commands(folder, ranks):
    """How each launcher uses its file. Paths are absolute where the launcher changes its folder."""
    short, whole = shlex.quote(str(folder)), shlex.quote(str(folder.resolve()))
    return [
        use(
            "Open MPI 5",
            ["rankfile"],
            f"mpirun -n {ranks} --map-by rankfile:file={short}/rankfile",
        ),
        use("Open MPI 4", ["rankfile"], f"mpirun -n {ranks} -rf {short}/rankfile"),
        use(
            "MPICH 5",
            ["hydra-hosts", "hydra-rankmap"],
            f"mpiexec -n {ranks} -f {short}/hydra-hosts -rankmap $(cat {short}/hydra-rankmap)",
        ),
        use(
            "other Hydra",
            ["hydra-blocks"],
            f"mpiexec -n {ranks} -f {short}/hydra-blocks",
            SEVERAL,
        ),
        use(
            "Slurm",
            ["slurm-hosts"],
            f"SLURM_HOSTFILE={whole}/slurm-hosts srun -n {ranks} --distribution=arbitrary",
        ),
        use(
            "Cray MPICH",
            ["MPICH_RANK_ORDER"],
            f"MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE={whole}/MPICH_RANK_ORDER"
            f" srun -n {ranks} --distribution=block",
        ),
    ]


def use(launcher, files, command, note=""):
    return {
        "launcher": launcher,
        "files": files,
        "command": f"{command} {PROGRAM}",
        "note": note,
    }


def readme(uses, hosts):
    """What is printed, as a file."""
    return "\n".join([*lines_of(uses), *caution(hosts)]) + "\n"


def lines_of(uses):
    """A line for each launcher."""
    width = max(len(one["launcher"]) for one in uses)
    return [
        f"{one['launcher']:{width}}  {one['command']}{' # ' * bool(one['note'])}{one['note']}"
        for one in uses
    ]


def caution(hosts):
    """What has to be done before the files can be used."""
    if all(host.named for host in hosts):
        return []
    first, last = hosts[0].name, hosts[-1].name
    what = f"{first} to {last} stand for the hosts of the job: replace them"
    if first == last:
        what = f"{first} stands for the host of the job: replace it"
    return [f"{what} in slurm-hosts and hydra-*, or give --hostfile FILE."]
