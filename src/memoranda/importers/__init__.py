"""Other systems' memories, read one by one as values of ours.

Nothing is kept here, and nothing of theirs is changed.
"""
