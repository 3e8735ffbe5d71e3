"""Language models, which nothing needs: extraction for those who want it. Knows no ledger, no index and no embedder."""
