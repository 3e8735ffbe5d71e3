"""The contract of an `Extractor`, for whoever writes one: subclass it, and give it a fixture `extractor`."""

import pytest

from memoranda.domain.errors import ProviderError
from memoranda.domain.message import Message, assistant, user
from memoranda.domain.ports import Claim, Extractor

SAID = (user("I prefer green tea in the morning."), assistant("Noted."))
_SECONDS = 10.0


class ExtractorContract:
    """What every extractor promises. Whether its claims are true is looked at elsewhere."""

    def test_its_name_says_who_made_it(self, extractor: Extractor) -> None:
        provider, _, model = extractor.name.partition(":")
        assert provider
        assert model
        assert extractor.name == extractor.name

    def test_a_claim_has_the_parts_of_a_claim_and_a_cost(self, extractor: Extractor) -> None:
        claims = extractor.extract(SAID, seconds=_SECONDS, again=lambda: True)
        assert claims.tokens >= 0
        assert claims.calls >= 1
        for claim in claims.items:
            assert isinstance(claim, Claim)
            assert isinstance(claim.text, str)
            assert isinstance(claim.quote, str)
            assert isinstance(claim.message, int)
            assert 0.0 <= claim.confidence <= 1.0

    def test_the_cost_is_told_before_and_is_not_exceeded(self, extractor: Extractor) -> None:
        most = extractor.cost(SAID)
        assert most > 0
        assert extractor.extract(SAID, seconds=_SECONDS, again=lambda: True).tokens <= most

    def test_nothing_said_costs_nothing(self, extractor: Extractor) -> None:
        assert extractor.cost(()) == 0

    def test_odd_text_is_read_or_refused(self, extractor: Extractor) -> None:
        odd = Message("user", 'I like \ud800 tea \u202e and } ] \\ " things' * 50)
        try:
            extractor.extract((odd,), seconds=_SECONDS, again=lambda: True)
        except ProviderError:
            return

    def test_no_time_is_no_answer(self, extractor: Extractor) -> None:
        with pytest.raises(ProviderError):
            extractor.extract(SAID, seconds=0.0)

    def test_it_may_be_closed_twice(self, extractor: Extractor) -> None:
        extractor.close()
        extractor.close()
