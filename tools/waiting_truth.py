#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""waiting_truth.py - the waiting that a profile states, beside stamps of the kernel's clock that
the program takes itself (tests/mpi/lateness.c).

    .venv/bin/python tools/waiting_truth.py [--mpi openmpi] [--impl mpi,p2p,shm] [--ranks 2,4]
        [--hosts 1,2] [--calls 1000] [--late 0,1,10,100,1000] [--runs 3]
        [--stamps program|shim|library]

With --stamps shim the stamps are not the program's but those of a library that is preloaded before
crestacoll and has nothing of it (tests/mpi/arrival_stamps.c): fewer instructions lie between its
stamps and those of the profile, in which a rank may be held up. With --stamps library that library
takes what crestacoll reads from the clock: what is still wrong is not for such delays.

With --hosts 2 the ranks are on two hosts that are name spaces of this machine, which takes root;
in the library their clocks differ by 30 ms and drift by 20 ppm (CRESTA_DEBUG=clock). A line says,
of the run in the middle of --runs, what ranks waited in a call, what the profile says, by how much
it is wrong, and what is allowed: a tenth of the truth, 0.2 us, and the error of the clocks that the
profile states. The last lines
sum up: the median and the 90th percentile of the error. What a profile costs is measured by
`crestacoll overhead --profile N`.

A job that has written its profile, and does not end within some seconds after it, is ended:
between hosts, ranks of MPICH 4.0 may wait for each other in MPI_Finalize for ever, also without
crestacoll. The number of such jobs is printed.
"""
import argparse
import array
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.bench import benchjob  # noqa: E402
from crestacoll_tools.builds.builds import choose_builds  # noqa: E402
from crestacoll_tools.launch import nethosts

LIMIT = 900  # seconds of a job
GRACE = 10  # after its profile
PLANTED = "30000:20"  # us and ppm


def words(text):
    return text.split(",")


def patterns(late):
    """What the program is asked for: how ranks are late, and by how many microseconds."""
    made = []
    for us in late:
        made += [f"{name}:{us}" for name in ("one", "rotating", "random")[: 3 if us != "0" else 1]]
    return made


def by_shim(path, ranks, calls, asked, library):
    """{word: (time, waited)}, means over the ranks, of what the shim wrote; `library`: of what
    crestacoll read from the clock when ranks came.
    """
    numbers = array.array("q", path.read_bytes())
    room = len(numbers) // ranks
    told = {}
    for k, word in enumerate(asked):
        time = waited = 0
        for call in range(k * calls, (k + 1) * calls):
            places = [rank * room + 3 * call for rank in range(ranks)]
            came = [numbers[place + 2 * library] or numbers[place] for place in places]
            went = [numbers[place + 1] for place in places]
            if 0 in came or 0 in went:
                raise SystemExit(f"{path}: a rank has no stamps of call {call}")
            last = max(came)
            time += sum(went) - sum(came)
            waited += sum(min(last, out) - at for at, out in zip(came, went))
        told[word] = [1e-3 * time / ranks, 1e-3 * waited / ranks]
    return told


def job_output(command, profile, stuck):
    """What a job printed. All ranks have passed their calls when its profile is there; one that
    does not end after that is added to the list `stuck`.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        job = subprocess.Popen(command, stdout=out, stderr=err, text=True)
        end, written = time.monotonic() + LIMIT, False
        try:
            while job.poll() is None and time.monotonic() < end:
                if profile.exists() and not written:
                    written, end = True, time.monotonic() + GRACE
                time.sleep(0.1)
        finally:
            code = job.poll()
            if code is None:
                job.terminate()
                job.wait()
        if code is None and profile.exists():
            stuck.append(command)
            code = 0
        for file in (out, err):
            file.seek(0)
        if code != 0:
            how = f"exit code {code}" if code else f"no profile in {LIMIT} s"
            raise SystemExit(f"{' '.join(command)}: {how}\n{err.read()[-2000:]}")
        return out.read()


