"""What to do about an embedder that gives no vector, by the reason that it gave: the right way out, not any."""

from memoranda.config import Settings

_MEANWHILE = "recall goes by words meanwhile."
_WAYS_OUT = (
    ("no answer in time", "See whether the service hangs, or raise query_timeout ({seconds:g} s)"),
    ("(gaierror)", "The host in embedder_url ({url}) is not known: check its name, and the network"),
    ("(ConnectionRefusedError)", "Nobody listens at embedder_url ({url}): start the service, or correct the address"),
    ("no connection", "The service at embedder_url ({url}) hangs up: look at its log, or correct the address"),
    ("status 429", "It is asked too often: wait a minute, or ask for a higher limit"),
    ("status 5", "The service itself fails: look at its log"),
    ("not JSON", "embedder_url ({url}) leads to something else: the address of such a service usually ends in /v1"),
    ("without vectors", "embedder_url ({url}) or the model is not one for embeddings: correct it"),
    ("number of vectors", "The model does not give one vector for each text: choose another"),
    ("zero vector", "The model gives nothing that can be compared: choose another"),
    ("dimensions", "The model gives other vectors than were agreed: correct its name or its dimensions"),
)


def way_out(reason: str, settings: Settings) -> tuple[str, str]:
    """The reason for people, and what to do about it."""
    told, opened, hint = reason.rpartition(" (")
    if opened and hint.endswith(".)"):  # the service's own client knows it best
        return told, f"{hint[:-2]}; {_MEANWHILE}"
    url = settings.embedder_url or "the service's own"
    for sign, way in _WAYS_OUT:
        if sign in reason:
            return reason, f"{way.format(url=url, seconds=settings.query_timeout)}; {_MEANWHILE}"
    return reason, f"Check the embedder's settings; {_MEANWHILE}"
