"""Between LangBot and Memoranda: names, scopes, prompts and commands. Knows the facade, not LangBot's SDK."""
