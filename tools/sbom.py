#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""sbom.py - a bill of materials, as CycloneDX 1.5 in JSON, of what a wheel or folder carries.

    .venv/bin/python tools/sbom.py WHEEL|FOLDER [--requirements FILE] [--output FILE]

It has each file with its SHA-256, and each Python package that FILE requires, with the licence that
the installed package states: so run it by a Python that has them. Their licence texts are in them;
the wheel carries none of them. The same input gives the same bytes.
"""
import argparse
import hashlib
import importlib.metadata
import json
import re
import sys
import uuid
import zipfile
from pathlib import Path

from check_version import version
from sources import ROOT

LICENCE = "BSD-3-Clause"
# SPDX names of what packages write instead.
SPDX = {"MIT License": "MIT", "Apache Software License": "Apache-2.0", "Apache 2.0": "Apache-2.0",
        "BSD License": LICENCE, "BSD": LICENCE, "BSD 3-Clause": LICENCE,
        "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
        "Dual License": "Apache-2.0 OR BSD-3-Clause",
        "Python Software Foundation License": "PSF-2.0"}
KNOWN = {"MIT", "Apache-2.0", "MPL-2.0", "PSF-2.0", "HPND", "MIT-CMU", "ISC", "0BSD", "Zlib",
         "BSD-2-Clause", LICENCE}
REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:==\s*([^\s;]+))?")


def contents(path):
    """(name, bytes) of each file, in the order of the names."""
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.is_file())
        yield from ((p.relative_to(path).as_posix(), p.read_bytes()) for p in found)
        return
    with zipfile.ZipFile(path) as wheel:
        yield from ((name, wheel.read(name)) for name in sorted(wheel.namelist())
                    if not name.endswith("/"))


def requirements(path):
    """(name, version or None) of each package that the file requires, for this Python."""
    for line in path.read_text().splitlines():
        found = REQUIREMENT.match(line.split("#")[0].strip())
        if found and marker_holds(line):
            yield found[1], found[2]


def marker_holds(line):
    """Knows the markers that requirements.txt has: python_version < or >= one."""
    found = re.search(r';\s*python_version\s*(<|>=)\s*"(\d+)\.(\d+)"', line)
    if not found:
        return True
    older = sys.version_info[:2] < (int(found[2]), int(found[3]))
    return older == (found[1] == "<")


def licence_of(about):
    """The SPDX expression that the package states, or the words that it has instead."""
    stated = [about.get("License-Expression"), *(about.get("License") or "").splitlines()[:1]]
    stated += [one.split(" :: ")[-1] for one in about.get_all("Classifier") or []
               if one.startswith("License :: OSI Approved ::")]
    words = [SPDX.get(one, one) for one in stated if one]
    spdx = [one for one in words if set(re.split(r" (?:AND|OR|WITH) |[()]", one)) - {""} <= KNOWN]
    return (spdx or words or [None])[0], bool(spdx)


def package(name, wanted):
    """A component, of the installed package."""
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        sys.exit(f"sbom: {name} is not installed for {sys.executable}: its licence is not known")
    if wanted and found.version != wanted:
        sys.exit(f"sbom: {name} {wanted} is required, and {found.version} is installed")
    licence, is_spdx = licence_of(found.metadata)
    if licence is None:
        sys.exit(f"sbom: {name} {found.version} states no licence")
    place = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{found.version}"
    stated = {"expression": licence} if is_spdx else {"license": {"name": licence}}
    return {"type": "library", "bom-ref": place, "name": name, "version": found.version,
            "scope": "required", "licenses": [stated], "purl": place}


def file_component(name, data):
    sums = [{"alg": "SHA-256", "content": hashlib.sha256(data).hexdigest()}]
    return {"type": "file", "bom-ref": f"file:{name}", "name": name, "hashes": sums,
            "licenses": [{"license": {"id": LICENCE}}]}


def bill(path, required):
    """The whole document."""
    own = f"pkg:pypi/crestacoll@{version()}"
    packages = [package(name, wanted) for name, wanted in sorted(required)]
    files = [file_component(name, data) for name, data in contents(path)]
    identity = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([own, packages, files]))
    date = re.search(r"^## \S+ \((\S+)\)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    main = {"type": "application", "bom-ref": own, "name": "crestacoll", "version": version(),
            "licenses": [{"license": {"id": LICENCE}}], "purl": own}
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{identity}",
            "version": 1, "metadata": {"timestamp": f"{date}T00:00:00Z", "component": main},
            "components": files + packages,
            "dependencies": [{"ref": own, "dependsOn": [one["bom-ref"] for one in packages]}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("path", type=Path, help="a wheel, or a folder")
    parser.add_argument("--requirements", type=Path, help="packages that it requires, a line each")
    parser.add_argument("--output", type=Path, help="default: standard output")
    given = parser.parse_args()
    required = list(requirements(given.requirements)) if given.requirements else []
    text = json.dumps(bill(given.path, required), indent=1) + "\n"
    if given.output:
        given.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
