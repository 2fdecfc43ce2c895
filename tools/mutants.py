#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mutants.py - `make mutants`: does the conformance test notice when an algorithm is wrong?

    tools/mutants.py [COLLECTIVE/ALGORITHM ...]     default: all

Changes one token at a time in each algorithm file (plus and minus, comparisons, small numbers, a
dropped step), builds the conformance test with it and runs the cases of all collectives that the
file serves, or of all algorithms that use it. A mutant is killed if a case fails or loops, or if
what `--counts` tells differs: messages, bytes, rounds, scratch, steps. Survivors are listed;
those in tools/mutants.equivalent do the same as the original, by the reason given there. Exit code
0 if at least 99 % of the others are killed.
"""
import concurrent.futures
import functools
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from sources import ROOT, algorithms

LONGEST = 600  # seconds, for an algorithm as it is
MEMORY = 1 << 29  # a builder that loops must not take the machine with it
WRAP = ["-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc"]  # failing.c
EQUIVALENT = ROOT / "tools/mutants.equivalent"
SWAPS = [
    (r" \+ ", " - "), (r" - ", " + "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "),
    (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "), (r" \* ", " / "), (r" / ", " * "),
    (r" && ", " || "), (r" \|\| ", " && "), (r"\b0\b", "1"), (r"\b1\b", "2"), (r"\b2\b", "3"),
    (r"\*= 2", "*= 4"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"!(?=[\w(])", ""),
    (r"\breturn NULL;", 'return "";'), (r" \? NULL : ", ' ? "" : '),  # of refuses()
]
# A schedule that no algorithm includes, and how those ask that have it run before them.
BEFORE = {"pattern/node_counts": ".shares_counts = true"}
STEP = re.compile(r"^\s*([a-z_]+\(.*\)|return|continue|break);")


def code_lines(text):
    """Numbers of the lines that may be mutated: function bodies, without comments."""
    inside = False
    for number, line in enumerate(text.split("\n")):
        if line.startswith("{"):
            inside = True
        elif line.startswith("}"):
            inside = False
        elif inside:
            yield number


def mutants(text):
    """(line number, original line, mutated line)"""
    lines = text.split("\n")
    for number in code_lines(text):
        line = lines[number]
        code = line.split("/*")[0]
        for pattern, new in SWAPS:
            for found in re.finditer(pattern, code):
                yield number, line, code[: found.start()] + new + code[found.end():]
        if STEP.match(code):
            indent = code[: len(code) - len(code.lstrip())]
            yield number, line, f"{indent};"


def compile_(source, output, *options):
    folders = ("include", "src", "generated", "", "check", "tests/conformance")
    command = ["cc", "-std=gnu11", "-O1", "-w", *(f"-I{ROOT}/{name}" for name in folders),
               *mpi_flags(), *options]
    done = subprocess.run([*command, str(source), "-o", str(output)], capture_output=True)
    return done.returncode == 0


@functools.cache
def mpi_flags():
    """Only mpi.h is needed, for names of error classes."""
    for name in ("mpicc.mpich", "mpicc.openmpi", "mpicc"):
        done = subprocess.run(["sh", "-c", f"{name} -show"], capture_output=True, text=True)
        if done.returncode == 0:
            return re.findall(r"-I\S+", done.stdout)
    raise SystemExit("mutants: no MPI found")


def run(seconds, program, *arguments):
    """Exit code and output; a loop counts as a failure.  Seconds are those of the processor, so
    that a busy machine kills no mutant."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    done = subprocess.run([str(program), *arguments], capture_output=True, text=True,
                          preexec_fn=limit)
    return done.returncode, done.stdout


def users(path):
    """The algorithms that a file holds, collective by collective, or that include its header,
    themselves or by way of others, or that have it run before them."""
    if path.parent.name != "pattern":
        return {name for name, file in algorithms().items() if file == path}
    include = f'#include "{path.with_suffix(".h").relative_to(ROOT / "src")}"'
    sign = BEFORE.get(f"{path.parent.name}/{path.stem}", include)
    own = path.with_suffix("")  # other folders have files of this name
    return {name for other in ROOT.glob("src/algo/*/*.[ch]") if other.with_suffix("") != own
            and sign in other.read_text() for name in users(other)}


def is_wanted(path, wanted):
    """Named as collective/name, or as its file is: pattern/cube."""
    names = {f"{path.parent.name}/{path.stem}"}
    if path.parent.name != "pattern":
        names |= users(path)
    return not wanted or names & wanted


