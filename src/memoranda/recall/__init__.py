"""The reading pipeline: pure functions over values. Handed what it needs; imports no ledger, index or embedder."""
