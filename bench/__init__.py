"""Measures memoranda beside its peers, in one run on the same data and machine."""
