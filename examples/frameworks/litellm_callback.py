"""Memory around every completion of LiteLLM, by a callback. The same one serves its proxy.

python litellm_callback.py http://127.0.0.1:11434/v1 MODEL    # any service that speaks as OpenAI does
"""

import asyncio
import sys

import litellm

import memoranda
from memoranda.adapters.litellm import MemorandaLogger


async def main(url: str, name: str) -> None:
    with memoranda.open("litellm.db", scope="assistant") as memory:
        litellm.callbacks = [MemorandaLogger(memory, per_user=True)]
        anna = memory.within("assistant/anna")
        for words in (
            "Remember that I take the train at seven on Mondays.",
            "When do I take the train on Mondays?",
        ):
            answer = await litellm.acompletion(
                model=f"openai/{name}",
                api_base=url,
                api_key="none",
                user="anna",
                messages=[{"role": "user", "content": words}],
            )
            print(answer.choices[0].message.content)
            for _ in range(600):  # LiteLLM tells its callbacks of an answer after it was given
                if anna.stats().total:
                    break
                await asyncio.sleep(0.1)


asyncio.run(main(sys.argv[1], sys.argv[2]))
