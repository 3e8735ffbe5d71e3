"""A reserve of disk space: letting go of something needs some, and must work when the disk is full."""

import os
from pathlib import Path

SIZE = 1 << 20
# Not taken from a disk that has hardly more than that.
_LEAST_FREE = 16 * SIZE


class Reserve:
    """A file of zeros beside the ledger, given up when a deletion finds no space, and taken again later."""

    def __init__(self, ledger: Path) -> None:
        self.path = ledger.with_name(ledger.name + "-reserve")

    def take(self) -> None:
        """Have it, if there is room. Costs a look when it is there."""
        if self.path.exists() or not hasattr(os, "statvfs"):
            return
        try:
            disk = os.statvfs(self.path.parent)
            if disk.f_bavail * disk.f_frsize < _LEAST_FREE:
                return
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                os.write(descriptor, bytes(SIZE))
            finally:
                os.close(descriptor)
        except OSError:
            self.give_up()

    def give_up(self) -> bool:
        """Free the space; whether there was any to free."""
        try:
            self.path.unlink()
        except OSError:
            return False
        return True
