#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mutants.py - `make mutants`: does the conformance test notice when an algorithm is wrong?

    tools/mutants.py [COLLECTIVE/ALGORITHM ...]     default: all

Changes one token at a time in each algorithm file (plus and minus, comparisons, small numbers, a
dropped step), builds the conformance test with it and runs that algorithm's cases. A mutant is
killed if a case fails, or if messages, bytes or rounds differ. Survivors are listed; those in
tools/mutants.equivalent do the same as the original, by the reason given there. Exit code 0 if at
least 99 % of the others are killed.
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

ROOT = Path(__file__).resolve().parent.parent
LIMIT = {"all": 90}  # seconds for the cases: a mutant that takes longer loops, and is noticed
USUAL_LIMIT = 10
EQUIVALENT = ROOT / "tools/mutants.equivalent"
SWAPS = [
    (r" \+ ", " - "), (r" - ", " + "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "),
    (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "), (r" \* ", " / "), (r" / ", " * "),
    (r" && ", " || "), (r" \|\| ", " && "), (r"\b0\b", "1"), (r"\b1\b", "2"), (r"\b2\b", "3"),
    (r"\*= 2", "*= 4"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"!(?=[\w(])", ""),
]
STEP = re.compile(r"^\s*cco_(send|recv|copy|reduce|round)\(.*\);", re.S)


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


def compile_(source, output):
    command = ["cc", "-std=gnu11", "-O1", "-w", f"-I{ROOT}/include", f"-I{ROOT}/src",
               f"-I{ROOT}/tests/conformance", *mpi_flags(), "-c", str(source), "-o", str(output)]
    return subprocess.run(command, capture_output=True).returncode == 0


def link(objects, program):
    subprocess.run(["cc", *map(str, objects), "-o", str(program)], check=True)


@functools.cache
def mpi_flags():
    """Only mpi.h is needed, for names of error classes."""
    for name in ("mpicc.mpich", "mpicc.openmpi", "mpicc"):
        done = subprocess.run(["sh", "-c", f"{name} -show"], capture_output=True, text=True)
        if done.returncode == 0:
            return re.findall(r"-I\S+", done.stdout)
    raise SystemExit("mutants: no MPI found")


def limit_memory():
    """A builder that loops must not take the machine with it."""
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


def run(program, *arguments):
    """Exit code and output; a loop counts as a failure."""
    try:
        done = subprocess.run([str(program), *arguments], capture_output=True, text=True,
                              timeout=LIMIT.get(arguments[0], USUAL_LIMIT), preexec_fn=limit_memory)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return -1, ""


class Algorithm:
    def __init__(self, path, objects, program):
        self.path, self.text = path, path.read_text()
        self.name = f"{path.parent.name}/{path.stem}"
        self.cases = "all" if path.parent.name == "pattern" else self.name  # what they share
        self.rest = [o for p, o in objects.items() if p != path]
        self.counts = run(program, self.cases, "--counts")[1]

    def survives(self, mutant):
        """(the mutant if no case notices it, else None; whether it compiles)"""
        number, _, new = mutant
        with tempfile.TemporaryDirectory() as folder:
            lines = self.text.split("\n")
            lines[number] = new
            source, program = Path(folder) / self.path.name, Path(folder) / "conformance"
            source.write_text("\n".join(lines))
            if not compile_(source, source.with_suffix(".o")):
                return None, False
            link([source.with_suffix(".o"), *self.rest], program)
            if run(program, self.cases, "--counts")[1] != self.counts:
                return None, True
            return (mutant if run(program, self.cases, "--first")[0] == 0 else None), True


def build_original(folder):
    """({source: object}, program)"""
    objects = {}
    for source in sources():
        objects[source] = folder / ("-".join(source.relative_to(ROOT).parts) + ".o")
        if not compile_(source, objects[source]):
            raise SystemExit(f"mutants: {source} does not compile")
    link(objects.values(), folder / "original")
    return objects, folder / "original"


def sources():
    patterns = ["src/sched/*.c", "src/algo/*.c", "src/algo/*/*.c", "src/transport/sim/*.c",
                "tests/conformance/*.c"]
    found = (p for pattern in patterns for p in sorted(ROOT.glob(pattern)))
    return [ROOT / "src/core/collectives.c", *(p for p in found if p.name != "test_memory.c")]


def known_equivalent():
    """{(name, original, mutated)}, stripped, from lines `name | original | mutated | why`."""
    if not EQUIVALENT.exists():
        return set()
    rows = (line.split(" | ") for line in EQUIVALENT.read_text().split("\n") if " | " in line)
    return {tuple(cell.strip() for cell in row[:3]) for row in rows}


def main():
    wanted = set(sys.argv[1:])
    paths = sorted(ROOT.glob("src/algo/*/*.c"))
    equivalent, built, survivors = known_equivalent(), 0, 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects, program = build_original(Path(folder))
        for path in paths:
            if wanted and f"{path.parent.name}/{path.stem}" not in wanted:
                continue
            algorithm = Algorithm(path, objects, program)
            results = list(pool.map(algorithm.survives, mutants(algorithm.text)))
            count = sum(compiled for _, compiled in results)
            alive = [m for m, _ in results if m]
            new = [m for m in alive
                   if (algorithm.name, m[1].strip(), m[2].strip()) not in equivalent]
            built += count - (len(alive) - len(new))
            survivors += len(new)
            print(f"{algorithm.name:32} {count:4} mutants, {count - len(alive):4} killed,"
                  f" {len(alive) - len(new):3} equivalent, {len(new):3} survive", flush=True)
            for number, old, changed in new:
                print(f"  {path.relative_to(ROOT)}:{number + 1}: {old.strip()}  =>  "
                      f"{changed.strip()}", flush=True)
    killed = built - survivors
    print(f"{killed} of {built} mutants killed ({100 * killed / max(built, 1):.1f} %)")
    return 0 if built and killed >= 0.99 * built else 1


if __name__ == "__main__":
    sys.exit(main())
