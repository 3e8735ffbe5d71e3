"""The truth: memories, events and revisions in one SQLite file. Nothing above this room sees SQL."""
