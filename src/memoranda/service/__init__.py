"""The facade, its sub-objects by noun, and the composition root."""
