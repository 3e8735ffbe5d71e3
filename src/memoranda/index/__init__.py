"""Derived from the ledger: finds numbers of memories. May be thrown away at any time."""
