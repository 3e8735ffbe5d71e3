"""Around one turn of an agent, with await: recall before the answer, remember after it."""

import asyncio

import memoranda


async def answer(prompt: str, context: list[str]) -> str:
    """Stands for your model."""
    return f"(answering {prompt!r} with {len(context)} memories)"


async def main() -> None:
    async with memoranda.aio.open("turns.db", scope="agent/anna") as memory:
        await memory.remember("Anna wakes up at seven on weekdays.", kind="fact", speaker="anna")
        prompt = "Set an alarm for when I usually get up."
        found = await memory.recall(prompt, limit=3)
        print(await answer(prompt, [hit.memory.text for hit in found]))
        print(found.receipt)


asyncio.run(main())
