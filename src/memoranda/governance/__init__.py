"""Who may say what, how important it is, how long it stays, and whether the whole is well.

Pure: it is handed what it judges.
"""
