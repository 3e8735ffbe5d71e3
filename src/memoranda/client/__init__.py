"""The memory of a server with the verbs of the embedded one. It keeps nothing here and opens no store."""
