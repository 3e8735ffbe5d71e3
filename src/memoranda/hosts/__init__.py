"""Programs that people talk to: what is written into their settings, and what they tell our hooks.

Nothing here remembers: a host's own forms are turned into the words of the facade, and back.
"""
