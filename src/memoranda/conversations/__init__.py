"""Conversations: what the model should see now, and how old messages become a summary. Pure."""
