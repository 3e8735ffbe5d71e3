"""The index in LanceDB: a folder, or an object store that many machines read. Derived from the ledger, never the truth.

LanceDB does not wait for a disk: after a power cut its tables may be gone. Nothing is lost by that but the time of a
rebuild.
"""
