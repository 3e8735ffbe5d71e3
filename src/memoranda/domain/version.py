"""Which Memoranda this is: known without asking whoever installed it."""

__version__ = "0.1.0"
