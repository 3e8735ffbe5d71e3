"""Measuring: golden sets of your own and public sets, through the facade, with every number named."""
