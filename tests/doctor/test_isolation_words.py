"""The isolation probe keeps words that nobody takes for a secret, whichever it draws."""

import random

from memoranda.capture.secrets import secrets
from memoranda.service.isolation import _LETTERS


def test_no_word_of_the_probe_is_taken_for_a_key():
    drawn = random.Random(7)
    assert any(secrets(_said(drawn.randbytes(4).hex())) for _ in range(3_000)), "digits would be, now and then"
    assert not any(secrets(_said(drawn.randbytes(4).hex().translate(_LETTERS))) for _ in range(3_000))


def _said(token):
    return f"The probe {token} quiet violin of memoranda.probe/{token}0."
