"""Before a model answers: a pack of what bears on the prompt, and why something is not in it."""

import memoranda


def ask_model(context: str, prompt: str) -> str:
    """Stands for your model. The block goes before the prompt, and is empty when nothing bears on it."""
    return f"(answering {prompt!r} with {len(context.splitlines())} lines of memory)"


with memoranda.open("before_a_turn.db", scope="agent/anna") as memory:
    memory.remember("Anna prefers short answers.", kind="preference", importance=0.9)
    memory.remember("Anna reads by light.bedroom_lamp.", about="light.bedroom_lamp")
    rumour = memory.remember("Anna's lamp is for sale.", source="web", source_ref="https://example.org/ads")

    for prompt in ("Turn on the lamp that I read by.", "thanks!"):
        pack = memory.pack(prompt, budget=400, conversation="today")
        print(pack.text or f"(no block: {pack.receipt.abstained})")
        print(ask_model(pack.text, prompt))

    told = memory.why_not("Which lamp does Anna read by?", rumour)
    print(f"the rumour: {told.reason} (step: {told.step})")
