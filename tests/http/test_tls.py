"""A server speaks TLS, and looks at its files before anything is served."""

import datetime
import http.client
import ipaddress
import json
import ssl

import pytest
from served_bench import Bench, who

from memoranda.domain.errors import InvalidInput, NotFound
from memoranda.http.serving import Listening


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """(certificate, key) for 127.0.0.1"""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form, pem = serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    (folder / "cert.pem").write_bytes(made.public_bytes(pem))
    (folder / "key.pem").write_bytes(key.private_bytes(pem, form, serialization.NoEncryption()))
    locked = serialization.BestAvailableEncryption(b"password")
    (folder / "locked.pem").write_bytes(key.private_bytes(pem, form, locked))
    return folder


def test_it_speaks_tls(certificate):
    files = {"tls_cert": str(certificate / "cert.pem"), "tls_key": str(certificate / "key.pem")}
    assert Listening(**files).check(asks_for_tokens=True, has_tokens=lambda: True) == ""
    assert Listening(host="0.0.0.0", **files).check(asks_for_tokens=True, has_tokens=lambda: True) == ""
    with Bench(who, **files) as bench:
        trusting = ssl.create_default_context(cafile=files["tls_cert"])
        connection = http.client.HTTPSConnection("127.0.0.1", bench.serving.port, timeout=10, context=trusting)
        connection.request("GET", "/")
        assert json.loads(connection.getresponse().read())[0] == "https"
        connection.close()
        assert bench.serving.url.startswith("https://")


def test_files_for_tls_are_looked_at_before_anything_is_served(certificate):
    cert, key = str(certificate / "cert.pem"), str(certificate / "key.pem")
    for files, error in [
        ({"tls_cert": "nowhere.pem"}, NotFound),
        ({"tls_cert": cert}, InvalidInput),
        ({"tls_key": key}, InvalidInput),
        ({"tls_cert": cert, "tls_key": cert}, InvalidInput),
        ({"tls_cert": cert, "tls_key": str(certificate / "locked.pem")}, InvalidInput),
    ]:
        with pytest.raises(error):
            Listening(**files).check(asks_for_tokens=True, has_tokens=lambda: True)
