"""Front end: the terminal. Parses, calls the facade, renders; decides nothing."""

import gc

# A command lives for a fraction of a second, most of which is imports: looking for garbage in them finds none.
gc.set_threshold(100_000)
