"""The ledger in PostgreSQL: the same tables and statements, with what that engine needs around them."""
