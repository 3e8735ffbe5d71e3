"""Front end: the terminal. Parses, calls the facade, renders; decides nothing."""
