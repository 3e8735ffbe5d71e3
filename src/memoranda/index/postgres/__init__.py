"""The index in PostgreSQL: rows, words and vectors lie beside the ledger; what they score is computed here."""
