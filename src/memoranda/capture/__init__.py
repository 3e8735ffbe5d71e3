"""The writing pipeline: screen, candidates, classify, same or new. Pure functions; handed what it needs."""
