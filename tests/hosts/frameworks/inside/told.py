"""What the checks tell an agent, and what it should have kept of it."""

TOLD = "Remember that I take the train at seven on Mondays."
ASKED = "When do I take the train on Mondays?"
KEPT = "train at seven"


def kept_texts(memory):
    """All that a scope can see, whatever its state."""
    return [each.text for each in memory.list(states=())]