class Original:
    """The test without mutants: its objects, and how each algorithm fares in it."""

    def __init__(self, folder):
        self.objects = {}
        for source in sources():
            self.objects[source] = folder / ("-".join(source.relative_to(ROOT).parts) + ".o")
            if not compile_(source, self.objects[source], "-O2", "-c"):
                raise SystemExit(f"mutants: {source} does not compile")
        self.folder, self.program = folder, folder / "original"
        objects = map(str, self.objects.values())
        subprocess.run(["cc", *WRAP, *objects, "-o", str(self.program)], check=True)

    @functools.cache
    def of(self, name):
        """(seconds of the processor, counts) of an algorithm"""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        counts = run(LONGEST, self.program, name, "--counts")[1]
        if run(LONGEST, self.program, name, "--first")[0] != 0:
            raise SystemExit(f"mutants: {name} fails without being changed")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, counts

    def without(self, path):
        """All objects but that of one file, as one: to link it takes half the time."""
        rest = self.folder / "rest.o"
        others = (str(o) for p, o in self.objects.items() if p != path)
        subprocess.run(["cc", "-r", "-nostdlib", *others, "-o", str(rest)], check=True)
        return rest


class File:
    def __init__(self, path, original):
        self.path, self.text = path, path.read_text()
        self.name = f"{path.parent.name}/{path.stem}"
        self.usual = {name: original.of(name) for name in users(path)}
        self.cases = sorted(self.usual, key=lambda name: self.usual[name][0])
        self.rest = original.without(path)

    def is_noticed(self, program):
        """Counts are quick: they come first."""
        limit = {name: int(3 + 4 * seconds) for name, (seconds, _) in self.usual.items()}
        return (any(run(limit[name], program, name, "--counts")[1] != self.usual[name][1]
                    for name in self.cases)
                or any(run(limit[name], program, name, "--first")[0] != 0 for name in self.cases))

    def survives(self, mutant):
        """(the mutant if no case notices it, else None; whether it compiles)"""
        number, _, new = mutant
        with tempfile.TemporaryDirectory() as folder:
            lines = self.text.split("\n")
            lines[number] = new
            source, program = Path(folder) / self.path.name, Path(folder) / "conformance"
            source.write_text("\n".join(lines))
            if not compile_(source, program, str(self.rest), *WRAP):
                return None, False
            return (None if self.is_noticed(program) else mutant), True


def sources():
    patterns = ["src/sched/*.c", "src/algo/*.c", "src/algo/*/*.c", "simulator/*.c",
                "tests/conformance/*.c", "check/graphs.c"]
    found = (p for pattern in patterns for p in sorted(ROOT.glob(pattern)))
    names = ("base/own_lines", "base/pause", "base/thread_count", "base/yielding",
             "call/collectives", "comm/stencil", "hang/whereabouts")
    others = [ROOT / f"src/{name}.c" for name in names]
    return others + [p for p in found if not p.name.startswith(("test_", "onesided_", "merges"))]


def known_equivalent():
    """[(name, original, mutated)], stripped, from lines `name | original | mutated | why`."""
    rows = (line.split(" | ") for line in EQUIVALENT.read_text().split("\n"))
    return [tuple(cell.strip() for cell in row[:3]) for row in rows if len(row) == 4]


def report(file, alive, count, equivalent):
    """Prints what became of the mutants of a file.  (survivors, mutants) without those known as
    equivalent, of which each excuses one survivor."""
    known = [(old, changed) for name, old, changed in equivalent if name == file.name]
    new = []
    for number, old, changed in alive:
        if (old.strip(), changed.strip()) in known:
            known.remove((old.strip(), changed.strip()))
        else:
            new.append((number, old, changed))
    excused = len(alive) - len(new)
    print(f"{file.name:40} {count:4} mutants, {count - len(alive):4} killed,"
          f" {excused:3} equivalent, {len(new):3} survive", flush=True)
    for number, old, changed in new:
        print(f"  {file.path.relative_to(ROOT)}:{number + 1}: {old.strip()}  =>  "
              f"{changed.strip()}", flush=True)
    for old, changed in known:
        print(f"  {EQUIVALENT.name}: no such survivor: {old}  =>  {changed}", flush=True)
    return len(new), count - excused


def main():
    wanted = set(sys.argv[1:])
    equivalent, built, survivors = known_equivalent(), 0, 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        original = Original(Path(folder))
        for path in sorted(ROOT.glob("src/algo/*/*.c")):
            if not is_wanted(path, wanted):
                continue
            file = File(path, original)
            results = list(pool.map(file.survives, mutants(file.text)))
            new, count = report(file, [m for m, _ in results if m],
                                sum(compiled for _, compiled in results), equivalent)
            built, survivors = built + count, survivors + new
    killed = built - survivors
    print(f"{killed} of {built} mutants killed ({100 * killed / max(built, 1):.1f} %)")
    return 0 if built and killed >= 0.99 * built else 1


if __name__ == "__main__":
    sys.exit(main())
