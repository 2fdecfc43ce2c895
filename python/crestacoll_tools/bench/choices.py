# SPDX-License-Identifier: BSD-3-Clause
"""From what `--impl` says to the list that crestacoll-bench gets."""

import re
from dataclasses import dataclass

from crestacoll_tools.base.ui import Problem
from crestacoll_tools.builds.builds import algorithm_label, model_label


@dataclass(frozen=True)
class Choice:
    """[COLLECTIVE=]MODEL[:ALGORITHM][?param=value...], taken apart; "" for what is not there."""

    collective: str
    implementation: str
    model: str
    algorithm: str
    params: tuple

    @classmethod
    def of(cls, text):
        collective, rest = re.fullmatch(r"(?:([^=:?]*)=)?(.*)", text).groups()
        model, algorithm, params = re.fullmatch(r"([^:?]*):?([^?]*)\??(.*)", rest).groups()
        names = tuple(p.split("=")[0] for p in params.split("&") if p)
        return cls((collective or "").lower(), rest, model, algorithm, names)

    def exists_for(self, model, collective):
        """Values are left to the library, which says what is wrong with them."""
        algorithms = model["algorithms"].get(collective, [])
        options = {p["name"] for p in model.get("options", [])}
        if not self.algorithm:
            there = bool(algorithms) or not model["algorithms"]
            return there and set(self.params) <= options
        return any(
            a["name"] == self.algorithm
            and set(self.params) <= options | {p["name"] for p in a["params"]}
            for a in algorithms
        )


def chosen(build, text, collectives, stores=False):
    """`mpi` first, then what was asked for: `all` is every model and every algorithm of the
    collectives. COLLECTIVE=IMPL is what only some of them have. What exists for none of them, or
    does not work here, is an error that says what is possible. With `stores`, models that keep
    memory or make it for each call come as both.
    """
    if text == "all":
        asked = [*build.implementations, *every_algorithm(build, collectives)]
    else:
        asked = [n for n in text.split(",") if n]
    if stores:
        asked = [both for name in asked for both in static_and_dynamic(build, name)]
    words = [w for name in asked for w in expand(build, name, collectives, text == "all")]
    return ["mpi", *dict.fromkeys(w for w in words if w != "mpi")]


STORES = {"static", "dynamic"}


def static_and_dynamic(build, name):
    """os -> os?window=static, os?window=dynamic; anything else as it is."""
    choice = Choice.of(name)
    options = model_of(build, choice).get("options", [])
    store = next((o["name"] for o in options if set(o.get("names", [])) >= STORES), None)
    if store is None or choice.algorithm or store in choice.params:
        return [name]
    sign = "&" if choice.params else "?"
    return [f"{name}{sign}{store}={value}" for value in ("static", "dynamic")]


def every_algorithm(build, collectives):
    return [
        f"{c}={m['name']}:{a['name']}"
        for c in collectives
        for m in build.description["models"]
        if m["works"]
        for a in m["algorithms"].get(c, [])
    ]


def expand(build, name, collectives, lenient):
    """A name as crestacoll-bench takes it, once for each collective if need be."""
    choice = Choice.of(name)
    model = model_of(build, choice)
    asked = [choice.collective] if choice.collective else collectives
    if not set(asked) <= set(collectives):
        raise Problem(f"'{name}': {choice.collective} is not to be measured", exit_code=2)
    found = [c for c in asked if choice.exists_for(model, c)]
    if not found and not lenient:
        raise Problem(
            f"no implementation '{choice.implementation}' for {', '.join(asked)}; there are:"
            + "".join(f"\n  {c}: {', '.join(possible(build, c))}" for c in asked),
            exit_code=2,
        )
    if found == collectives and not choice.algorithm:
        return [choice.implementation]
    return [f"{c}={choice.implementation}" for c in found]


AUTO = {"name": "auto", "works": True, "why": "", "algorithms": {}, "options": []}


def model_of(build, choice):
    """The model that a choice names; `auto`, which stands for several, counts as one."""
    models = {m["name"]: m for m in [*build.description["models"], AUTO]}
    if choice.model not in models:
        raise Problem(
            f"no implementation '{choice.implementation}'; there are: {', '.join(models)}",
            exit_code=2,
        )
    model = models[choice.model]
    if not model["works"]:
        raise Problem(f"{choice.model} does not work with {build.name}: {model['why']}")
    return model


def possible(build, collective):
    """Every implementation of a collective, with the names of parameters."""
    names = []
    for m in build.description["models"]:
        algorithms = m["algorithms"].get(collective, [])
        if m["works"] and (algorithms or not m["algorithms"]):
            names += [model_label(m), *(f"{m['name']}:{algorithm_label(a)}" for a in algorithms)]
    return names
