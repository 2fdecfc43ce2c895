# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for what the recipe uses of Spack's package API (v2): directives are recorded, phases
do on the file system what Spack's do."""
import contextlib
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

DIRECTIVES = ("version", "variant", "depends_on", "license")


class Executable:
    """A program as Spack has it: called with words, it runs."""

    def __init__(self, path):
        self.path = str(path)

    def __call__(self, *words):
        subprocess.run([self.path, *map(str, words)], check=True)


class Prefix(str):
    def __getattr__(self, name):
        return Prefix(os.path.join(self, name))


class Spec:
    """A concrete spec: variants as {name: bool}, dependencies as {name: object}."""

    def __init__(self, variants, dependencies):
        self.variants, self.dependencies = variants, dependencies

    def satisfies(self, text):
        return self.variants[text[1:]] == (text[0] == "+")

    def __getitem__(self, name):
        return self.dependencies[name]


class CMakePackage:
    """The names of the builder that recipes call, with Spack's results."""

    def __init__(self, spec, prefix):
        self.spec, self.prefix = spec, Prefix(prefix)

    @staticmethod
    def define(name, value):
        if isinstance(value, bool):
            return f"-D{name}:BOOL={'ON' if value else 'OFF'}"
        return f"-D{name}:STRING={value}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.spec.variants[variant])


class Environment(dict):
    def set(self, name, value):
        self[name] = value

    def prepend_path(self, name, value):
        self[name] = ":".join([value, *filter(None, [self.get(name)])])


def api(recorded):
    """The module spack.package."""
    module, conditions = types.ModuleType("spack.package"), []

    def record(directive):
        def call(*words, **options):
            recorded.append((directive, words, {**options, "within": tuple(conditions)}))
        return call

    @contextlib.contextmanager
    def when(condition):
        conditions.append(condition)
        yield
        conditions.pop()

    def run_after(phase):
        def mark(function):
            function.after = phase
            return function
        return mark

    for name in DIRECTIVES:
        setattr(module, name, record(name))
    module.when, module.run_after = when, run_after
    module.mkdirp = lambda path: Path(path).mkdir(parents=True, exist_ok=True)
    module.install_tree = lambda source, to: shutil.copytree(source, to)
    module.symlink = os.symlink
    module.set_executable = lambda path: Path(path).chmod(0o755)
    module.join_path = os.path.join
    return module


def load(recipe):
    """(class of the recipe, its directives as (name, words, options))"""
    recorded = []
    modules = {"spack": types.ModuleType("spack"), "spack.package": api(recorded)}
    names = ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems",
             "spack_repo.builtin.build_systems.cmake")
    modules |= {name: types.ModuleType(name) for name in names}
    modules[names[-1]].CMakePackage = CMakePackage
    sys.modules.update(modules)
    try:
        space = {"__file__": str(recipe), "__name__": "package"}
        exec(compile(recipe.read_text(), recipe, "exec"), space)
    finally:
        for name in modules:
            del sys.modules[name]
    return space["Crestacoll"], recorded
