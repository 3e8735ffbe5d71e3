"""A PostgreSQL server for one run, and how much of the processor a server has used."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.paths import ROOT

SETTINGS = {
    "shared_buffers": "1GB",
    "maintenance_work_mem": "512MB",
    "max_wal_size": "4GB",
    "effective_cache_size": "4GB",
}


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """(address, process) of a server that lives as long as this run, durable as an installed one is."""
    sys.path.insert(0, str(ROOT / "tests"))
    from postgres import Cluster  # type: ignore[import-not-found, unused-ignore]

    with Cluster(fsync=True, settings=SETTINGS) as cluster:
        yield cluster.address("scale"), cluster.pid


def cpu_seconds(postmaster: int) -> float:
    """Processor time of a server on this machine: of its main process, of those that ended, of those that live."""
    if not postmaster:
        return 0.0
    ticks = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
        # Counted from the state, which is the third field: 1 parent, 11 and 12 own time, 13 and 14 of ended children.
        if int(folder.name) == postmaster:
            ticks += sum(int(each) for each in fields[11:15])
        elif int(fields[1]) == postmaster:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
