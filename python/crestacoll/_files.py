# SPDX-License-Identifier: BSD-3-Clause
"""Profiles and tuning files as dictionaries, and as data frames of pandas."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped, unused-ignore]


def _load(path: str | os.PathLike[str], kind: str, rows: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        try:
            data = json.load(file)
        except ValueError as e:
            raise ValueError(f"{os.fspath(path)} is not a JSON file: {e}") from e
    schema = data.get("schema") if isinstance(data, dict) else None
    if not str(schema).startswith(f"crestacoll-{kind}-") or not isinstance(data.get(rows), list):
        raise ValueError(f"{os.fspath(path)} is not a {kind} of crestacoll (schema {schema})")
    found: dict[str, Any] = data
    return found


def load_profile(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The profile in a file of `crestacoll run --profile`, or of json.dump.

    >>> with crestacoll.profile() as found:
    ...     crestacoll.Barrier(MPI.COMM_WORLD)
    >>> with open("p.json", "w") as file:
    ...     json.dump(found, file)
    >>> crestacoll.load_profile("p.json")["records"] == found["records"]
    True

    Its members are those of docs/reference/file-formats.md. What earlier versions of the format do
    not have is None, and so is what they say of waiting, which is wrong.
    Raises OSError if the file cannot be read, ValueError if it is not a profile.
    """
    data = {"timeline": None, "communicators": None} | _load(path, "profile", "records")
    data["records"] = [{"nodes": None, "between_nodes": None} | r for r in data["records"]]
    if data["schema"] in [f"crestacoll-profile-{version}" for version in range(1, 5)]:
        data["records"] = [r | {"wait_us": None} for r in data["records"]]
    return data


def load_tuning(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The contents of a tuning file: `schema`, `head`, and `rules`, the first that fits first.

    >>> with open("t.json", "w") as file:
    ...     rule = {"collective": "bcast", "bytes": [4096, "inf"], "implementation": "shm"}
    ...     json.dump({"schema": "crestacoll-tuning-1", "head": {}, "rules": [rule]}, file)
    >>> crestacoll.load_tuning("t.json")["rules"][0]["implementation"]
    'shm'

    `crestacoll tuning check` says whether they make sense here.
    Raises OSError if the file cannot be read, ValueError if it is not a tuning file.
    """
    return _load(path, "tuning", "rules")


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError as e:
        raise ImportError("a data frame needs pandas: pip install pandas") from e
    frame: pd.DataFrame = pd.json_normalize(rows, sep="_")
    return frame


def profile_frame(profile: dict[str, Any]) -> pd.DataFrame:
    """The records of a profile as a data frame, a row for each.

    Columns have the names of the members; those of an inner object are joined by an underscore:
    `time_us_mean`, `wait_us_max`. Raises ImportError without pandas.
    """
    return _frame(profile["records"])


def tuning_frame(tuning: dict[str, Any]) -> pd.DataFrame:
    """The rules of a tuning file as a data frame, a row for each, in their order.

    Ranges are two columns, `bytes_least` and `bytes_most`, which may be infinite. A range or
    condition that a rule does not have is missing (NaN). Raises ImportError without pandas.
    """
    rows = []
    for rule in tuning["rules"]:
        row = {}
        for name, value in rule.items():
            if isinstance(value, list):
                row[f"{name}_least"] = float(value[0])
                row[f"{name}_most"] = float(value[1])
            else:
                row[name] = value
        rows.append(row)
    return _frame(rows)
