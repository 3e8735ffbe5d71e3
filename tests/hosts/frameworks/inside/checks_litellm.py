"""LiteLLM, with the real package."""

import asyncio
from types import SimpleNamespace

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


async def test_what_nobody_in_particular_said_is_shown_to_no_user(memory, complete):
    litellm.callbacks = [MemorandaLogger(memory)]
    await complete(TOLD)
    await until(lambda: sum(each.memories for each in memory.scopes()))
    assert memory.list(here=True).total == 0
    assert "[MEM]" not in await complete(ASKED, user="anna")
    assert "[MEM]" in await complete(ASKED)


async def test_of_a_key_with_an_owner_no_request_reads_what_is_somebody_elses(embedded):
    logger = MemorandaLogger(embedded, per_user=True)
    embedded.within("test/bob").remember("Bob takes the train at seven on Mondays.")
    key = SimpleNamespace(user_id="anna")
    asked = {"messages": [{"role": "user", "content": "When does Bob take the train on Mondays?"}]}

    async def packed(key, **more):
        data = await logger.async_pre_call_hook(key, None, {**asked, **more}, "completion")
        return KEPT in str((await logger.async_pre_call_deployment_hook(data, "acompletion"))["messages"])

    assert await packed(SimpleNamespace(user_id="bob"))
    assert await packed(SimpleNamespace(user_id=None), user="bob")
    assert not await packed(key, user="bob")
    assert not await packed(key, user="../bob")
    embedded.within("test/anna").remember("Anna takes the train at seven on Mondays.")
    assert await packed(key)
    assert await packed(key, user="anna")
