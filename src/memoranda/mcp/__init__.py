"""Tools, resources and prompts for clients of the Model Context Protocol. Speaks to the facade, through `tools`.

The official SDK is a package of nearly the same name: it is always imported in full (`from mcp…`), never relatively.
"""