def run(launch, build, settings, calls, asked, shim_ranks=0, library=False, stuck=None):
    """{word: (time, waited, most)} of the program, or {word: (time, waited)} of the shim on so many
    ranks, and {word: record} of the profile.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, stamps = pathlib.Path(folder) / "p.json", pathlib.Path(folder) / "stamps"
        env = {"LD_PRELOAD": build.preload, "CRESTA_PROFILE": path, **settings}
        if shim_ranks:
            shim = build.folder / "lib" / "libarrival_stamps.so"
            env |= {"LD_PRELOAD": f"{shim}:{build.preload}", "ARRIVAL_STAMPS": stamps}
        program = build.folder / "tests" / "bin" / "lateness"
        command = [*launch, "env", *(f"{k}={v}" for k, v in env.items()), program, calls, *asked]
        said = job_output([str(word) for word in command], path, stuck)
        lines = [line.split() for line in said.splitlines() if line.startswith(tuple(asked))]
        told = {word: [float(number) for number in numbers] for word, *numbers in lines}
        if shim_ranks:
            told = by_shim(stamps, shim_ranks, calls, asked, library)
        records = json.loads(path.read_text())["records"]
    return told, {r["communicator"]: r for r in records if r["collective"] == "allreduce"}


def compare(name, runs, calls):
    """Prints a line for each word, of the run whose error is in the middle: a rank that is held up
    between two stamps, the program's and the library's, makes them differ. Returns all errors, and
    how many words are too wrong.
    """
    errors, wrong = [], 0
    for word in runs[0][0]:
        found = []
        for told, records in runs:
            (time, waited), wait = told[word][:2], records[word]["wait_us"]
            allowed = (0.1 * waited + wait["clock_error"]) / calls + 0.2
            found.append((abs(wait["mean"] - waited) / calls, allowed, time, waited, wait))
        found.sort(key=lambda f: f[0] - f[1])
        errors += [f[0] for f in found]
        error, allowed, time, waited, wait = found[(len(found) - 1) // 2]
        wrong += error > allowed
        print(
            f"{name} {word:14} {time / calls:9.3f} us a call, waited {waited / calls:9.3f}, stated"
            f" {wait['mean'] / calls:9.3f}, wrong by {error:7.3f}, allowed {allowed:7.3f}"
            f" ({wait['clock_error'] / calls:.3f} for the clocks)"
            f"{'' if error <= allowed else '  TOO MUCH'}",
            flush=True,
        )
    return errors, wrong


def measure(build, impl, ranks, hosts, options, stuck):
    """What compare takes: each run is a job."""
    runs = []
    for _ in range(options.runs):
        settings = {"CRESTA_IMPL": f"*={impl}"}
        with contextlib.ExitStack() as stack:
            launch = benchjob.launch_words(build, ranks)
            if hosts > 1:
                settings["CRESTA_DEBUG"] = f"clock={PLANTED}"
                launch = stack.enter_context(nethosts.hosts(hosts)).launch_words(build, ranks)
            shim_ranks = ranks if options.stamps != "program" else 0
            library = options.stamps == "library"
            asked = patterns(options.late)
            runs.append(run(launch, build, settings, options.calls, asked, shim_ranks, library,
                            stuck))
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--mpi", default=None)
    parser.add_argument("--impl", type=words, default=["mpi", "p2p", "shm"])
    parser.add_argument("--ranks", type=words, default=["2", "4"])
    parser.add_argument("--hosts", type=words, default=["1", "2"])
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--late", type=words, default=["0", "1", "10", "100", "1000"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--stamps", choices=["program", "shim", "library"], default="program")
    options = parser.parse_args()
    wrong, found, stuck = 0, {}, []
    for build in choose_builds(options.mpi):
        for hosts in map(int, options.hosts):
            for ranks in map(int, options.ranks):
                for impl in options.impl:
                    runs = measure(build, impl, ranks, hosts, options, stuck)
                    name = f"{build.name} {impl} {ranks} ranks {hosts} hosts"
                    errors, bad = compare(name, runs, options.calls)
                    found.setdefault((ranks, hosts), []).extend(errors)
                    wrong += bad
    for (ranks, hosts), errors in found.items():
        errors.sort()
        p90 = errors[min(len(errors) - 1, int(0.9 * len(errors)))]
        print(
            f"{ranks} ranks, {hosts} hosts: error of a call {statistics.median(errors):.3f} us in"
            f" the median, {p90:.3f} us at the 90th percentile of {len(errors)}"
        )
    if stuck:
        print(f"{len(stuck)} jobs did not end after their profiles, and were ended")
    print(f"{wrong} more wrong than allowed")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
