"""Where a server listens, whom it refuses to serve, and settings that make no sense."""

import stat

import pytest

from memoranda import config
from memoranda.domain.errors import ConfigError, Conflict, InvalidInput, Refused
from memoranda.http.serving import Listening


def no():
    return False


def yes():
    return True


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "memory.example.org"])
def test_others_are_not_let_near_without_tokens(host):
    listening = Listening(host=host)
    with pytest.raises(Refused, match="no token yet") as refused:
        listening.check(asks_for_tokens=True, has_tokens=no)
    assert "memoranda token create" in refused.value.hint
    with pytest.raises(Refused, match="nobody would need a token"):
        listening.check(asks_for_tokens=False, has_tokens=yes)
    assert "TLS" in listening.check(asks_for_tokens=True, has_tokens=yes)
    assert not listening._replace(forwarded_by="127.0.0.1").check(asks_for_tokens=True, has_tokens=yes)


@pytest.mark.parametrize("listening", [Listening(), Listening(host="::1"), Listening(uds="/run/memoranda.sock")])
def test_ones_own_machine_needs_neither_tokens_nor_tls(listening):
    assert listening.check(asks_for_tokens=False, has_tokens=no) == ""


@pytest.mark.parametrize(
    ("listening", "port", "url"),
    [
        (Listening(), 8765, "http://127.0.0.1:8765"),
        (Listening(), 80, "http://127.0.0.1"),
        (Listening(host="::1"), 8765, "http://[::1]:8765"),
        (Listening(host="0.0.0.0"), 1234, "http://127.0.0.1:1234"),
        (Listening(tls_cert="x"), 443, "https://127.0.0.1"),
        (Listening(uds="/run/m.sock"), 0, "unix:/run/m.sock"),
    ],
)
def test_the_url_is_one_that_works_here(listening, port, url):
    assert listening.url(port) == url


def test_a_port_in_use_is_told_with_the_next_step():
    with Listening(port=0).bound() as taken:
        port = taken.getsockname()[1]
        assert port > 0
        with pytest.raises(Conflict, match=f"port {port} of 127.0.0.1 is in use") as refused:
            Listening(port=port).bound()
    assert "--port 0" in refused.value.hint


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host"])
def test_what_is_no_address_of_this_machine_is_told(host):
    with pytest.raises(InvalidInput):
        Listening(host=host, port=0).bound()


def test_a_socket_in_the_file_system_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "m.sock"
    with Listening(uds=str(path)).bound():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(Conflict, match="another server listens"):
            Listening(uds=str(path)).bound()
    assert path.exists()
    with Listening(uds=str(path)).bound():  # nobody listened any more
        pass
    other = tmp_path / "file"
    other.write_text("mine")
    with pytest.raises(Conflict, match="no socket"):
        Listening(uds=str(other)).bound()
    assert other.read_text() == "mine"
    with pytest.raises(InvalidInput):
        Listening(uds=str(tmp_path / ("x" * 200))).bound()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("server_port", "65536"),
        ("server_threads", "0"),
        ("server_max_body", "10"),
        ("server_timeout", "0"),
        ("server_log", "loud"),
        ("server_watch", "perhaps"),
        ("server_hosts", "x" * 101),
        ("server_roots", "/" * 4097),
    ],
)
def test_a_setting_that_makes_no_sense_is_told(name, value):
    with pytest.raises(ConfigError, match=name):
        config.load(environ={f"MEMORANDA_{name.upper()}": value, "MEMORANDA_CONFIG": ""})


def test_lists_among_the_settings_come_from_the_environment_in_one_text():
    environ = {"MEMORANDA_SERVER_HOSTS": "a.example|b.example:8443", "MEMORANDA_SERVER_ROOTS": f"/{'long/' * 50}x"}
    found = config.load(environ=environ)
    assert found.server_hosts == ("a.example", "b.example:8443")
    assert len(found.server_roots) == 1
