"""One module per measured system. Each runs as a process of its own and answers JSON lines; see `base`."""
