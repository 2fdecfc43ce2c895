# SPDX-License-Identifier: BSD-3-Clause
"""The timelines of profiles as an archive of the Open Trace Format 2, for Vampir, Scalasca and
otf2-print: what formats/trace.py writes, by the Python package otf2, which not everybody has.
"""

import os
import shutil
import tempfile
from pathlib import Path

from crestacoll_tools.base.text import encodable
from crestacoll_tools.base.ui import USAGE, Problem
from crestacoll_tools.formats import trace

MISSING = (
    "--format otf2 needs the Python package otf2: pip install otf2 (ready-made for x86-64, built"
    " from source elsewhere), or python3-otf2 of Debian"
)


def library():
    try:
        import _otf2
        import otf2
    except (ImportError, OSError) as e:  # not there, or its shared library is not
        raise Problem(f"{MISSING} ({e})") from e
    return otf2, (otf2.error.Error, _otf2.ErrorCodes.Error)


def write(sources, path):
    """A new folder `path`, when it is complete."""
    otf2, errors = library()
    target, made = Path(os.path.realpath(path)), None
    if target.exists():
        raise Problem(f"{path} exists: --format otf2 makes a new folder", USAGE)
    try:
        made = tempfile.mkdtemp(prefix=f".{target.name[:200]}.", dir=target.parent)
        with otf2.writer.open(f"{made}/archive", timer_resolution=10**9) as archive:
            for source in sources:
                write_profile(archive, source)
        os.rename(f"{made}/archive", target)
    except (OSError, *errors) as e:
        raise Problem(f"cannot write {path}: {getattr(e, 'strerror', None) or e}") from e
    finally:
        if made:
            shutil.rmtree(made, ignore_errors=True)


def write_profile(archive, source):
    """A node for each profile, and a location for each rank or group of ranks. Times are in ns."""
    line, known = trace.timeline(source), archive.definitions
    node = known.system_tree_node(encodable(trace.title(source)))
    for row in line["rows"]:
        group = known.location_group(trace.label(row), system_tree_parent=node)
        events, ends = archive.event_writer(trace.label(row), group=group), []
        for piece in trace.slices(row, line["bin_us"], {}):
            start = int(1000 * piece["ts"])
            leave(events, ends, start)
            region = known.region(piece["name"])
            events.enter(start, region)
            ends.append((start + int(1000 * piece["dur"]), region))
        leave(events, ends, float("inf"))


def leave(events, ends, now):
    """What has ended by now; what began last ends first."""
    while ends and ends[-1][0] <= now:
        events.leave(*ends.pop())
