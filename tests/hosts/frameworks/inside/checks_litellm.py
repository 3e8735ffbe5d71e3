"""LiteLLM, with the real package."""

import asyncio

import litellm
import pytest
from told import ASKED, KEPT, TOLD

from memoranda.adapters.litellm import MemorandaLogger


@pytest.fixture
def complete(url):
    async def completed(words, **more):
        answer = await litellm.acompletion(
            model="openai/fake-1",
            api_base=url,
            api_key="none",
            messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": words}],
            **more,
        )
        return answer.choices[0].message.content

    yield completed
    litellm.logging_callback_manager._reset_all_callbacks()  # it goes on calling those that it was given before


async def until(condition):
    for _ in range(600):
        if condition():
            return
        await asyncio.sleep(0.1)
    raise AssertionError("nothing was captured in a minute")


async def test_each_user_has_a_memory_around_every_completion(memory, model, complete):
    litellm.callbacks = [MemorandaLogger(memory, per_user=True)]
    anna = memory.within(f"{memory.scope}/anna")
    await complete(TOLD, user="anna")
    await until(lambda: anna.list(here=True).total)
    assert "[MEM]" in await complete(ASKED, user="anna")
    assert KEPT in model.prompts[-1]
    assert "[MEM]" not in await complete(ASKED, user="bob")
    assert "[MEM]" not in await complete(ASKED)
    assert memory.list(here=True).total == 0
    assert memory.within(f"{memory.scope}/bob").list(here=True).total == 0
