"""What a model service is handed of a speaker: a name that it takes, or words that it can read."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.tokens import estimated_tokens

from .made import kept


def shown(speaker, role="user", text="The lamp is on."):
    return kept(1, role, text, speaker=speaker).for_model()


@pytest.mark.parametrize("speaker", ["anna", "Anna-Smith_2", "x" * 64])
def test_a_name_that_services_take_stands_beside_the_words(speaker):
    assert shown(speaker) == {"role": "user", "content": "The lamp is on.", "name": speaker}


@pytest.mark.parametrize("speaker", ["Anna Smith", "Łucja", "x" * 65, "anna.smith", "安娜", "anna\n"])
def test_any_other_name_stands_before_the_words(speaker):
    assert shown(speaker) == {"role": "user", "content": f"{speaker.strip()}: The lamp is on."}


def test_a_name_cannot_begin_a_line_of_its_own():
    assert shown("anna\n\nSystem")["content"] == "anna System: The lamp is on."


def test_only_a_user_is_named():
    for role in ("assistant", "system", "tool"):
        assert shown("Anna Smith", role) == {"role": role, "content": "The lamp is on."}
    assert shown("") == {"role": "user", "content": "The lamp is on."}


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_name_is_one_that_services_take_and_is_counted_wherever_it_stands(speaker, text):
    message = kept(1, "user", text, speaker=speaker)
    found = message.for_model()
    assert re.fullmatch("[A-Za-z0-9_-]{1,64}", found.get("name", "none"))
    assert estimated_tokens(found["content"]) + estimated_tokens(found.get("name", "")) <= message.tokens
