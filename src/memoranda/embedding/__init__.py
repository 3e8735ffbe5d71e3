"""Text to vectors: providers loaded by name, and the one pipeline around them. Knows no ledger and no index."""
