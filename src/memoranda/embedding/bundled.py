"""Which bytes the bundled model is made of, and whether they are unpacked. Loads nothing: anybody may ask."""

from pathlib import Path

# Of version 0.2.1; other bytes would be another model.
WEIGHTS = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
PIECES = "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"
FOLDER = f"use-m3-{WEIGHTS[:12]}-2"  # the last figure is raised when the layout changes


def is_unpacked(cache: Path | None) -> bool:
    """Whether a cache folder has the whole model laid out."""
    return cache is not None and (cache / FOLDER / "complete").exists()
