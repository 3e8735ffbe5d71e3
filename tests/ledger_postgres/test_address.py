"""The address of a store: what it takes, what it refuses, and that no password is ever shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memoranda
from memoranda import InvalidInput, Settings
from memoranda.domain.address import SCHEMA, address_of, is_address

WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="@/?#:&=%[]\\"), min_size=8)


def test_a_store_without_a_schema_is_in_the_one_of_that_name():
    address = address_of("postgresql://anna@db.example:5433/agents")
    assert address.schema == SCHEMA
    assert address.url == "postgresql://anna@db.example:5433/agents"


def test_the_schema_is_ours_and_the_rest_is_the_drivers():
    address = address_of("postgres://h1,h2/agents?schema=bots&target_session_attrs=read-write&sslmode=require")
    assert address.schema == "bots"
    assert address.url == "postgresql://h1,h2/agents?target_session_attrs=read-write&sslmode=require"


@given(WORDS, WORDS)
def test_no_password_is_shown(one, other):
    address = address_of(f"postgresql://anna:{one}@host/agents?password={other}&sslpassword={other}&schema=bots")
    assert one not in address.shown.replace("anna@host/agents", "")
    assert other not in address.shown.replace("anna@host/agents", "")
    assert address.shown == "postgresql://anna@host/agents?schema=bots"


@pytest.mark.parametrize(
    "schema",
    ["", "public", "pg_toast", "information_schema", "Big", 'a"b', "a;b", "a b", "ą", "1a", "a" * 49, "a-b", "a.b"],
)
def test_a_schema_that_would_need_quotes_is_refused(schema):
    with pytest.raises(InvalidInput) as caught:
        address_of(f"postgresql://host/agents?schema={schema}")
    assert caught.value.hint


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://anna:pa/ss@host/agents",
        "postgresql://anna:pa#ss@host/agents",
        "postgresql://anna:pa?ss@host/agents",
        "postgresql://anna:p%zz@host/agents",
        "postgresql://anna:p@ss@host/agents",
        "postgresql://anna:p%ecss@host/agents",
        "postgresql://host:port/agents",
    ],
)
def test_a_password_that_is_not_escaped_is_refused_and_not_repeated(address):
    with pytest.raises(InvalidInput) as caught:
        address_of(address)
    told = f"{caught.value} {caught.value.__cause__} {caught.value.__context__ or ''}"
    assert "pa" not in told.replace("parameter", "") or "port" in address
    assert "%2F" in caught.value.hint


def test_an_address_does_not_show_its_password_when_it_is_printed():
    address = address_of("postgresql://anna:verysecret@host/agents?oauth_client_secret=alsosecret&sslmode=require")
    assert "secret" not in f"{address!r} {address} {[address]}"
    assert "sslmode=require" in address.shown


def test_settings_do_not_show_passwords_when_they_are_printed():
    address = "postgresql://anna:verysecret@host/agents"
    settings = Settings(store=address, replicas=(address,), shards=(address, f"home={address}", "one.db"))
    assert "verysecret" not in f"{settings!r} {settings}"
    assert "home=postgresql://anna@host/agents" in repr(settings)
    assert "one.db" in repr(settings)


@pytest.mark.parametrize(
    "store",
    [
        "Postgresql://anna:verysecret@host/agents",
        " postgresql://anna:verysecret@host/agents",
        "postgresql+psycopg://anna:verysecret@host/agents",
        "mysql://anna:verysecret@host/agents",
        "host=127.0.0.1 password=verysecret dbname=agents",
        "postgresql:/anna:verysecret@host/agents",
    ],
)
def test_a_mistyped_address_is_no_path_and_is_not_repeated(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        memoranda.open(store, scope="home", settings=Settings(embedder="none"))
    assert "verysecret" not in f"{caught.value} {caught.value.hint}"
    assert list(tmp_path.iterdir()) == []


def test_what_is_escaped_reaches_the_driver_as_it_was():
    address = address_of("postgresql://h/agents?password=a%20b%2Bc&schema=bots")
    assert address.url == "postgresql://h/agents?password=a%20b%2Bc"


@pytest.mark.parametrize("store", ["home.db", "/tmp/postgresql", "mysql://host/x", "postgresql:/host", "C:\\store.db"])
def test_everything_else_is_a_file(store):
    assert not is_address(store)
    with pytest.raises(InvalidInput):
        address_of(store)


def test_what_is_kept_here_has_one_place_whoever_connects_and_however():
    def place(store):
        return Settings(store=store, local_folder="/somewhere").store_path()

    one = place("postgresql://anna:secret1@host:5432/agents?schema=bots")
    assert one == place("postgresql://bert:other@host:5432/agents?schema=bots&sslmode=require")
    assert one != place("postgresql://anna@host:5432/agents")
    assert one != place("postgresql://anna@host:5432/others?schema=bots")
    assert one.is_relative_to("/somewhere")


def test_the_address_may_name_its_host_as_a_parameter():
    one = address_of("postgresql:///agents?host=/run/one&port=5432")
    other = address_of("postgresql:///agents?host=/run/two&port=5432")
    assert one.digest != other.digest
